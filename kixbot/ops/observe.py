"""What the cluster holds of a build and of its record, in as few requests as its size allows.

One GET per namespace, one LIST per kind by label, then what the LISTs lack by name, or by one metadata LIST where it
is much.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from kixbot.cluster.crds import CRD
from kixbot.cluster.faults import ForbiddenError, KindNotServedError, NotFoundError
from kixbot.cluster.interface import ApiKind, Cluster, Discovery, Listing, ref_of
from kixbot.cluster.records import NAMESPACE, Record, Records
from kixbot.model.activation import RecordRow, cluster_label
from kixbot.model.build import Build
from kixbot.model.resource import Body, Ref
from kixbot.ops.parallel import each

MANY: Final = 20  # more than this many of a kind are looked for by one LIST


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """`live` holds the objects of build and record that exist; `partial` those of them read as metadata only.

    `rows` are the record's rows that count, by object.
    """

    discovery: Discovery
    record: Record
    namespaces: Mapping[str, Body]
    live: Mapping[Ref, Body]
    rows: Mapping[Ref, tuple[RecordRow, ...]]
    partial: frozenset[Ref] = field(default_factory=frozenset)

    def kind_of(self, ref: Ref, api_version: str | None = None) -> ApiKind | None:
        """The kind as served, None when it is not."""
        return self.discovery.find_ref(ref, api_version)


def observe(build: Build, cluster: Cluster, *, record_namespace: str) -> Observation:
    """Read the cluster. Raises faults of the cluster; a kind that is not served has no objects."""
    name = build.cluster.name
    discovery = cluster.discover(refresh=True)
    record = Records(cluster, cluster=name, namespace=record_namespace).read()
    rows = record.rows()
    wanted = _wanted(build, rows)
    namespaces = _namespaces(cluster, {ref.namespace for ref in wanted if ref.namespace})
    kinds = _kinds(discovery, wanted)
    live: dict[Ref, Body] = {}
    partial: set[Ref] = set()
    listings = each(lambda kind: _labelled(cluster, kind, name, sorted(namespaces)), kinds)
    for kind, listing in zip(kinds, listings, strict=True):
        for body in listing.items:
            ref = ref_of({"apiVersion": kind.api_version, "kind": kind.kind, **body})
            if ref in wanted:
                live[ref] = body
                partial |= {ref} if kind.kind == CRD.kind else set()
    lacking = [ref for ref in wanted if ref not in live and (not ref.namespace or ref.namespace in namespaces)]
    live.update(_by_name(cluster, discovery, wanted, lacking))
    return Observation(
        discovery=discovery, record=record, namespaces=namespaces, live=live, rows=rows, partial=frozenset(partial)
    )


def _wanted(build: Build, rows: Mapping[Ref, tuple[RecordRow, ...]]) -> dict[Ref, str]:
    """Objects to look for, each with the apiVersion to read it at."""
    wanted = {ref: found[-1].api_version for ref, found in rows.items()}
    wanted.update((resource.ref, resource.api_version) for resource in build.resources)
    return wanted


def _kinds(discovery: Discovery, wanted: Mapping[Ref, str]) -> tuple[ApiKind, ...]:
    found = {discovery.find_ref(ref, version) for ref, version in wanted.items()}
    return tuple(sorted((kind for kind in found if kind is not None), key=lambda kind: (kind.group, kind.kind)))


def _namespaces(cluster: Cluster, names: Iterable[str]) -> dict[str, Body]:
    def read(name: str) -> Body | None:
        try:
            return cluster.get(NAMESPACE, name)
        except NotFoundError:
            return None
        except ForbiddenError:
            return {"metadata": {"name": name}}  # a tenant may use it without seeing it

    ordered = sorted(names)
    return {name: body for name, body in zip(ordered, each(read, ordered), strict=True) if body is not None}


def _labelled(cluster: Cluster, kind: ApiKind, name: str, namespaces: list[str]) -> Listing:
    """Objects with our label; where the whole cluster may not be listed, namespace by namespace."""
    label = cluster_label(name)
    metadata_only = kind.kind == CRD.kind
    try:
        return cluster.listing(kind, label_selector=label, metadata_only=metadata_only)
    except KindNotServedError:
        return Listing(items=(), resource_version="")
    except ForbiddenError:
        if not kind.namespaced:
            return Listing(items=(), resource_version="")
        items: list[dict[str, Any]] = []
        for namespace in namespaces:
            items += cluster.listing(kind, namespace=namespace, label_selector=label).items
        return Listing(items=tuple(items), resource_version="")


def _by_name(
    cluster: Cluster, discovery: Discovery, wanted: Mapping[Ref, str], lacking: Iterable[Ref]
) -> dict[Ref, Body]:
    groups: dict[tuple[ApiKind, str], list[Ref]] = defaultdict(list)
    for ref in lacking:
        kind = discovery.find_ref(ref, wanted[ref])
        if kind is not None:
            groups[kind, ref.namespace].append(ref)
    present = {
        (kind, ref) for (kind, namespace), refs in groups.items() for ref in _present(cluster, kind, namespace, refs)
    }
    asked = sorted(present, key=lambda pair: pair[1])
    bodies = each(lambda pair: find(cluster, pair[0], pair[1]), asked)
    return {ref: body for (_, ref), body in zip(asked, bodies, strict=True) if body is not None}


def _present(cluster: Cluster, kind: ApiKind, namespace: str, refs: list[Ref]) -> list[Ref]:
    if len(refs) <= MANY:
        return refs
    try:
        listed = cluster.listing(kind, namespace=namespace, metadata_only=True)
    except (ForbiddenError, KindNotServedError):
        return refs
    names = {body["metadata"]["name"] for body in listed.items}
    return [ref for ref in refs if ref.name in names]


def find(cluster: Cluster, kind: ApiKind, ref: Ref) -> dict[str, Any] | None:
    """One object by name, None when it is not there."""
    try:
        return cluster.get(kind, ref.name, ref.namespace)
    except (NotFoundError, KindNotServedError):
        return None
