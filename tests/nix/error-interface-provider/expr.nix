{ document, provider, user, ... }:
document [
  {
    interfaces.postgres.provider = "data/nothing";
    instances.data.sql.package = provider "sql" [ "postgres" ];
    instances.shop.user.package = user;
  }
]
