{ lib, types, evaluate, ... }:
evaluate [ { options.hostname = lib.mkOption { type = types.nonEmptyStr; }; } ]
