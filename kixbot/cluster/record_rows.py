"""The rows of one record, read from its parts."""

from kixbot.cluster.interface import ApiKind, Cluster
from kixbot.cluster.parts import text_of, unpack
from kixbot.model.activation import ACTIVATION_LABEL, RecordRow

CONFIG_MAP = ApiKind(group="", version="v1", kind="ConfigMap", plural="configmaps", namespaced=True)


def parts_of(activation: str) -> str:
    """The label selector of a record's parts."""
    return f"{ACTIVATION_LABEL}={activation}"


def read_rows(edge: Cluster, activation: str, *, namespace: str) -> tuple[RecordRow, ...]:
    """Every row of a record, sorted by object: one LIST. Raises ClusterError when a part is damaged."""
    listed = edge.listing(CONFIG_MAP, namespace=namespace, label_selector=parts_of(activation))
    rows = (
        row
        for body in listed.items
        for row in unpack(text_of(body), what=f"ConfigMap {namespace}/{body['metadata']['name']}")
    )
    return tuple(sorted(rows, key=lambda row: row.ref))
