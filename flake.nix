{
  description = "Kix, a Kubernetes compiler: a cluster is one Nix definition";

  # No inputs: the library uses Nix builtins alone.
  inputs = { };

  outputs =
    { self }:
    let
      kix = import ./kixbot/nix;
    in
    {
      inherit (kix) flavors packages;
      # `kix.buildCluster` and what definitions get as `kix`; `lib.lib` is what packages get as `lib`.
      lib = kix;
    };
}
