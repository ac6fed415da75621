# A name in another namespace does not count, but is pointed out.
{ document, provider, user, ... }:
document [
  {
    instances.shop.web.package = user;
    instances.data.postgres.package = provider "plain" [ ];
  }
]
