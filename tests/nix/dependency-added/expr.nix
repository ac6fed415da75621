# What an available package with a default namespace satisfies is added, with what it needs in turn, once.
{ document, provider, user, lib, ... }:
let
  operator = { scope, registry }: {
    name = "operator";
    defaultNamespace = "operators";
    provides = [ "postgres" ];
    build = _: { service = scope.mkResource { kind = "Service"; name = "operator"; }; };
    out = r: { inherit (r.service.out) fqdn; };
  };
  registry = { scope }: {
    name = "registry";
    defaultNamespace = "operators";
    build = _: { };
  };
  found = document [
    {
      availablePackages = {
        inherit operator registry;
        # without a default namespace it is never added
        unplaced = provider "unplaced" [ "postgres" ];
      };
      instances.a.user.package = user;
      instances.b.user.package = user;
    }
  ];
in
map (p: { inherit (p) id added dependsOn; }) found.packages
