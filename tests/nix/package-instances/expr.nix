# Every instance adds a PackageInstance that refers to all of its resources.
{ document, provider, user, lib, ... }:
map (r: { inherit (r) id hard manifest; }) (builtins.filter (r: lib.hasPrefix "PackageInstance" r.id) (document [
  {
    instances.data.sql.package = provider "sql" [ "postgres" ];
    instances.shop.web.package = user;
  }
]).resources)
