# A PostgreSQL cluster by CloudNativePG; offers the interface `postgres`.
#
# The password is made at apply in a Secret of the build, so that people can rotate it; with `secret = "operator"` the
# operator makes its own, `<name>-app`. The operator serves writes at `<name>-rw`, reads at `<name>-ro` and `<name>-r`.
{
  scope,
  lib,
  cluster,
  pins,
  cnpg-operator,
}:
let
  inherit (lib) mkOption types;
  quantity = types.strMatching "[0-9]+([.][0-9]+)?(m|k|Ki|M|Mi|G|Gi|T|Ti)?";
in
{
  name = "cnpg-cluster";
  # The operator's version decides the fields of the Cluster, PostgreSQL's stands in the image.
  version = "1.27.0";
  provides = [ "postgres" ];

  options = {
    instances = mkOption {
      type = types.ints.positive;
      default = if cluster.availability == "zone" then 3 else 1;
      description = "PostgreSQL instances: one primary, the others replicas.";
    };
    database = mkOption {
      type = types.strMatching "[a-z_][a-z0-9_]*";
      default = "app";
      description = "The database that is made.";
    };
    owner = mkOption {
      type = types.strMatching "[a-z_][a-z0-9_]*";
      default = "app";
      description = "The user that owns the database.";
    };
    secret = mkOption {
      type = types.enum [
        "generated"
        "operator"
      ];
      default = "generated";
      description = "Who makes the owner's password: kix at apply, or the operator.";
    };
    storage = {
      size = mkOption {
        type = quantity;
        default = "1Gi";
        description = "The size of each instance's volume.";
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
        limits = {
          cpu = "1";
          memory = "1Gi";
        };
        requests = {
          cpu = "250m";
          memory = "512Mi";
        };
      };
      description = "CPU and memory of each instance.";
    };
    parameters = mkOption {
      type = types.attrsOf types.str;
      default = { };
      description = "Settings of postgresql.conf.";
    };
  };

  assertions = config: [
    {
      assertion = config.owner != "postgres";
      message = "the owner may not be postgres, which is the superuser's name";
      hint = "leave owner out, or write owner = \"app\"";
    }
  ];

  build =
    config:
    let
      spread = lib.optionalAttrs (cluster.availability == "zone") {
        affinity = {
          enablePodAntiAffinity = true;
          podAntiAffinityType = "preferred";
          topologyKey = "topology.kubernetes.io/zone";
        };
      };
      secret = scope.mkSecret {
        inherit (scope) name;
        type = "kubernetes.io/basic-auth";
        keys = [ "password" ];
        # The operator takes the Secret only if this is the owner's name.
        fixed.username = config.owner;
      };
    in
    {
      cluster = scope.mkResource {
        apiVersion = "postgresql.cnpg.io/v1";
        kind = "Cluster";
        inherit (scope) name;
        # ConditionClusterReady of the operator's api/v1/cluster_types.go
        ready = "Ready";
        spec = {
          inherit (config) instances;
          # The operator's default for new clusters: pkg/versions/versions.go of v1.27.0.
          imageName = pins.image "postgresql" "ghcr.io/cloudnative-pg/postgresql:17.5";
          bootstrap.initdb = {
            inherit (config) database owner;
            secret = if config.secret == "generated" then { inherit (secret.out) name; } else null;
          };
          storage = {
            inherit (config.storage) size storageClass;
          };
          inherit (config) resources;
          postgresql = lib.optionalAttrs (config.parameters != { }) { inherit (config) parameters; };
          # One instance cannot be moved before its replacement is there.
          enablePDB = config.instances > 1;
        }
        // spread;
      };
    }
    // lib.optionalAttrs (config.secret == "generated") { inherit secret; };

  out =
    resources:
    let
      inherit (resources) cluster;
      # Written by the operator with these keys: docs/src/applications.md of v1.27.0.
      operatorSecret = {
        out = {
          name = "${cluster.out.name}-app";
          # With the reference to the Cluster, which makes the Secret.
          key = name: lib.substring 0 0 cluster.out.name + name;
        };
      };
      secret = resources.secret or operatorSecret;
      host = kind: "${cluster.out.name}-${kind}.${cluster.out.namespace}.svc.cluster.local";
      inherit (cluster.body.spec.bootstrap.initdb) database owner;
    in
    {
      fqdn = host "rw";
      readOnlyFqdn = host "ro";
      port = "5432";
      portNumber = 5432;
      inherit database owner;
      secretName = secret.out.name;
      inherit (secret.out) key;
      passwordKey = secret.out.key "password";
      usernameKey = secret.out.key "username";
    };
}
