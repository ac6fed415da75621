"""A snapshot: what kix owns in a cluster as it stands now, as a file to compare builds with. Holds no Secret value."""

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, Final

from kixbot.cluster.interface import Cluster
from kixbot.diff.baseline import Baseline
from kixbot.diff.ownership import project, value_at
from kixbot.diff.planner import plan as plan_of
from kixbot.errors import UsageError
from kixbot.identity import is_secret, without_values
from kixbot.model.activation import DEFAULT_RECORD_NAMESPACE
from kixbot.model.build import Build, ClusterFacts, Evaluated, SourceInfo
from kixbot.model.plan import Plan
from kixbot.model.resource import Body, Ref, Resource, split_api_version
from kixbot.ops.build import assemble
from kixbot.ops.desired import hash_of
from kixbot.ops.drift import applied_of, is_unmoved, observe_record

SCHEMA: Final = 1
KIND: Final = "kix snapshot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One object. `content` is the content hash of the manifest it was made from, where nothing drifted from it."""

    ref: Ref
    manifest: Body
    package: str | None = None
    cede: tuple[str, ...] = ()
    content: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """Everything the record lists that is still there."""

    cluster: str
    activation: str | None
    entries: tuple[Entry, ...] = ()


def take(cluster: Cluster, name: str, *, record_namespace: str = DEFAULT_RECORD_NAMESPACE) -> Snapshot:
    """Read the cluster: the requests of `kix drift`, and one for each CRD. Raises faults of the cluster."""
    seen = observe_record(cluster, name, record_namespace=record_namespace)
    current = seen.record.current
    entries = []
    for ref in sorted(seen.live):
        applied = applied_of(seen, ref)
        kind = None if applied is None else seen.kind_of(ref, applied.row.api_version)
        if applied is None or kind is None:
            continue
        live = cluster.get(kind, ref.name, ref.namespace) if ref in seen.partial else seen.live[ref]
        secret = is_secret(live)
        whole = not secret and is_unmoved(applied.row, live, None)
        entries.append(
            Entry(
                ref=ref,
                manifest=_manifest(live, applied.baseline),
                package=applied.row.package,
                cede=applied.row.cede,
                content=applied.row.content_hash if whole else None,
            )
        )
    return Snapshot(cluster=name, activation=None if current is None else current.name, entries=tuple(entries))


def _manifest(live: Body, baseline: Baseline) -> Body:
    """The fields kix owns, with what names the object."""
    found = deepcopy(project(live, baseline.paths))
    for path in baseline.empty:
        below = value_at(found, path)
        if isinstance(below, dict):
            below.clear()
    place = {key: live["metadata"][key] for key in ("name", "namespace") if live["metadata"].get(key)}
    metadata = {**(found.pop("metadata", None) or {}), **place}
    return without_values({"apiVersion": live["apiVersion"], "kind": live["kind"], "metadata": metadata, **found})


def encode(snapshot: Snapshot) -> str:
    """The document (`docs/schemas/snapshot.json`), in stable order."""
    document = {
        "schema": SCHEMA,
        "kind": KIND,
        "cluster": snapshot.cluster,
        "activation": snapshot.activation,
        "resources": [
            {
                "id": one.ref.id,
                "package": one.package,
                "cede": list(one.cede),
                "content": one.content,
                "manifest": one.manifest,
            }
            for one in snapshot.entries
        ],
    }
    return json.dumps(document, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def is_snapshot(text: str) -> bool:
    """Whether a file's text looks like one of `encode`."""
    return text.startswith("{") and f'"kind": "{KIND}"' in text


def decode(text: str, *, file: str) -> Snapshot:
    """Read a snapshot. Raises UsageError where it is none, or of a newer kix."""
    try:
        document = json.loads(text)
        if document.get("kind") != KIND or document.get("schema") != SCHEMA:
            raise UsageError(f"{file}: no snapshot that this kix reads", hint="kix snapshot CLUSTER -o FILE")
        return Snapshot(
            cluster=str(document["cluster"]),
            activation=document["activation"],
            entries=tuple(_entry(one) for one in document["resources"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise UsageError(f"{file}: a damaged snapshot", hint="kix snapshot CLUSTER -o FILE") from error


def _entry(document: Mapping[str, Any]) -> Entry:
    manifest = document["manifest"]
    metadata = manifest["metadata"]
    group, _ = split_api_version(str(manifest["apiVersion"]))
    ref = Ref(str(manifest["kind"]), group, str(metadata.get("namespace") or ""), str(metadata["name"]))
    return Entry(
        ref=ref,
        manifest=manifest,
        package=document["package"],
        cede=tuple(document["cede"]),
        content=document["content"],
    )


def diff_snapshot(snapshot: Snapshot, new: Build) -> Plan:
    """What changes from what stood in the cluster to a build. Values of Secrets, which are not here, are no change."""
    known = new.by_ref
    resources = tuple(_resource(entry, known.get(entry.ref), marked=new.evaluated.marked) for entry in snapshot.entries)
    evaluated = Evaluated(
        cluster=ClusterFacts(name=snapshot.cluster),
        source=SourceInfo(kind="manifests", path=""),
        resources=resources,
        packages=new.evaluated.packages,
        marked=new.evaluated.marked,
    )
    return replace(plan_of(assemble(evaluated), new), old_activation=snapshot.activation)


def _resource(entry: Entry, now: Resource | None, *, marked: bool) -> Resource:
    """The object as it was: the build's own where its content is the same, else as it stood, with its references."""
    if now is not None and entry.content == hash_of(now, None):
        return now
    manifest = entry.manifest
    if now is not None and is_secret(manifest):
        values = now.manifest.get("data") or {}
        # Keys made at apply belong to another manager, so that a snapshot cannot hold them.
        held = (*(manifest.get("data") or {}), *(key for key in now.generated if key in values))
        data = {key: values.get(key, "") for key in held}
        manifest = {**manifest, **({"data": data} if data else {})}
    before = Resource(
        ref=entry.ref,
        api_version=str(manifest["apiVersion"]),
        manifest=manifest,
        package=entry.package if marked and "(" not in (entry.package or "(") else None,
        cede=entry.cede,
    )
    if now is None:
        return before
    return replace(now, api_version=before.api_version, manifest=manifest, cede=entry.cede)
