# References are found wherever their text ends up: in strings, lists, keys' values, JSON inside of a ConfigMap.
{ resources, lib, simple, kix, ... }:
let
  package = simple "web" (scope: rec {
    secret = scope.mkSecret { name = "login"; keys = [ "pass" ]; };
    service = scope.mkService { name = "db"; "for" = server; ports.sql = 5432; };
    server = scope.mkDeployment { name = "db"; containers.db.image = "db:1"; };
    joined = scope.mkConfigMap {
      name = "joined";
      data.url = "postgres://${service.out.fqdn}:${service.out.port "sql"}/app";
    };
    json = scope.mkConfigMap { name = "json"; data.file = lib.toJSON { list = [ service.out.name ]; }; };
    replaced = scope.mkConfigMap {
      name = "replaced";
      data.text = builtins.replaceStrings [ "HOST" ] [ service.out.fqdn ] "at HOST";
    };
    listed = scope.mkConfigMap { name = "listed"; data.all = lib.concatStringsSep "," [ service.out.name secret.out.name ]; };
    key = scope.mkConfigMap { name = "key"; data.key = secret.out.key "pass"; };
    number = scope.mkResource { kind = "Service"; name = "number"; spec.ports = [ { port = service.out.portNumber "sql"; } ]; };
    weak = scope.mkConfigMap { name = "weak"; data.host = kix.weak service.out.fqdn; };
    after = scope.mkResource { kind = "ConfigMap"; name = "after"; after = [ service secret.out.name ]; };
    itself = scope.mkResource { kind = "ConfigMap"; name = "itself"; data.me = itself.out.name; };
    ref = scope.mkResource {
      kind = "HorizontalPodAutoscaler";
      name = "ref";
      spec.scaleTargetRef = server.out.ref;
    };
  });
in
lib.mapAttrs (_: r: { inherit (r) hard soft after; }) (resources [ { instances.shop.web.package = package; } ])
