# Clusters whose identities are hard to get right: a list, each evaluated to its document and its activation.
kix:
let
  inherit (kix) lib;
  clusterOf =
    modules:
    let
      found = kix.buildCluster {
        name = "c";
        inherit modules;
      };
    in
    {
      inherit (found) document activation;
    };
  one = resource: clusterOf [ { resources.shop.ConfigMap.one = resource; } ];
  chain =
    length:
    { scope }:
    {
      name = "chain";
      build =
        _:
        let
          links = lib.listToAttrs (
            map (n: {
              name = "l${toString n}";
              value = scope.mkResource {
                kind = "ConfigMap";
                name = "l${toString n}";
                data.before = if n == 0 then "start" else links."l${toString (n - 1)}".out.name;
              };
            }) (lib.range 0 length)
          );
        in
        links;
    };
in
[
  (one { })
  (one {
    data = {
      quotes = "\" ' \\ / \${x}";
      white = "tab\tline\nreturn\r";
      control = builtins.fromJSON ''"\u0001\u001f\u007f"'';
      wide = "grün 日本 🎉 \u2028";
      empty = "";
      "key with space" = "x";
      "Z" = "before a";
      "é" = "after z";
    };
  })
  (one {
    spec = {
      list = [
        null
        [ ]
        { }
        { gone = null; kept = 1; }
      ];
      gone = null;
      nested = { gone = null; };
      integers = [
        0
        (-1)
        9223372036854775807
      ];
      numbers = map kix.number [
        "0.1"
        "-2.50"
        "3.0"
        "12345.678"
        "0.0001"
        "123456789012345"
      ];
      truth = [
        true
        false
      ];
    };
    status.ready = true;
  })
  (one { annotations."kix.run/cede" = "data.a"; })
  (one {
    annotations = {
      "kix.run/ignore" = "sec/x: why";
      kept = "yes";
    };
    metadata.creationTimestamp = null;
  })
  (clusterOf [
    {
      resources.shop.Secret.plain = {
        stringData.a = "secret";
        data.b = "c2VjcmV0";
        type = "Opaque";
      };
      resources.shop.Secret.empty = { };
      resources.shop.Widget.w = {
        apiVersion = "example.com/v1";
        stringData.kept = "x";
      };
      clusterResources.ClusterRole."system:thing" = {
        rules = [ ];
      };
      resources.shop.ConfigMap.${lib.concatStrings (lib.genList (_: "long") 60)} = { };
    }
  ])
  (clusterOf [ { instances.a.chain.package = chain 60; } ])
  (clusterOf [
    {
      instances.a.diamond.package =
        { scope }:
        {
          name = "diamond";
          build = _: rec {
            top = scope.mkConfigMap { name = "top"; };
            left = scope.mkConfigMap {
              name = "left";
              data.t = top.out.name;
            };
            right = scope.mkResource {
              kind = "ConfigMap";
              name = "right";
              after = [ top ];
            };
            both = scope.mkConfigMap {
              name = "both";
              data.x = "${left.out.name} ${right.out.name} ${left.out.name}";
            };
            server = scope.mkDeployment {
              name = "server";
              containers.c.image = "c:1";
            };
            service = scope.mkService {
              name = "server";
              "for" = server;
              ports.http = 80;
            };
            secret = scope.mkSecret {
              name = "login";
              keys = [ "password" ];
              fixed.username = "app";
            };
          };
        };
    }
  ])
]
