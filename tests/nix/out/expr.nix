# What a resource offers to others.
{ document, lib, simple, ... }:
let
  package = simple "web" (scope: rec {
    server = scope.mkDeployment {
      name = "web";
      containers.web = { image = "web:1"; ports = [ { name = "http"; containerPort = 8080; } ]; };
      pod.serviceAccountName = account.out.serviceAccountName;
    };
    account = scope.mkServiceAccount { name = "web"; };
    service = scope.mkService { name = "web"; "for" = server; ports.http = 80; };
    seen = scope.mkConfigMap {
      name = "seen";
      data.text = lib.toJSON {
        service = { inherit (service.out) name namespace fqdn ref; port = service.out.port "http"; number = service.out.portNumber "http"; };
        server = { inherit (server.out) selector podLabels serviceAccountName; port = server.out.port "http"; };
      };
    };
  });
  found = document [ { instances.shop.front.package = package; } ];
in
lib.fromJSON (builtins.unsafeDiscardStringContext
  (lib.findFirst (r: r.id == "ConfigMap/seen@shop") null found.resources).manifest.data.text)
