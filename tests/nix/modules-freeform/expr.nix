# With a freeform type, definitions without an option are allowed and typed.
{ lib, types, evaluate, ... }:
evaluate [
  {
    freeformType = types.attrsOf types.int;
    options.known = lib.mkOption { type = types.str; };
  }
  { known = "known"; free = 1; }
  { other = lib.mkDefault 2; }
]
