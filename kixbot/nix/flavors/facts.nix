# What every flavor says of a cluster, as data: flavor → the `cluster` part of an evaluated document, without its name.
let
  kix = import ../default.nix;
  factsOf =
    flavor:
    builtins.removeAttrs (kix.buildCluster {
      name = "facts";
      modules = [ flavor ];
    }).document.cluster [ "name" ];
in
builtins.mapAttrs (_: factsOf) kix.flavors
