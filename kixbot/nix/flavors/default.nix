# Flavors by name: modules that say what is true of a kind of cluster, all with mkDefault.
{
  eks = ./eks.nix;
  generic = ./generic.nix;
  kind = ./kind.nix;
}
