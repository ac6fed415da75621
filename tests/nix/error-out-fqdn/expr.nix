{ document, simple, ... }:
document [
  {
    instances.shop.web.package = simple "web" (scope: rec {
      config = scope.mkConfigMap { name = "web"; };
      uses = scope.mkConfigMap { name = "uses"; data.host = config.out.fqdn; };
    });
  }
]
