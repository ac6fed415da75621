{ lib, types, evaluate, ... }:
evaluate [
  { options.fixed = lib.mkOption { type = types.int; default = 1; readOnly = true; }; }
  { fixed = 2; }
]
