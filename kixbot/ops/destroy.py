"""Taking a whole cluster's objects away: what a deploy of nothing would delete, its records, its Lease.

Namespaces and CRDs stay with what is in them, and so does what another Kix cluster holds; both lose our label.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

from kixbot.cluster.faults import NotFoundError, RequestError
from kixbot.cluster.interface import Cluster
from kixbot.cluster.locks import LEASE, Lock
from kixbot.cluster.record_rows import read_rows
from kixbot.cluster.records import Record, Records
from kixbot.errors import RefusedError
from kixbot.graph.waves import install_key
from kixbot.model.activation import DEFAULT_RECORD_NAMESPACE, RecordRow, record_manager
from kixbot.model.resource import BUILTIN_GROUPS, Ref
from kixbot.ops.desired import is_held, other_clusters
from kixbot.ops.gc import Collected, judged, remove_record
from kixbot.ops.identity_check import cluster_identity, require_cluster
from kixbot.ops.leftovers import Leftover, delete
from kixbot.ops.observe import find
from kixbot.retry import Clock

GONE_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Destruction:
    """Every object of the records, each with why it stays, if it does."""

    record: Record
    leftovers: tuple[Leftover, ...]


def plan(
    cluster: Cluster,
    name: str,
    *,
    record_namespace: str = DEFAULT_RECORD_NAMESPACE,
    keep_objects: bool = False,
) -> Destruction:
    """What would go. Raises RefusedError where there is no record, faults of the cluster."""
    record = Records(cluster, cluster=name, namespace=record_namespace).read()
    require_cluster(record, cluster_identity(cluster, record_namespace), name)
    if not record.activations:
        raise RefusedError(f"cluster {name}: nothing was deployed, or it was destroyed already")
    rows: dict[Ref, tuple[RecordRow, ...]] = {}
    for activation in record.activations:
        for row in read_rows(cluster, activation.name, namespace=record_namespace):
            rows[row.ref] = (*rows.get(row.ref, ()), row)
    found = judged(cluster, name, record, rows, set())
    if keep_objects:
        found = tuple(replace(one, kept=one.kept or "left in place") for one in found)
    return Destruction(record=record, leftovers=found)


def destroy(
    cluster: Cluster,
    name: str,
    *,
    record_namespace: str = DEFAULT_RECORD_NAMESPACE,
    holder: str = "kix",
    keep_objects: bool = False,
    clock: Clock | None = None,
) -> Iterator[Collected]:
    """Do it, under the cluster's lock: custom resources first, and the rest when they are gone.

    With `keep_objects` no object is deleted: they stay as they are and are no longer tracked, for another tool to take.

    Raises RefusedError while a deploy runs, or where custom resources do not go, faults of the cluster.
    """
    time = clock or Clock()
    with Lock(cluster, name=name, namespace=record_namespace, holder=holder):
        found = plan(cluster, name, record_namespace=record_namespace, keep_objects=keep_objects)
        ordered = sorted(found.leftovers, key=lambda one: install_key(one.ref), reverse=True)
        custom = [one for one in ordered if one.ref.group not in BUILTIN_GROUPS]
        for one in custom:
            yield _one(cluster, name, one)
        _await_gone(cluster, name, [one for one in custom if one.kept is None], time)
        for one in ordered:
            if one not in custom:
                yield _one(cluster, name, one)
        for record in found.record.activations:
            remove_record(cluster, record, namespace=record_namespace)
            yield Collected(record=record.name)
    _drop_lease(cluster, name, record_namespace)


def _one(cluster: Cluster, name: str, one: Leftover) -> Collected:
    kept = one.kept or delete(cluster, one, name=name)
    if kept is not None and is_held(one.live, name):
        _let_go(cluster, name, one)
        others = other_clusters(one.live, name)
        kept = f"{kept}; left to cluster {others[0]}" if others else f"{kept}; no longer tracked"
    return Collected(ref=one.ref, kept=kept)


def _let_go(cluster: Cluster, name: str, one: Leftover) -> None:
    """Take our label and annotations off: an apply of nothing by the manager that made them."""
    metadata = {"name": one.ref.name, "uid": one.live["metadata"]["uid"]}
    if one.ref.namespace:
        metadata["namespace"] = one.ref.namespace
    body = {"apiVersion": one.kind.api_version, "kind": one.ref.kind, "metadata": metadata}
    try:
        cluster.apply(one.kind, body, manager=record_manager(name), force=True)
    except NotFoundError:
        return


def _await_gone(cluster: Cluster, name: str, deleted: list[Leftover], clock: Clock) -> None:
    """An operator has to be there while its custom resources go, so it is deleted after them."""
    deadline = clock.now() + GONE_SECONDS
    left = deleted
    while left:
        left = [one for one in left if _is_there(cluster, one)]
        if left and clock.now() >= deadline:
            raise RefusedError(
                f"cluster {name}: {left[0].ref.plain} does not go; a finalizer keeps it",
                hint="is its operator up? then kix destroy again",
            )
        if left:
            clock.sleep(0.5)


def _is_there(cluster: Cluster, one: Leftover) -> bool:
    live = find(cluster, one.kind, one.ref)
    return live is not None and live["metadata"]["uid"] == one.live["metadata"]["uid"]


def _drop_lease(cluster: Cluster, name: str, namespace: str) -> None:
    try:
        live = cluster.get(LEASE, name, namespace)
        cluster.delete(LEASE, name, namespace=namespace, uid=live["metadata"]["uid"])
    except RequestError:
        return
