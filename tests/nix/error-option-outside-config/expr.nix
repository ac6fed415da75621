{ document, packages, ... }:
document [
  {
    instances.shop.cache = {
      package = packages.valkey;
      maxMemory = "1gb";
    };
  }
]
