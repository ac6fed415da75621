# Nothing is known but what every control plane has: whatever a role needs is taken to be there, outside of the build.
{ lib, ... }:
let
  inherit (lib) mkDefault;
in
{
  cluster = {
    flavor = mkDefault "generic";
    kubernetesVersion = mkDefault "1.34";
    # Made by every API server: https://kubernetes.io/docs/tasks/administer-cluster/guaranteed-scheduling-critical-addon-pods/
    priorityClasses = mkDefault [
      "system-cluster-critical"
      "system-node-critical"
    ];
    roles = {
      autoscaler.binding = mkDefault "external";
      certificates.binding = mkDefault "external";
      cni.binding = mkDefault "external";
      dns.binding = mkDefault "external";
      gateway.binding = mkDefault "external";
      ingress.binding = mkDefault "external";
      loadBalancer.binding = mkDefault "external";
      monitoring.binding = mkDefault "external";
      policy.binding = mkDefault "external";
      storage.binding = mkDefault "external";
    };
  };
}
