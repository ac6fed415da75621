# Kix for Nix: what flakes and definitions use, and how kix evaluates a definition.
let
  library = import ./lib;
  flavors = import ./flavors;
  packages = import ./packages;
  kix = library.kixOf { inherit flavors packages; };

  # A definition names `kix` or `packages` among its arguments; any other .nix file is not one.
  load =
    { tree, file }:
    let
      treePath = toString tree;
      definition = import (tree + "/${file}");
      arguments = {
        kix = library.kixOf { inherit flavors packages treePath; };
        inherit packages;
      };
      wanted = builtins.functionArgs definition;
      cluster = definition (builtins.intersectAttrs wanted arguments);
      unknown = builtins.filter (name: !(arguments ? ${name}) && !wanted.${name}) (
        builtins.attrNames wanted
      );
    in
    if !(builtins.isFunction definition && (wanted ? kix || wanted ? packages)) then
      throw "${file}: not a definition: expected a function of kix and packages\nhint: begin it with { kix, packages }:"
    else if unknown != [ ] then
      throw "${file}: a definition gets kix and packages, not \"${builtins.head unknown}\"\nhint: name only kix and packages as arguments"
    else if !(builtins.isAttrs cluster && cluster._type or null == "kix-cluster") then
      throw "${file}: the definition does not give a cluster\nhint: return kix.buildCluster { … }"
    else
      cluster;
in
kix
// {
  # `{ tree, file }`, a tree's path and a file in it → the cluster ({ document, activation, config }).
  inherit load;
  # The same → the document alone.
  evaluate = arguments: (load arguments).document;
}
