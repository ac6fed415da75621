# A cycle of references is no loop of values: it is left to the graph, which names it.
{ resources, lib, simple, ... }:
lib.mapAttrs (_: r: r.hard) (resources [
  {
    instances.a.peers.package = simple "peers" (scope: rec {
      config = scope.mkConfigMap { name = "peers"; data.host = set.out.name; };
      set = scope.mkStatefulSet { name = "ss"; containers.s = { image = "s:1"; envFrom = [ { configMapRef = { inherit (config.out) name; }; } ]; }; };
    });
  }
])
