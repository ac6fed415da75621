# Declarations of one option join where their types do.
{ lib, types, evaluate, ... }:
let
  inherit (lib) mkOption;
in
evaluate [
  {
    options.size = mkOption { type = types.enum [ "small" ]; };
    options.part = mkOption { type = types.submodule { options.a = mkOption { type = types.int; default = 1; }; }; default = { }; };
  }
  {
    options.size = mkOption { type = types.enum [ "large" ]; };
    options.part = mkOption { type = types.submodule { options.b = mkOption { type = types.int; default = 2; }; }; };
    config.size = "large";
  }
]
