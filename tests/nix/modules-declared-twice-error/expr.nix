{ lib, types, evaluate, ... }:
evaluate [
  { options.size = lib.mkOption { type = types.int; }; }
  { options.size = lib.mkOption { type = types.str; }; }
]
