"""Opening a cluster: the embedded one, or a kubeconfig's context. Clients are imported here, when it happens."""

from collections.abc import Mapping
from pathlib import Path

from kixbot.cluster.interface import Cluster


def open_cluster(
    *, context: str | None, kubeconfig: str | None, embedded: Path | None, environment: Mapping[str, str]
) -> Cluster:
    """The cluster to work on.

    `embedded` is the folder of the embedded cluster (`KIX_EMBEDDED`), and wins. `kubeconfig` is what KUBECONFIG says,
    `environment` what exec plugins may see a part of. Raises ClusterError for a kubeconfig or context that is not
    there; an unreachable cluster shows at the first request.
    """
    if embedded is not None:
        from kixbot.cluster.memory import MemoryCluster  # noqa: PLC0415

        return MemoryCluster(embedded)
    from kixbot.cluster.kube import open_kube  # noqa: PLC0415

    return open_kube(context=context, kubeconfig=kubeconfig, environment=environment)
