# Modules come as paths, functions and sets; one that is imported twice counts once; keys and disabledModules work.
{ lib, types, ... }:
(lib.evalModules {
  specialArgs.given = "special";
  modules = [
    ./declares.nix
    {
      imports = [
        ./declares.nix
        ./disabled.nix
        {
          key = "named";
          seen = [ "first of its key" ];
        }
        {
          key = "named";
          seen = [ "second of its key" ];
        }
      ];
      disabledModules = [ ./disabled.nix ];
    }
    (
      { given, passed, ... }:
      {
        _module.args.passed = "argument";
        seen = [ given passed ];
      }
    )
  ];
}).config
