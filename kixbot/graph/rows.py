"""A row of the edges table, and how it reads a reference out of a field."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any, NamedTuple

from kixbot.graph.walk import Raw, fields
from kixbot.model.build import EdgeKind
from kixbot.model.resource import Ref, Resource, split_api_version

POD = "pods"
"""The source of rows that hold for every pod spec, wherever a kind keeps it."""


class Scope(Enum):
    """Where a named object lives: in the namespace of who names it, nowhere, or where the map itself says."""

    OWN = "own"
    CLUSTER = "cluster"
    BESIDE = "beside"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind with its group."""

    name: str
    group: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One kind of reference: objects of kind `source` name one object of `target` in the fields `path`.

    `path` leads to a string, the name; where `typed` to a map with `name` and maybe `kind`, group and `namespace`,
    for which `target` is the default. `lenient`: an absent target is no fault, since others may supply it.
    """

    source: str
    path: str
    target: Kind
    scope: Scope = Scope.OWN
    edge: EdgeKind = EdgeKind.HARD
    typed: bool = False
    lenient: bool = False


class Named(NamedTuple):
    """What a field names: the object, where the name stands, whether its absence is allowed, and the row."""

    target: Ref
    raw: Raw
    optional: bool
    row: Row


_NO_OBJECTS = frozenset({"Group", "User"})
_CLUSTER_SCOPED = frozenset(
    {
        "APIService",
        "ClusterExternalSecret",
        "ClusterImageCatalog",
        "ClusterIssuer",
        "ClusterRole",
        "ClusterSecretStore",
        "ClusterTriggerAuthentication",
        "CustomResourceDefinition",
        "GatewayClass",
        "IngressClass",
        "Namespace",
        "Node",
        "PersistentVolume",
        "PriorityClass",
        "RuntimeClass",
        "StorageClass",
        "VolumeSnapshotContent",
    }
)
# Groups of kinds that are named without one, as older manifests do.
_GROUP_OF_KIND = {
    "DaemonSet": "apps",
    "Deployment": "apps",
    "ReplicaSet": "apps",
    "StatefulSet": "apps",
    "CronJob": "batch",
    "Job": "batch",
    "Role": "rbac.authorization.k8s.io",
    "ClusterRole": "rbac.authorization.k8s.io",
    "ConfigMap": "",
    "PersistentVolumeClaim": "",
    "Pod": "",
    "Secret": "",
    "Service": "",
    "ServiceAccount": "",
}


def read(row: Row, source: Resource, body: Any, raw: Raw) -> Iterator[Named]:
    """What `row` finds in `body`, which stands at `raw` in `source`. Values that are no names are skipped."""
    for field in fields(body, row.path, raw):
        if row.typed:
            yield from _typed(row, source, field.value, field.raw)
        elif _is_name(field.value):
            optional = field.parent.get("optional") is True
            namespace = _namespace(row.scope, source, field.parent)
            target = Ref(kind=row.target.name, group=row.target.group, namespace=namespace, name=field.value)
            yield Named(target, field.raw, optional, row)


def _typed(row: Row, source: Resource, value: Any, raw: Raw) -> Iterator[Named]:
    if not isinstance(value, Mapping) or not _is_name(value.get("name")):
        return
    kind = value.get("kind") or row.target.name
    if not isinstance(kind, str) or kind in _NO_OBJECTS:
        return
    scope = Scope.CLUSTER if kind in _CLUSTER_SCOPED else row.scope
    target = Ref(
        kind=kind, group=_group(row, kind, value), namespace=_namespace(scope, source, value), name=value["name"]
    )
    yield Named(target, (*raw, "name"), value.get("optional") is True, row)


def _group(row: Row, kind: str, value: Mapping[str, Any]) -> str:
    if isinstance(api_version := value.get("apiVersion"), str):
        return split_api_version(api_version)[0]
    for key in ("apiGroup", "group"):
        if isinstance(group := value.get(key), str):
            return split_api_version(group)[0] if "/" in group else group
    return row.target.group if kind == row.target.name else _GROUP_OF_KIND.get(kind, row.target.group)


def _namespace(scope: Scope, source: Resource, beside: Mapping[str, Any]) -> str:
    if scope is Scope.CLUSTER:
        return ""
    namespace = beside.get("namespace") if scope is Scope.BESIDE else None
    return namespace if isinstance(namespace, str) and namespace else source.ref.namespace


def _is_name(value: Any) -> bool:
    # `$(VAR)` is filled in by the kubelet.
    return isinstance(value, str) and value != "" and "$(" not in value
