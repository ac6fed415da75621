{ document, simple, ... }:
document [
  {
    instances.shop.web.package = simple "web" (scope: {
      server = scope.mkDeployment {
        name = "web";
        replica = 3;
      };
    });
  }
]
