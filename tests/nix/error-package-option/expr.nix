# Options of packages are checked below the instance they belong to.
{ cluster, packages, ... }:
(cluster [
  {
    instances.monitoring.grafana = {
      package = packages.grafana;
      config.replica = 3;
    };
  }
]).document
