{ document, provider, user, ... }:
document [
  {
    instances.shop.web.package = user;
    instances.shop.db1.package = provider "sql" [ "postgres" ];
    instances.shop.db2.package = provider "sql" [ "postgres" ];
  }
]
