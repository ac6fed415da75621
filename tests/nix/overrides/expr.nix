# Changes from the definition: sets merge, lists and leaves are replaced, null deletes, mapByName edits an item.
{ resources, simple, kix, ... }:
let
  package = simple "web" (scope: rec {
    server = scope.mkResource {
      kind = "Deployment";
      name = "web";
      spec = {
        replicas = 1;
        paused = true;
        template.spec = {
          containers = [
            { name = "web"; image = "web:1"; args = [ "a" "b" ]; }
            { name = "log"; image = "log:1"; }
            { name = "gone"; image = "gone:1"; }
          ];
          nodeSelector.disk = "ssd";
        };
      };
    };
    service = scope.mkService { name = "web"; "for" = server; ports.http = 80; };
    uses = scope.mkConfigMap { name = "uses"; data.host = service.out.fqdn; };
  });
in
resources [
  {
    instances.shop.web = {
      inherit package;
      labels.team = "shop";
      resources.Deployment.web.spec = {
        replicas = 5;
        paused = null;
        template.metadata.labels.tier = "front";
        template.spec = {
          nodeSelector.zone = "a";
          containers = kix.mapByName {
            web = { args = [ "c" ]; };
            gone = null;
          };
        };
      };
      resources.Service.web.metadata.name = "front";
    };
  }
]
