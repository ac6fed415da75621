"""The edge to clusters: interface, the kubernetes client's one room, the embedded cluster, records and locks."""
