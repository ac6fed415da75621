# An unknown option of the cluster suggests the nearest, with the place in the definition.
{ cluster, ... }:
(cluster [ { cluster.kubernetesVersoin = "1.34"; } ]).document
