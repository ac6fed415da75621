# An optional dependency that nobody satisfies is null; `deps.<name> = null` says so where somebody would.
{ resources, provider, lib, ... }:
let
  user = { scope, postgres ? null }: {
    name = "user";
    build = _: {
      settings = scope.mkConfigMap {
        name = scope.name;
        data.host = if postgres == null then "none" else postgres.fqdn;
      };
    };
  };
  hosts = modules: lib.mapAttrs (_: r: r.manifest.data.host or null) (resources modules);
in
{
  absent = hosts [ { instances.a.user.package = user; } ];
  present = hosts [
    {
      instances.a.user.package = user;
      instances.a.sql.package = provider "sql" [ "postgres" ];
      instances.a.without = { package = user; deps.postgres = null; };
    }
  ];
}
