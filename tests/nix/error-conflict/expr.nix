{ lib, types, evaluate, ... }:
evaluate [
  { options.name = lib.mkOption { type = types.str; }; }
  { name = "a"; }
  {
    name = "b";
  }
]
