# Every type with a value it takes.
{ lib, types, evaluate, ... }:
let
  inherit (lib) mkOption;
  values = {
    str = types.str;
    nonEmptyStr = types.nonEmptyStr;
    lines = types.lines;
    strMatching = types.strMatching "[a-z]+";
    int = types.int;
    unsigned = types.ints.unsigned;
    positive = types.ints.positive;
    between = types.ints.between 3 5;
    u8 = types.ints.u8;
    s16 = types.ints.s16;
    number = types.number;
    bool = types.bool;
    path = types.path;
    port = types.port;
    enum = types.enum [ "a" 1 ];
    nullOr = types.nullOr types.int;
    listOf = types.listOf (types.nullOr types.int);
    attrsOf = types.attrsOf types.str;
    lazyAttrsOf = types.lazyAttrsOf types.str;
    attrs = types.attrs;
    anything = types.anything;
    raw = types.raw;
    unspecified = types.unspecified;
    submodule = types.submodule ({ name, ... }: { options.x = mkOption { type = types.str; default = name; }; });
    submoduleWith = types.submoduleWith { modules = [ { options.y = mkOption { type = types.int; }; } ]; };
    either = types.either types.int types.str;
    oneOf = types.oneOf [ types.int types.bool types.str ];
    coercedTo = types.coercedTo types.int toString types.str;
    addCheck = types.addCheck types.int (v: v > 2);
    uniq = types.uniq types.int;
    attrTag = types.attrTag { http = types.port; file = types.str; };
    functionTo = types.functionTo types.int;
    deferredModule = types.deferredModule;
  };
  config = evaluate [
    { options = builtins.mapAttrs (_: type: mkOption { inherit type; }) values; }
    {
      str = "s";
      nonEmptyStr = "s";
      lines = "one";
      strMatching = "abc";
      int = -1;
      unsigned = 0;
      positive = 1;
      between = 4;
      u8 = 255;
      s16 = -32768;
      number = 2;
      bool = true;
      path = "/etc";
      port = 80;
      enum = 1;
      nullOr = null;
      listOf = [ 1 null ];
      attrsOf.a = "a";
      lazyAttrsOf.a = "a";
      attrs.a = 1;
      anything = { list = [ 1 ]; deep.a = 1; };
      raw = 1;
      unspecified = 1;
      submodule = { };
      submoduleWith.y = 3;
      either = "s";
      oneOf = true;
      coercedTo = 3;
      addCheck = 3;
      uniq = 1;
      attrTag.http = 80;
      functionTo = n: n + 1;
      deferredModule = { options.z = mkOption { type = types.int; default = 9; }; };
    }
    { lines = "two"; anything.deep.b = 2; attrsOf.b = "b"; }
  ];
in
config
// {
  functionTo = config.functionTo 1;
  deferredModule = evaluate [ config.deferredModule ];
}
