{ lib, ... }:
{
  options.seen = lib.mkOption { type = lib.types.listOf lib.types.str; };
  config.seen = [ "declares" ];
}
