{ document, simple, ... }:
document [
  {
    instances.shop.web.package = simple "web" (scope: {
      config = scope.mkConfigMap {
        name = "web";
        data.port = 80;
      };
    });
  }
]
