# kind: Kubernetes in containers on one machine, as `kind create cluster` leaves it.
{ lib, ... }:
let
  inherit (lib) mkDefault;
in
{
  cluster = {
    flavor = mkDefault "kind";
    # kindest/node:v1.34.0 is the default of kind 0.30: https://github.com/kubernetes-sigs/kind/releases/tag/v0.30.0
    kubernetesVersion = mkDefault "1.34";
    # One node unless a configuration lists more: https://kind.sigs.k8s.io/docs/user/configuration/#nodes
    nodes = mkDefault 1;
    availability = mkDefault "none";
    # rancher.io/local-path under the name "standard", the default class:
    # https://github.com/kubernetes-sigs/kind/tree/main/images/local-path-provisioner
    storageClasses = mkDefault [ "standard" ];
    priorityClasses = mkDefault [
      "system-cluster-critical"
      "system-node-critical"
    ];
    roles = {
      # Nodes do not grow.
      autoscaler.binding = mkDefault "absent";
      certificates.binding = mkDefault "absent";
      # kindnet: https://kind.sigs.k8s.io/docs/user/configuration/#disable-default-cni
      cni.binding = mkDefault "builtin";
      # CoreDNS, by kubeadm.
      dns.binding = mkDefault "builtin";
      gateway.binding = mkDefault "absent";
      # Needs a controller of one's own: https://kind.sigs.k8s.io/docs/user/ingress/
      ingress.binding = mkDefault "absent";
      # cloud-provider-kind runs beside kind and must be started: https://kind.sigs.k8s.io/docs/user/loadbalancer/
      loadBalancer.binding = mkDefault "absent";
      monitoring.binding = mkDefault "absent";
      # kindnet enforces NetworkPolicy since kind 0.24: https://github.com/kubernetes-sigs/kind/releases/tag/v0.24.0
      policy.binding = mkDefault "builtin";
      storage.binding = mkDefault "builtin";
    };
  };
}
