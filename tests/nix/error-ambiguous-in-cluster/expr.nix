{ document, provider, user, ... }:
document [
  {
    instances.shop.web.package = user;
    instances.a.db.package = provider "sql" [ "postgres" ];
    instances.b.db.package = provider "sql" [ "postgres" ];
  }
]
