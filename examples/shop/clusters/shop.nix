{ kix, packages }:
kix.buildCluster {
  name = "shop";
  modules = [
    kix.flavors.eks
    {
      availablePackages = packages;
      pins = kix.readPins ../pins.json;

      instances.shop.db = {
        package = packages.cnpg-cluster;
        config.instances = 2;
      };
      instances.shop.web = {
        package = import ../web.nix;
        config = {
          replicas = 3;
          hostname = "shop.example.com";
        };
      };
      instances.monitoring.grafana.package = packages.grafana;

      # The kinds of the Gateway API are ours; the Gateway belongs to the team that runs the network.
      instances.gateway-system.gateway-api.package = packages.gateway-api;
      cluster.roles.gateway.binding = "external";
      externals = [
        (kix.untrackedRef {
          kind = "Gateway";
          group = "gateway.networking.k8s.io";
          name = "public";
          namespace = "gateway-system";
        })
      ];
    }
  ];
}
