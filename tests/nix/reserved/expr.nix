# Labels, annotations and objects of kix's own are refused; the two steering annotations are not.
{ document, simple, ... }:
map (a: { inherit (a) message hint resource; }) (document [
  {
    resources.shop.ConfigMap.a.metadata.labels."kix.run/cluster" = "x";
    resources.shop.ConfigMap.b.annotations = { "cluster.kix.run/shop" = "x"; "kix.run/cede" = "data.a"; "kix.run/ignore" = "r: why"; };
    resources.shop.ConfigMap.labelled.labels."kix.run/cede" = "data.a";
    resources.shop.Deployment.c.spec.template.metadata.annotations."kix.run/x" = "y";
    resources.shop.Activation.d = { apiVersion = "kix.run/v1alpha1"; };
    instances.shop.web.package = simple "web" (scope: {
      a = scope.mkResource { kind = "ConfigMap"; name = "web"; labels."kix.run/package" = "web"; };
    });
  }
]).assertions
