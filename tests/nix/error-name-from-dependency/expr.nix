# What is read before dependencies are resolved may not depend on them.
{ document, provider, ... }:
document [
  {
    instances.shop.db.package = provider "sql" [ "postgres" ];
    instances.shop.web.package = { scope, postgres }: {
      name = "web-for-${postgres.fqdn}";
      build = _: { };
    };
  }
]
