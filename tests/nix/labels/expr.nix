# Names that are no label values still give labels that the API server takes.
{ resources, simple, lib, ... }:
lib.mapAttrs (_: r: r.manifest.metadata.labels) (resources [
  {
    instances.shop.web = {
      labels.team = "shop";
      package = simple "web" (scope: {
        colon = scope.mkResource { kind = "ClusterRole"; name = "system:shop:reader:"; rules = [ ]; };
        long = scope.mkConfigMap { name = "a-${lib.concatStrings (lib.genList (_: "long.") 20)}end"; };
        own = scope.mkConfigMap { name = "own"; labels."app.kubernetes.io/name" = "other"; };
      });
    };
  }
])
