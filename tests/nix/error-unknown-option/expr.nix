{ lib, types, evaluate, ... }:
evaluate [
  {
    options.replicas = lib.mkOption { type = types.int; default = 1; };
    options.port = lib.mkOption { type = types.int; default = 1; };
  }
  { replica = 3; }
]
