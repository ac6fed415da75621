# Raw resources: any field, a built-in kind's version inferred, a namespace made for each that is in use.
{ document, kix, ... }:
let
  found = document [
    {
      resources.shop.ConfigMap.settings = { data.level = "info"; ownership.cede = [ "data.level" ]; };
      resources.shop.Deployment.api = { metadata.labels.app = "api"; spec.replicas = 1; };
      resources.shop.Widget.w = { apiVersion = "example.com/v1"; spec.size = 1; };
      resources.own.ConfigMap.x = { };
      resources.outside.ConfigMap.x = { };
      resources.default.ConfigMap.x = { };
      clusterResources.Namespace.own = { labels.team = "shop"; };
      clusterResources.ClusterRole.reader.rules = [ ];
      clusterResources.Gadget.g = { apiVersion = "example.com/v1"; };
      externals = [ (kix.untrackedRef { kind = "Namespace"; name = "outside"; }) ];
    }
    { resources.shop.ConfigMap.settings.data.more = "yes"; }
  ];
in
map (r: { inherit (r) id manifest cede package; line = if r.origin == null then null else r.origin.line; }) found.resources
