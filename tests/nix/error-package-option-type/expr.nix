{ cluster, packages, ... }:
(cluster [
  {
    instances.monitoring.grafana = {
      package = packages.grafana;
      config.replicas = "3";
    };
  }
]).document
