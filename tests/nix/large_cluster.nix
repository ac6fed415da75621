# A cluster of many instances in ten namespaces; each but the first refers to the one before it.
kix: instances:
let
  inherit (kix) lib;
  package =
    {
      scope,
      lib,
      pins,
      previous ? null,
    }:
    {
      name = "part";
      version = "1.0.0";
      provides = [ "part" ];
      options.replicas = lib.mkOption {
        type = lib.types.ints.positive;
        default = 1;
      };
      build =
        config:
        let
          server = scope.mkDeployment {
            name = scope.name;
            inherit (config) replicas;
            containers.main = {
              image = pins.image "part" "example.com/part:1";
              env = lib.optional (previous != null) {
                name = "PREVIOUS";
                value = "http://${previous.fqdn}/";
              };
              ports = [
                {
                  name = "http";
                  containerPort = 8080;
                }
              ];
            };
          };
        in
        {
          inherit server;
          service = scope.mkService {
            name = scope.name;
            "for" = server;
            ports.http = 80;
          };
          configs = lib.listToAttrs (
            lib.genList (
              n:
              lib.nameValuePair "c${toString n}" (
                scope.mkConfigMap {
                  name = "${scope.name}-${toString n}";
                  data.text = "part ${toString n} of ${server.out.name}";
                }
              )
            ) 13
          );
        };
      out = resources: { inherit (resources.service.out) fqdn; };
    };
  namespaceOf = n: "n${toString (n - (n / 10) * 10)}";
  idOf = n: "${namespaceOf n}/i${toString n}";
in
(kix.buildCluster {
  name = "large";
  modules = lib.genList (n: {
    instances.${namespaceOf n}."i${toString n}" = {
      inherit package;
      config.replicas = 2;
      deps.previous = if n == 0 then null else idOf (n - 1);
    };
  }) instances;
}).document
