# A value that needs itself: the error names the resource and its place.
{ document, simple, lib, ... }:
document [
  {
    instances.shop.web.package = simple "web" (scope: rec {
      a = scope.mkResource { kind = "ConfigMap"; name = "a"; data.x = "${b.body.data.y}"; };
      b = scope.mkResource { kind = "ConfigMap"; name = "b"; data.y = "${a.body.data.x}"; };
    });
  }
]
