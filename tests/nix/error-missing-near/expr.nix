{ document, provider, user, ... }:
document [
  {
    instances.shop.web.package = user;
    instances.shop.postgers.package = provider "plain" [ ];
  }
]
