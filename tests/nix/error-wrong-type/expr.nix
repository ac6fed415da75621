{ lib, types, evaluate, ... }:
evaluate [
  { options.replicas = lib.mkOption { type = types.ints.positive; }; }
  { replicas = "three"; }
]
