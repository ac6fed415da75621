"""The CRDs of kix: as documents, and into a cluster."""

import json

from kixbot.cluster.crds import CRDS, install_crds
from kixbot.cluster.interface import Cluster


def documents() -> str:
    """All CRDs as one JSON List, which kubectl takes as it is."""
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(CRDS)}, indent=2)


def install(cluster: Cluster) -> tuple[str, ...]:
    """Apply them and wait until they are served; gives their names. Raises faults of the cluster."""
    return install_crds(cluster)
