# The only provider in the cluster serves every namespace; an instance never serves itself.
{ dependencies, provider, user, ... }:
dependencies [
  {
    instances.data.sql.package = provider "sql" [ "postgres" ];
    instances.shop.user.package = user;
    instances.web.user.package = user;
  }
]
