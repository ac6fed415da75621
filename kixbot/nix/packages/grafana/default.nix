# Grafana with its data sources and dashboards from the definition; nothing people do in it is kept, so that every
# replica shows the same. Offers the interface `grafana`.
{ scope, lib, pins }:
let
  inherit (lib) mkOption types;
  version = "11.2.0";
  quantity = types.strMatching "[0-9]+([.][0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?";
  # The image's user: https://grafana.com/docs/grafana/v11.2/setup-grafana/configure-docker/
  user = 472;
in
{
  name = "grafana";
  inherit version;
  provides = [ "grafana" ];

  options = {
    replicas = mkOption {
      type = types.ints.positive;
      default = 1;
      description = "How many pods serve.";
    };
    rootUrl = mkOption {
      type = types.nullOr types.str;
      default = null;
      description = "The address people open it at.";
    };
    datasources = mkOption {
      type = types.listOf (types.attrsOf types.anything);
      default = [ ];
      example = [
        {
          name = "prometheus";
          type = "prometheus";
          url = "http://prometheus.monitoring.svc.cluster.local:9090";
        }
      ];
      description = "Data sources, as Grafana's provisioning takes them.";
    };
    dashboards = mkOption {
      type = types.attrsOf types.lines;
      default = { };
      description = "Dashboards by name, as JSON text.";
    };
    resources = mkOption {
      type = types.attrsOf (types.attrsOf quantity);
      default = {
        limits.memory = "512Mi";
        requests = {
          cpu = "100m";
          memory = "256Mi";
        };
      };
      description = "CPU and memory of each pod.";
    };
  };

  build =
    config:
    let
      health = {
        httpGet = {
          path = "/api/health";
          port = "http";
        };
      };
    in
    rec {
      admin = scope.mkSecret {
        inherit (scope) name;
        keys = [ "password" ];
      };
      # JSON is YAML, which is what provisioning reads.
      provisioning = scope.mkConfigMap {
        inherit (scope) name;
        data = {
          "datasources.yaml" = lib.toJSON {
            apiVersion = 1;
            inherit (config) datasources;
          };
          "dashboards.yaml" = lib.toJSON {
            apiVersion = 1;
            providers = [
              {
                name = "kix";
                type = "file";
                options.path = "/etc/grafana/dashboards";
              }
            ];
          };
        }
        // lib.mapAttrs' (name: text: lib.nameValuePair "dashboard-${name}.json" text) config.dashboards;
      };
      deployment = scope.mkDeployment {
        inherit (scope) name;
        inherit (config) replicas;
        containers.grafana = {
          # https://hub.docker.com/r/grafana/grafana/tags
          image = pins.image "grafana" "docker.io/grafana/grafana:${version}";
          env = [
            {
              name = "GF_SECURITY_ADMIN_PASSWORD";
              valueFrom.secretKeyRef = {
                inherit (admin.out) name;
                key = admin.out.key "password";
              };
            }
            {
              name = "GF_LOG_MODE";
              value = "console";
            }
            {
              name = "GF_ANALYTICS_CHECK_FOR_UPDATES";
              value = "false";
            }
          ]
          ++ lib.optional (config.rootUrl != null) {
            name = "GF_SERVER_ROOT_URL";
            value = config.rootUrl;
          };
          ports = [
            {
              name = "http";
              containerPort = 3000;
            }
          ];
          livenessProbe = health // {
            periodSeconds = 10;
            failureThreshold = 6;
          };
          readinessProbe = health // {
            periodSeconds = 5;
          };
          # The first start fills a database.
          startupProbe = health // {
            failureThreshold = 60;
            periodSeconds = 2;
          };
          inherit (config) resources;
          securityContext = {
            runAsUser = user;
            runAsGroup = user;
          };
          volumeMounts = [
            {
              name = "data";
              mountPath = "/var/lib/grafana";
            }
            {
              name = "tmp";
              mountPath = "/tmp";
            }
            {
              name = "provisioning";
              mountPath = "/etc/grafana/provisioning/datasources/datasources.yaml";
              subPath = "datasources.yaml";
              readOnly = true;
            }
            {
              name = "provisioning";
              mountPath = "/etc/grafana/provisioning/dashboards/dashboards.yaml";
              subPath = "dashboards.yaml";
              readOnly = true;
            }
            {
              name = "dashboards";
              mountPath = "/etc/grafana/dashboards";
              readOnly = true;
            }
          ];
        };
        pod.securityContext.fsGroup = user;
        volumes = {
          data.emptyDir = { };
          tmp.emptyDir = { };
          provisioning.configMap = { inherit (provisioning.out) name; };
          # A volume without items would hold every key.
          dashboards =
            if config.dashboards == { } then
              { emptyDir = { }; }
            else
              {
                configMap = {
                  inherit (provisioning.out) name;
                  items = map (name: {
                    key = provisioning.out.key "dashboard-${name}.json";
                    path = "${name}.json";
                  }) (lib.attrNames config.dashboards);
                };
              };
        };
      };
      service = scope.mkService {
        inherit (scope) name;
        "for" = deployment;
        ports.http = 3000;
      };
    };

  out = resources: {
    inherit (resources.service.out) fqdn;
    port = resources.service.out.port "http";
    portNumber = resources.service.out.portNumber "http";
    secretName = resources.admin.out.name;
    inherit (resources.admin.out) key;
  };
}
