# The provider that the definition names goes before the only one that says it provides the interface.
{ dependencies, provider, user, ... }:
dependencies [
  {
    interfaces.postgres.provider = "data/proxy";
    instances.data.proxy.package = provider "proxy" [ ];
    instances.data.sql.package = provider "sql" [ "postgres" ];
    instances.shop.user.package = user;
  }
]
