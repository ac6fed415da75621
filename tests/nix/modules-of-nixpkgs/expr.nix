# A module written with nixpkgs' tags and type records, as its lib makes them, evaluates here.
{ lib, evaluate, ... }:
let
  str = {
    _type = "option-type";
    name = "str";
    description = "string";
    check = builtins.isString;
    merge = loc: definitions: (builtins.head definitions).value;
    emptyValue = { };
    getSubOptions = _: { };
    getSubModules = null;
    substSubModules = _: null;
    nestedTypes = { };
    functor = { name = "str"; type = str; wrapped = null; payload = null; binOp = _: _: null; };
    typeMerge = other: if other.name == "str" then str else null;
    deprecationMessage = null;
  };
  # Newer versions merge by a set that acts as a function.
  callable = str // { merge = { __functor = _: loc: definitions: "${toString (builtins.length definitions)} at ${builtins.concatStringsSep "." loc}"; }; };
in
evaluate [
  {
    _class = "nixos";
    options.a = { _type = "option"; type = str; default = "unset"; };
    options.b.c = { _type = "option"; type = callable; };
    options.d = { _type = "option"; type = lib.types.listOf str; };
  }
  { options.a = { _type = "option"; type = str; }; }
  {
    a = { _type = "if"; condition = true; content = { _type = "override"; priority = 50; content = "forced"; }; };
    b = { _type = "merge"; contents = [ { c = "x"; } { c = "y"; } ]; };
    d = { _type = "order"; priority = 1500; content = [ "last" ]; };
  }
  {
    a = "plain";
    d = [ "first" ];
  }
]
