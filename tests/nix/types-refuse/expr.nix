# Every type with a value it does not take: the sentence that follows.
{ lib, types, ... }:
let
  refused = {
    str = { type = types.str; value = 1; };
    nonEmptyStr = { type = types.nonEmptyStr; value = " "; };
    strMatching = { type = types.strMatching "[a-z]+"; value = "A"; };
    positive = { type = types.ints.positive; value = 0; };
    between = { type = types.ints.between 3 5; value = 6; };
    bool = { type = types.bool; value = "true"; };
    path = { type = types.path; value = "relative"; };
    port = { type = types.port; value = 65536; };
    enum = { type = types.enum [ "a" "b" ]; value = "c"; };
    nullOr = { type = types.nullOr types.int; value = "null"; };
    listOf = { type = types.listOf types.int; value = { }; };
    attrsOf = { type = types.attrsOf types.int; value = [ ]; };
    either = { type = types.either types.int types.bool; value = "s"; };
    attrTag = { type = types.attrTag { http = types.port; file = types.str; }; value = { http = 1; file = "f"; }; };
    addCheck = { type = types.addCheck types.int (v: v > 2); value = 1; };
    submodule = { type = types.submodule { }; value = 3; };
    functionTo = { type = types.functionTo types.int; value = 3; };
  };
in
builtins.mapAttrs (_: r: "${r.type.description}: ${if r.type.check r.value then "taken" else "refused"}") refused
