# The library: `lib` for modules and packages, and `kixOf` for the `kix` that definitions get.
let
  basics = import ./basics.nix;
  errors = import ./errors.nix { inherit basics; };
  modules = import ./modules.nix {
    inherit basics errors;
    self = lib;
  };
  types = import ./types.nix { inherit basics errors modules; };
  kinds = import ./kinds.nix { inherit basics errors; };
  markers = import ./markers.nix { inherit basics; };
  manifest = import ./manifest.nix { inherit basics; };
  resource = import ./resource.nix {
    inherit
      basics
      kinds
      manifest
      markers
      errors
      ;
  };
  scope = import ./scope.nix {
    inherit
      basics
      errors
      modules
      types
      resource
      kinds
      ;
  };
  pins = import ./pins.nix { inherit errors markers; };
  resolve = import ./resolve.nix { inherit basics errors; };
  package = import ./package.nix {
    inherit
      basics
      errors
      modules
      resource
      kinds
      ;
  };
  identity = import ./identity.nix { inherit basics; };
  document = import ./document.nix {
    inherit
      basics
      errors
      manifest
      markers
      identity
      ;
  };
  optionsOf = import ./options.nix {
    inherit
      basics
      errors
      modules
      types
      resource
      ;
  };
  lib =
    basics
    // {
      inherit types;
      inherit (modules)
        evalModules
        mkAfter
        mkBefore
        mkDefault
        mkEnableOption
        mkForce
        mkIf
        mkMerge
        mkOption
        mkOptionDefault
        mkOrder
        mkOverride
        setDefaultModuleLocation
        ;
    };
in
{
  inherit lib;

  # `flavors` and `packages` are the library's own, `treePath` the path of the tree being evaluated or null.
  kixOf =
    {
      flavors,
      packages,
      treePath ? null,
    }:
    let
      kix = {
        inherit lib flavors packages;
        buildCluster = import ./cluster.nix {
          inherit
            basics
            errors
            resource
            scope
            resolve
            package
            pins
            document
            optionsOf
            ;
          library = lib;
          # As positions write it, which in a private store differs from `toString`.
          libraryRoot = basics.removeSuffix "/lib/default.nix" (builtins.unsafeGetAttrPos "here" { here = null; }).file;
        } { inherit kix treePath; };
        inherit (manifest) mapByName number;
        inherit (markers) weak;
        inherit (pins) readPins;
        untrackedRef = resource.externalAt false;
        import = resource.externalAt true;
      };
    in
    kix;
}
