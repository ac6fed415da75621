# Every package of the library with every option that changes its shape, and each shortcut of a scope.
{ kix, packages }:
kix.buildCluster {
  name = "everything";
  modules = [
    kix.flavors.kind
    (
      { lib, ... }:
      {
        availablePackages = packages;
        externals = [
          (kix.untrackedRef {
            kind = "Gateway";
            group = "gateway.networking.k8s.io";
            name = "public";
            namespace = "full";
          })
        ];
        instances.plain.db.package = packages.cnpg-cluster;
        instances.plain.valkey.package = packages.valkey;
        instances.plain.grafana.package = packages.grafana;
        instances.plain.gateway-api.package = packages.gateway-api;
        instances.full.db = {
          package = packages.cnpg-cluster;
          config = {
            instances = 3;
            database = "shop";
            owner = "shop";
            secret = "operator";
            storage.storageClass = null;
            parameters.max_connections = "200";
          };
        };
        instances.full.valkey = {
          package = packages.valkey;
          config = {
            evict = "allkeys-lru";
            storage.size = "5Gi";
          };
        };
        instances.full.grafana = {
          package = packages.grafana;
          config = {
            replicas = 2;
            rootUrl = "https://grafana.example.com/";
            datasources = [
              {
                name = "prometheus";
                type = "prometheus";
                url = "http://prometheus:9090";
              }
            ];
            dashboards.home = lib.toJSON { title = "home"; };
          };
        };
        instances.full.all.package =
          { scope }:
          {
            name = "all";
            build = _: rec {
              access = scope.mkAccess {
                name = "agent";
                rules = [
                  {
                    apiGroups = [ "" ];
                    resources = [ "pods" ];
                    verbs = [ "get" ];
                  }
                ];
                clusterRules = [
                  {
                    apiGroups = [ "" ];
                    resources = [ "nodes" ];
                    verbs = [ "get" ];
                  }
                ];
              };
              daemon = scope.mkDaemonSet {
                name = "agent";
                containers.agent = {
                  image = "agent:1";
                  ports = [
                    {
                      name = "http";
                      containerPort = 8080;
                    }
                  ];
                };
                pod.serviceAccountName = access.serviceAccount.out.name;
              };
              job = scope.mkJob {
                name = "migrate";
                containers.job.image = "job:1";
                pod.restartPolicy = "Never";
              };
              cron = scope.mkCronJob {
                name = "clean";
                schedule = "0 3 * * *";
                containers.job.image = "job:1";
                pod.restartPolicy = "Never";
              };
              service = scope.mkService {
                name = "agent";
                "for" = daemon;
                ports.http = 80;
              };
              route = scope.mkRoute {
                name = "agent";
                gateway.name = "public";
                hostnames = [ "agent.example.com" ];
                to = service;
              };
              scaler = scope.mkResource {
                kind = "HorizontalPodAutoscaler";
                name = "server";
                spec = {
                  scaleTargetRef = server.out.ref;
                  maxReplicas = 3;
                };
              };
              server = scope.mkDeployment {
                name = "server";
                containers.server.image = "server:1";
                ownership.cede = [ "spec.replicas" ];
              };
            };
          };
      }
    )
  ];
}
