# Amazon EKS with managed node groups and the add-ons that every new cluster gets (not Auto Mode).
{ lib, ... }:
let
  inherit (lib) mkDefault;
in
{
  cluster = {
    flavor = mkDefault "eks";
    # https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions.html
    kubernetesVersion = mkDefault "1.34";
    # A cluster needs subnets in at least two zones: https://docs.aws.amazon.com/eks/latest/userguide/network-reqs.html
    availability = mkDefault "zone";
    # Made with the cluster, and since 1.30 no longer the default class:
    # https://docs.aws.amazon.com/eks/latest/userguide/kubernetes-versions-standard.html
    storageClasses = mkDefault [ "gp2" ];
    priorityClasses = mkDefault [
      "system-cluster-critical"
      "system-node-critical"
    ];
    roles = {
      # Neither Karpenter nor the cluster autoscaler is there by itself.
      autoscaler.binding = mkDefault "absent";
      certificates.binding = mkDefault "absent";
      # The VPC CNI: https://docs.aws.amazon.com/eks/latest/userguide/managing-vpc-cni.html
      cni.binding = mkDefault "builtin";
      # CoreDNS: https://docs.aws.amazon.com/eks/latest/userguide/managing-coredns.html
      dns.binding = mkDefault "builtin";
      gateway.binding = mkDefault "absent";
      # The AWS Load Balancer Controller is installed by oneself:
      # https://docs.aws.amazon.com/eks/latest/userguide/aws-load-balancer-controller.html
      ingress.binding = mkDefault "absent";
      # The cloud controller of the control plane makes a Classic Load Balancer for a Service of type LoadBalancer:
      # https://docs.aws.amazon.com/eks/latest/userguide/network-load-balancing.html
      loadBalancer.binding = mkDefault "builtin";
      monitoring.binding = mkDefault "absent";
      # The VPC CNI enforces NetworkPolicy only where that is switched on:
      # https://docs.aws.amazon.com/eks/latest/userguide/cni-network-policy.html
      policy.binding = mkDefault "absent";
      # Volumes need the EBS CSI driver, an add-on one chooses:
      # https://docs.aws.amazon.com/eks/latest/userguide/ebs-csi.html
      storage.binding = mkDefault "external";
    };
  };
}
