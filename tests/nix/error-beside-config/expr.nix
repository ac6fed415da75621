{ lib, types, evaluate, ... }:
evaluate [
  {
    options.a = lib.mkOption { type = types.int; };
    a = 1;
  }
]
