{ lib, types, evaluate, ... }:
evaluate [
  { freeformType = types.attrsOf types.int; }
  { free = "text"; }
]
