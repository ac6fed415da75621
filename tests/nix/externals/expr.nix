# What exists outside: declared, imported with .out, or a Secret with its keys.
{ document, simple, kix, ... }:
let
  found = document [
    {
      externals = [
        (kix.untrackedRef { kind = "PriorityClass"; name = "critical"; })
        (kix.import { kind = "ConfigMap"; name = "ca"; namespace = "shop"; keys = [ "ca.crt" ]; })
      ];
      instances.shop.web.package = simple "web" (scope: rec {
        login = scope.mkSecretRef { name = "login"; keys = [ "token" ]; };
        gateway = kix.import { kind = "Gateway"; group = "gateway.networking.k8s.io"; name = "public"; namespace = "net"; };
        uses = scope.mkConfigMap { name = "uses"; data = { gateway = gateway.out.name; token = login.out.key "token"; }; };
      });
    }
  ];
in
{
  externals = map (e: removeAttrs e [ "origin" ] // { line = e.origin.line or null; }) found.externals;
  inherit (found) assertions;
}
