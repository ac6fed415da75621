# What Nix would cut, swallow or print differently is refused with its path.
{ document, kix, lib, ... }:
map (a: { inherit (a) message hint; }) (document [
  {
    resources.shop.ConfigMap.a = {
      float = 0.5;
      list = [ 1 { deep = 1.5; } ];
      backspace = builtins.fromJSON ''"a\bc"'';
      function = x: x;
      path = ./expr.nix;
      "dotted.key" = lib.mkForce 2.5;
    };
    resources.shop.ConfigMap.b = {
      drv = { outPath = "/nix/store/x"; };
      text = { __toString = _: "x"; };
      number = { __kix_number__ = "1"; };
    };
    resources.shop.ConfigMap.c.data.file = "${./expr.nix}";
    resources.shop.ConfigMap.d.spec = [ (lib.mkIf true 1) ];
  }
]).assertions
