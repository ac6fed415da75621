# The kinds of the Gateway API 1.3.0, standard channel: CRDs alone, for clusters whose gateway controller does not
# bring them. `generate.sh` writes them.
{ scope, lib }:
{
  name = "gateway-api";
  version = "1.3.0";
  defaultNamespace = "gateway-system";
  provides = [ "gateway-api" ];

  build =
    _:
    lib.listToAttrs (
      map (crd: {
        inherit (crd.metadata) name;
        value = scope.mkResource {
          inherit (crd) apiVersion kind spec;
          inherit (crd.metadata) name;
          annotations = crd.metadata.annotations or { };
          labels = crd.metadata.labels or { };
        };
      }) (lib.fromJSON (lib.readFile ./crds.json))
    );
}
