{ document, provider, user, ... }:
let
  placed = name: arguments: (provider name [ "postgres" ] arguments) // { defaultNamespace = "ops"; };
in
document [
  {
    availablePackages.one = { scope }: placed "one" { inherit scope; };
    availablePackages.two = { scope }: placed "two" { inherit scope; };
    instances.shop.web.package = user;
  }
]
