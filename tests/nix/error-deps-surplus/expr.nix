{ document, provider, user, ... }:
document [
  {
    instances.shop.web = {
      package = user;
      deps.redis = "shop/db";
    };
    instances.shop.db.package = provider "sql" [ "postgres" ];
  }
]
