# Definitions of one option merge by priority and order; conditions reach through sets.
{ lib, types, evaluate, ... }:
let
  inherit (lib) mkOption mkDefault mkForce mkOverride mkIf mkMerge mkBefore mkAfter mkOrder mkEnableOption;
in
evaluate [
  {
    options = {
      forced = mkOption { type = types.str; };
      defaulted = mkOption { type = types.str; };
      overridden = mkOption { type = types.str; };
      conditional.deep.inside = mkOption { type = types.int; default = 1; };
      list = mkOption { type = types.listOf types.str; };
      enable = mkEnableOption "a thing";
      sum = mkOption { type = types.int; readOnly = true; };
      applied = mkOption { type = types.int; apply = value: value * 2; };
      set = mkOption { type = types.attrsOf types.int; default = { }; };
    };
  }
  (
    { config, ... }:
    {
      forced = mkForce "forced";
      defaulted = mkDefault "default";
      overridden = mkOverride 10 "ten";
      conditional = mkIf config.enable { deep = mkIf true { inside = 7; }; };
      enable = true;
      sum = config.applied + config.conditional.deep.inside;
      applied = 3;
      list = mkMerge [
        (mkAfter [ "last" ])
        (mkBefore [ "first" ])
        [ "middle" ]
        (mkOrder 1200 [ "late" ])
        (mkIf false [ "never" ])
      ];
    }
  )
  {
    forced = "plain";
    defaulted = "plain";
    overridden = mkForce "fifty";
    set = mkMerge [
      { a = 1; }
      (mkIf true { b = 2; })
      { c = mkIf false 3; }
      { d = mkForce 4; }
    ];
  }
  { set.d = 5; }
]
