# A flavor's facts are defaults; the definition says over them. Packages see the result.
{ document, flavors, simple, ... }:
let
  found = document [
    flavors.eks
    {
      cluster.kubernetesVersion = "1.33";
      cluster.roles.loadBalancer.binding = "absent";
      cluster.roles.ingress.binding = "ops/nginx";
      cluster.zones = [ "a" "b" ];
      scorecard = { fail = [ "sec/*" ]; ignore = [ { rule = "sec/root-image"; resource = "Deployment/web@shop"; reason = "needs it"; } ]; };
      manifests = [ ./extra.yaml ];
      instances.ops.nginx.package = { scope, cluster }: {
        name = "nginx";
        build = _: { config = scope.mkConfigMap { name = "facts"; data.facts = "${cluster.name} ${cluster.flavor} ${cluster.kubernetesVersion} ${cluster.availability}"; }; };
      };
    }
  ];
in
{
  inherit (found) cluster scorecard assertions;
  manifests = map (m: { file = baseNameOf m.path; inherit (m.origin) line; }) found.manifests;
  facts = builtins.concatMap (r: if r.manifest ? data then [ r.manifest.data ] else [ ]) found.resources;
}
