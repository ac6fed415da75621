# How a dependency finds its provider, one namespace per rule.
{ dependencies, provider, user, ... }:
let
  sql = provider "sql" [ "postgres" ];
  plain = provider "plain" [ ];
in
dependencies [
  {
    interfaces.postgres = {
      provider = "shared/main";
      namespaces.preferring.provider = "shared/other";
    };
    instances = {
      shared.main.package = sql;
      shared.other.package = sql;
      # a bare name in another namespace never counts
      elsewhere.postgres.package = plain;

      by-name.postgres.package = plain;
      by-name.sql.package = sql;
      by-name.user.package = user;

      by-alias.a = { package = plain; aliases = [ "postgres" ]; };
      by-alias.sql.package = sql;
      by-alias.user.package = user;

      by-interface.sql.package = sql;
      by-interface.user.package = user;

      by-setting.user.package = user;
      preferring.user.package = user;

      by-deps.sql.package = sql;
      by-deps.user = { package = user; deps.postgres = "elsewhere/postgres"; };
    };
  }
]
