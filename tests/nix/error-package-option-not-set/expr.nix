{ document, ... }:
document [
  {
    instances.shop.web.package = { scope, lib }: {
      name = "web";
      options.hostname = lib.mkOption { type = lib.types.nonEmptyStr; };
      build = config: { settings = scope.mkConfigMap { name = "web"; data.host = config.hostname; }; };
    };
  }
]
