"""Is this the cluster, and are we the repository, that the record names?"""

import re

from kixbot.cluster.faults import ForbiddenError, NotFoundError
from kixbot.cluster.interface import Cluster
from kixbot.cluster.records import NAMESPACE, Record
from kixbot.errors import RefusedError
from kixbot.model.activation import Activation
from kixbot.model.build import Build


def cluster_identity(cluster: Cluster, record_namespace: str) -> str:
    """The UID of kube-system; for those who may not see it, of the record namespace; "" when neither is there."""
    for name in ("kube-system", record_namespace):
        try:
            return str(cluster.get(NAMESPACE, name)["metadata"]["uid"])
        except (ForbiddenError, NotFoundError):
            continue
    return ""


def require_same_cluster(build: Build, record: Record, uid: str) -> None:
    """Raise RefusedError where the record was made in another cluster or by another repository."""
    known = _known(record)
    if known is None:
        return
    name = build.cluster.name
    require_cluster(record, uid, name)
    ours = build.evaluated.source.remote
    if known.repository and same_repository(known.repository) != same_repository(ours or ""):
        raise RefusedError(
            f"cluster {name}: deployed from {known.repository}, not from {ours or 'this folder'}",
            hint="deploy from that repository, or hand the cluster over with --take-over",
        )


def require_cluster(record: Record, uid: str, name: str) -> None:
    """Raise RefusedError where the record was made in another cluster than the one with this identity."""
    known = _known(record)
    if known is not None and known.cluster_uid and known.cluster_uid != uid:
        raise RefusedError(
            f"cluster {name}: the record was made in another cluster (kube-system {known.cluster_uid}, here {uid})",
            hint="check --context; a deploy with --take-over accepts this cluster as the new one",
        )


def _known(record: Record) -> Activation | None:
    return record.current or (record.activations[-1] if record.activations else None)


def same_repository(remote: str) -> str:
    """A remote without scheme, credentials, port of ssh and `.git`, so that https and ssh read alike."""
    text = re.sub(r"^[a-z+]+://", "", remote.strip())
    text = re.sub(r"^[^/@]*@", "", text)
    text = re.sub(r"^([^/:]+):(\d+/)?(?!/)", r"\1/", text)
    return text.removesuffix("/").removesuffix(".git").lower()
