"""Retiring old records, and deleting what only they list.

The youngest by time of last activation stay, ten at least, and so do the current record and unfinished ones. Nothing is
deleted that a record which stays lists, or that another Kix cluster holds; the rest goes by the rules of pruning.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from kixbot.cluster.crds import ACTIVATION
from kixbot.cluster.faults import NotFoundError, StaleError
from kixbot.cluster.interface import Cluster, ref_of
from kixbot.cluster.locks import Lock
from kixbot.cluster.record_rows import read_rows
from kixbot.cluster.records import Record, Records
from kixbot.graph.waves import install_key
from kixbot.model.activation import DEFAULT_RECORD_NAMESPACE, Activation, RecordRow, record_manager
from kixbot.model.resource import Ref
from kixbot.ops.identity_check import cluster_identity, require_cluster
from kixbot.ops.leftovers import Leftover, delete, why_kept
from kixbot.ops.observe import Observation, find
from kixbot.ops.parallel import each

LEAST: Final = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Collection:
    """What a gc would do: records that go, and the objects that only they list, each with why it stays, if it does."""

    retired: tuple[Activation, ...] = ()
    leftovers: tuple[Leftover, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Collected:
    """One thing done: an object deleted (or kept, and why), or a record retired."""

    ref: Ref | None = None
    record: str | None = None
    kept: str | None = None


def plan(
    cluster: Cluster, name: str, *, keep: int = LEAST, record_namespace: str = DEFAULT_RECORD_NAMESPACE
) -> Collection:
    """What would go. Reads the parts of every record. Raises faults of the cluster."""
    record = Records(cluster, cluster=name, namespace=record_namespace).read()
    require_cluster(record, cluster_identity(cluster, record_namespace), name)
    retired, staying = split(record, keep=max(keep, LEAST))
    if not retired:
        return Collection()
    read = each(lambda one: read_rows(cluster, one.name, namespace=record_namespace), (*retired, *staying))
    gone, kept = read[: len(retired)], read[len(retired) :]
    listed = {row.ref for rows in kept for row in rows}
    uids = {row.uid for rows in kept for row in rows if row.uid}
    rows: dict[Ref, tuple[RecordRow, ...]] = {}
    for row in (row for one in gone for row in one):
        if row.ref not in listed:
            rows[row.ref] = (*rows.get(row.ref, ()), row)
    return Collection(retired=retired, leftovers=judged(cluster, name, record, rows, uids))


def split(record: Record, *, keep: int) -> tuple[tuple[Activation, ...], tuple[Activation, ...]]:
    """The records that go and those that stay. What was never active is as old as it is."""
    fixed = {one.name for one in record.counting}
    rest = sorted(
        (one for one in record.activations if one.name not in fixed),
        key=lambda one: (one.activated_at or one.created_at or "", one.name),
        reverse=True,
    )
    room = max(keep - len(fixed), 0)
    return tuple(reversed(rest[room:])), (*record.counting, *rest[:room])


def judged(
    cluster: Cluster, name: str, record: Record, rows: dict[Ref, tuple[RecordRow, ...]], uids: set[str]
) -> tuple[Leftover, ...]:
    """The objects of `rows` that are still there, each judged by the rules of pruning; one GET an object."""
    discovery = cluster.discover(refresh=True)
    kinds = {ref: discovery.find_ref(ref, found[-1].api_version) for ref, found in rows.items()}
    asked = [(ref, kind) for ref, kind in sorted(kinds.items()) if kind is not None]
    bodies = each(lambda pair: find(cluster, pair[1], pair[0]), asked)
    seen = Observation(discovery=discovery, record=record, namespaces={}, live={}, rows=rows)
    return tuple(
        Leftover(ref=ref, row=rows[ref][-1], kind=kind, live=body, kept=why_kept(seen, name, ref, body, uids))
        for (ref, kind), body in zip(asked, bodies, strict=True)
        if body is not None
    )


def collect(
    cluster: Cluster,
    name: str,
    collection: Collection,
    *,
    keep: int = LEAST,
    record_namespace: str = DEFAULT_RECORD_NAMESPACE,
    holder: str = "kix",
    wait: float = 0.0,
) -> Iterator[Collected]:
    """Do it, under the cluster's lock. What changed since it was planned is judged again.

    Raises RefusedError while a deploy runs, faults of the cluster.
    """
    with Lock(cluster, name=name, namespace=record_namespace, holder=holder, wait=wait):
        now = plan(cluster, name, keep=keep, record_namespace=record_namespace)
        wanted = {one.name for one in collection.retired}
        retired = tuple(one for one in now.retired if one.name in wanted)
        asked = {one.ref for one in collection.leftovers}
        for one in sorted(now.leftovers, key=lambda one: install_key(one.ref), reverse=True):
            if one.ref in asked:
                kept = one.kept or delete(cluster, one, name=name)
                yield Collected(ref=one.ref, kept=kept)
        for record in retired:
            remove_record(cluster, record, namespace=record_namespace)
            yield Collected(record=record.name)


def remove_record(cluster: Cluster, record: Activation, *, namespace: str) -> None:
    """Delete one record; its parts go with it. One that is gone already is fine."""
    try:
        cluster.delete(ACTIVATION, record.name, namespace=namespace, uid=record.uid)
    except (NotFoundError, StaleError):
        return


def orphan(cluster: Cluster, name: str, *, record_namespace: str = DEFAULT_RECORD_NAMESPACE) -> tuple[str, ...]:
    """Take the finalizers off records that are being deleted and that nobody finishes; gives their names."""
    listed = cluster.listing(ACTIVATION, namespace=record_namespace, label_selector=f"kix.run/cluster={name}")
    stuck = [one for one in listed.items if one["metadata"].get("deletionTimestamp")]
    freed = []
    for body in stuck:
        if body["metadata"].get("finalizers"):
            patch = {"metadata": {"finalizers": None, "uid": body["metadata"]["uid"]}}
            cluster.merge_patch(
                ACTIVATION, ref_of(body).name, patch, namespace=record_namespace, manager=record_manager(name)
            )
            freed.append(ref_of(body).name)
    return tuple(freed)
