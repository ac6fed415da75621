# A web application in front of a PostgreSQL database: `postgres` is whatever provides that interface.
{
  scope,
  lib,
  pins,
  postgres,
}:
let
  inherit (lib) mkOption types;
  version = "1.4.2";
in
{
  name = "web";
  inherit version;

  options = {
    replicas = mkOption {
      type = types.ints.positive;
      default = 1;
      description = "How many pods serve.";
    };
    hostname = mkOption {
      type = types.nonEmptyStr;
      description = "The name people reach the shop under.";
    };
    logLevel = mkOption {
      type = types.enum [
        "debug"
        "info"
        "warning"
      ];
      default = "info";
      description = "What is logged.";
    };
  };

  build =
    config:
    let
      health = {
        httpGet = {
          path = "/healthz";
          port = "http";
        };
      };
    in
    rec {
      settings = scope.mkConfigMap {
        name = "web";
        data = {
          LOG_LEVEL = config.logLevel;
          PUBLIC_URL = "https://${config.hostname}";
        };
      };

      deployment = scope.mkDeployment {
        name = "web";
        inherit (config) replicas;
        containers.web = {
          image = pins.image "web" "ghcr.io/acme/web:${version}";
          envFrom = [ { configMapRef = { inherit (settings.out) name; }; } ];
          env = [
            {
              name = "DATABASE_PASSWORD";
              valueFrom.secretKeyRef = {
                name = postgres.secretName;
                key = postgres.key "password";
              };
            }
            {
              name = "DATABASE_URL";
              value = "postgres://${postgres.owner}:$(DATABASE_PASSWORD)@${postgres.fqdn}:${postgres.port}/${postgres.database}";
            }
          ];
          ports = [
            {
              name = "http";
              containerPort = 8080;
            }
          ];
          livenessProbe = health;
          readinessProbe = health // {
            periodSeconds = 5;
          };
          resources = {
            limits.memory = "256Mi";
            requests = {
              cpu = "100m";
              memory = "128Mi";
            };
          };
          volumeMounts = [
            {
              name = "tmp";
              mountPath = "/tmp";
            }
          ];
        };
        pod.topologySpreadConstraints = [
          {
            maxSkew = 1;
            topologyKey = "topology.kubernetes.io/zone";
            whenUnsatisfiable = "ScheduleAnyway";
            labelSelector.matchLabels = deployment.out.selector;
          }
        ];
        volumes.tmp.emptyDir = { };
      };

      service = scope.mkService {
        name = "web";
        "for" = deployment;
        ports.http = {
          port = 80;
        };
      };

      route = scope.mkRoute {
        name = "web";
        gateway = {
          name = "public";
          namespace = "gateway-system";
        };
        hostnames = [ config.hostname ];
        to = service;
      };
    };

  out = resources: {
    inherit (resources.service.out) fqdn;
    port = resources.service.out.port "http";
  };
}
