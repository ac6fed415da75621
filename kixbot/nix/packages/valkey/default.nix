# Valkey, one server that keeps its data; offers the interface `valkey` (the protocol of Redis).
{
  scope,
  lib,
  cluster,
  pins,
}:
let
  inherit (lib) mkOption types;
  version = "8.0.2";
  quantity = types.strMatching "[0-9]+([.][0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?";
  # The image's own user and group: 8.0/debian/Dockerfile of https://github.com/valkey-io/valkey-container
  user = 999;
in
{
  name = "valkey";
  inherit version;
  provides = [
    "valkey"
    "redis"
  ];

  options = {
    maxMemory = mkOption {
      type = types.strMatching "[0-9]+(kb|mb|gb)";
      default = "192mb";
      description = "How much data is kept before old keys go.";
    };
    evict = mkOption {
      type = types.enum [
        "noeviction"
        "allkeys-lru"
        "allkeys-lfu"
        "volatile-lru"
        "volatile-lfu"
        "volatile-ttl"
      ];
      default = "noeviction";
      description = "What happens when the memory is full.";
    };
    storage = {
      size = mkOption {
        type = quantity;
        default = "1Gi";
        description = "The size of the volume.";
      };
      storageClass = mkOption {
        type = types.nullOr types.str;
        default = if cluster.storageClasses == [ ] then null else lib.head cluster.storageClasses;
        description = "The storage class; null for the cluster's default.";
      };
    };
    resources = mkOption {
      type = types.attrsOf (types.attrsOf quantity);
      default = {
        limits.memory = "256Mi";
        requests = {
          cpu = "50m";
          memory = "256Mi";
        };
      };
      description = "CPU and memory of the server.";
    };
  };

  build =
    config:
    let
      ping = {
        exec.command = [
          "sh"
          "-c"
          "test \"$(valkey-cli ping)\" = PONG"
        ];
        timeoutSeconds = 5;
      };
    in
    rec {
      secret = scope.mkSecret {
        inherit (scope) name;
        keys = [ "password" ];
      };
      # Headless: it gives the server of the StatefulSet a name of its own and clients the server's address.
      service = scope.mkService {
        inherit (scope) name;
        "for" = server;
        ports.valkey = 6379;
        spec.clusterIP = "None";
      };
      server = scope.mkStatefulSet {
        inherit (scope) name;
        replicas = 1;
        serviceName = service.out.name;
        containers.valkey = {
          # https://hub.docker.com/r/valkey/valkey/tags
          image = pins.image "valkey" "docker.io/valkey/valkey:${version}";
          args = [
            "valkey-server"
            "--requirepass"
            "$(VALKEYCLI_AUTH)"
            "--dir"
            "/data"
            "--appendonly"
            "yes"
            "--maxmemory"
            config.maxMemory
            "--maxmemory-policy"
            config.evict
          ];
          env = [
            {
              # valkey-cli takes its password from here; the name it had before is for older versions.
              name = "VALKEYCLI_AUTH";
              valueFrom.secretKeyRef = {
                inherit (secret.out) name;
                key = secret.out.key "password";
              };
            }
            {
              name = "REDISCLI_AUTH";
              value = "$(VALKEYCLI_AUTH)";
            }
          ];
          ports = [
            {
              name = "valkey";
              containerPort = 6379;
            }
          ];
          livenessProbe = ping // {
            periodSeconds = 10;
          };
          readinessProbe = ping // {
            periodSeconds = 5;
          };
          # Reading the append-only file takes as long as it is large.
          startupProbe = ping // {
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
              mountPath = "/data";
            }
          ];
        };
        pod.securityContext.fsGroup = user;
        volumeClaimTemplates = [
          {
            metadata.name = "data";
            spec = {
              accessModes = [ "ReadWriteOnce" ];
              resources.requests.storage = config.storage.size;
              storageClassName = config.storage.storageClass;
            };
          }
        ];
      };
    };

  out = resources: {
    inherit (resources.service.out) fqdn;
    port = resources.service.out.port "valkey";
    portNumber = resources.service.out.portNumber "valkey";
    secretName = resources.secret.out.name;
    inherit (resources.secret.out) key;
    passwordKey = resources.secret.out.key "password";
  };
}
