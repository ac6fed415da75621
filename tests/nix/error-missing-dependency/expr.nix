{ document, provider, user, packages, ... }:
document [
  {
    availablePackages = packages;
    instances.shop.web.package = user;
    instances.shop.cache.package = provider "cache" [ "redis" ];
  }
]
