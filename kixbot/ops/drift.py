"""Drift: what differs in the cluster from what kix applied, from what was read already. No request of its own.

The ladder: a resourceVersion that is the recorded one is clean; else what another manager changed or removed has left
kix's set of owned fields, so that set against the recorded one names every field; else the order of lists where order
matters. Values that moved while kix still holds every field are no drift: an apply that was cut off before its
bookkeeping, or defaults that a newer API server adds.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from kixbot.cluster.interface import Cluster
from kixbot.diff.baseline import (
    Baseline,
    decode,
    fingerprint,
    is_absent,
    ordered_lists,
    same_values,
    topmost,
)
from kixbot.diff.fields import ABSENT, Name, Path, Paths, canonical, value_at
from kixbot.diff.ownership import Holder, find_entry, holders, is_ceded, owned_paths
from kixbot.diff.shown import shown_path
from kixbot.errors import ClusterError
from kixbot.identity import is_secret
from kixbot.model.activation import FIELD_MANAGER, RecordRow
from kixbot.model.build import Build
from kixbot.model.drift import Drift, FieldDrift, Known, Order, ResourceDrift, Shown, Unknown
from kixbot.model.resource import Body, Ref, Resource
from kixbot.ops.additions import additions_of, has_people
from kixbot.ops.desired import hash_of
from kixbot.ops.nothing import nothing
from kixbot.ops.observe import Observation, observe

_TTL: Final[Path] = (Name("spec"), Name("ttlSecondsAfterFinished"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """What a record says of one object. `known`: its resources in the builds at hand; `key`: that of Secret hashes."""

    row: RecordRow
    known: tuple[Resource, ...] = ()
    key: bytes | None = None

    @property
    def baseline(self) -> Baseline:
        """What kix owned after its write. Raises ClusterError where the record is damaged."""
        try:
            return decode(self.row.owned)
        except (ValueError, AttributeError, RecursionError) as error:
            raise ClusterError(
                f"{self.row.ref.plain}: its row in the record is damaged", hint="deploy again"
            ) from error

    @property
    def resource(self) -> Resource | None:
        """The resource whose content is the recorded one, None where no build at hand has it."""
        return next((one for one in self.known if hash_of(one, self.key) == self.row.content_hash), None)


def find_drift(seen: Observation, builds: Iterable[Build] = ()) -> Drift:
    """The drift of everything the record lists. `builds` are where applied values are looked up.

    A build counts for an object when its content there is the recorded one. Pure but for what `seen` holds.
    """
    known: dict[Ref, list[Resource]] = {}
    for build in builds:
        for resource in build.resources:
            known.setdefault(resource.ref, []).append(resource)
    resources, additions = [], []
    for ref in sorted(seen.rows):
        live = seen.live.get(ref)
        if live is not None and _is_clean(seen, ref, live) and not has_people(live):
            continue
        applied = applied_of(seen, ref, known.get(ref, ()))
        if applied is None:
            continue
        found = _absent(seen, applied) if live is None else _compare(seen, applied, live)
        resources += [found] if found is not None else []
        added = None if live is None else additions_of(applied.row, applied.baseline, live, applied.resource)
        additions += [added] if added is not None else []
    return Drift(resources=tuple(resources), additions=tuple(additions))


def _is_clean(seen: Observation, ref: Ref, live: Body) -> bool:
    """The object and the version of it that a record knows."""
    metadata = live["metadata"]
    return any(
        row.resource_version == metadata["resourceVersion"] and row.uid == metadata["uid"]
        for row in seen.rows[ref]
        if row.value_hash
    )


def applied_of(seen: Observation, ref: Ref, known: Sequence[Resource] = ()) -> Applied | None:
    """The last apply that the record knows of an object of the build; None where there was none."""
    rows = [row for row in seen.rows.get(ref, ()) if row.identity and row.value_hash]
    if not rows:
        return None
    return Applied(row=rows[-1], known=tuple(known), key=seen.record.key)


def _absent(seen: Observation, applied: Applied) -> ResourceDrift | None:
    """A deploy makes what is gone anew, but for a Job that its own time to live has removed when it was done."""
    ref = applied.row.ref
    if is_done_job(seen, ref):
        return None
    return ResourceDrift(ref=ref, package=applied.row.package, state="deleted")


def is_done_job(seen: Observation, ref: Ref, content: str | None = None) -> bool:
    """Whether a Job that is gone had completed: its record became current, and it had a time to live.

    With `content` (a content hash) also whether that is what every record says of it.
    """
    if content is not None and any(row.content_hash != content for row in seen.rows.get(ref, ())):
        return False
    current = seen.record.current
    if (ref.kind, ref.group) != ("Job", "batch") or current is None or ref in seen.live:
        return False
    row = next((row for row in current.rows if row.ref == ref and row.identity and row.owned), None)
    return row is not None and _TTL in decode(row.owned).paths


def _compare(seen: Observation, applied: Applied, live: Body) -> ResourceDrift | None:
    row, baseline = applied.row, applied.baseline
    rows = seen.rows[row.ref]
    if _is_clean(seen, row.ref, live):
        return None
    if live["metadata"]["uid"] != row.uid:
        interrupted = find_entry(live, FIELD_MANAGER) is not None and any(not one.value_hash for one in rows)
        return None if interrupted else ResourceDrift(ref=row.ref, package=row.package, state="replaced")
    disowned = _is_disowned(baseline, live)
    found = _fields(seen, applied, live)
    fields = tuple(field for field in found if not disowned or field.kind != "ownership")
    if not fields and not disowned:
        return None
    return ResourceDrift(ref=row.ref, package=row.package, state="disowned" if disowned else "changed", fields=fields)


def _is_disowned(baseline: Baseline, live: Body) -> bool:
    """Whether the record of field managers was reset: kix holds nothing, and nobody else what kix applied."""
    return (
        bool(baseline.paths)
        and find_entry(live, FIELD_MANAGER) is None
        and not any(holders(live, path) for path in baseline.paths)
        and not all(is_absent(live, path) for path in baseline.paths)
    )


def is_unmoved(row: RecordRow, body: Body, key: bytes | None) -> bool:
    """Whether an object that was just written still has every field, value and order of the baseline."""
    if not row.value_hash or row.uid != body["metadata"]["uid"]:
        return False
    baseline = decode(row.owned)
    if not baseline.paths <= owned_paths(body, FIELD_MANAGER):
        return False
    return fingerprint(body, baseline, key if _is_secret(row) else None) == row.value_hash


def _fields(seen: Observation, applied: Applied, live: Body) -> list[FieldDrift]:
    baseline, row = applied.baseline, applied.row
    owned = owned_paths(live, FIELD_MANAGER)
    lost = frozenset(path for path in baseline.paths - owned if not _is_left(path, row.cede))
    partial = row.ref in seen.partial
    print_now = "" if partial else fingerprint(live, baseline, seen.record.key if _is_secret(row) else None)
    keyless = _is_secret(row) and seen.record.key is None
    unmoved = not partial and not keyless and same_values(print_now, row.value_hash)
    resource = applied.resource if lost or print_now != row.value_hash else None
    manifest = None if resource is None else resource.manifest
    found = [
        _field(row, manifest, live, path, unmoved=unmoved, partial=partial)
        for path in _reported(lost, live, partial=partial)
    ]
    if not lost and unmoved and print_now != row.value_hash:
        found += _reordered(baseline, manifest, live)
    return found


def _is_left(path: Path, cede: tuple[str, ...]) -> bool:
    """Whether the build left the field to others. A path in the record that is none leaves nothing."""
    for one in cede:
        try:
            if is_ceded(path, one):
                return True
        except ValueError:
            continue
    return False


def _reported(lost: Paths, live: Body, *, partial: bool) -> tuple[Path, ...]:
    """Of a list item that is gone the item alone, not each of its fields; of one that is there, its fields."""
    if partial:
        return topmost(lost)
    gone = frozenset(path for path in lost if is_absent(live, path))
    there = lost - gone
    leaves = {path for path in there if not any(other[: len(path)] == path and other != path for other in there)}
    return topmost(gone) + tuple(sorted(leaves, key=shown_path))


def _field(
    row: RecordRow, manifest: Body | None, live: Body, path: Path, *, unmoved: bool, partial: bool
) -> FieldDrift:
    hidden = _is_secret(row) and path[:1] in ((Name("data"),), (Name("stringData"),))
    before = ABSENT if manifest is None else value_at(manifest, path)
    sent: Shown = Unknown.SECRET if hidden else Unknown.UNAVAILABLE if before is ABSENT else Known(value=before)
    now = value_at(live, path)
    holder = latest(holders(live, path, but=FIELD_MANAGER))
    if partial and not _in_metadata(path):
        return _held(path, "changed", sent, Unknown.UNREAD, holder)
    if now is ABSENT:
        return FieldDrift(path=shown_path(path), kind="removed", applied=sent, live=Unknown.REMOVED)
    shown: Shown = Unknown.SECRET if hidden else Known(value=now)
    same = unmoved or (before is not ABSENT and canonical(before) == canonical(now))
    return _held(path, "ownership" if same else "changed", sent, shown, holder)


def _held(path: Path, kind: Any, applied: Shown, live: Shown, holder: Holder | None) -> FieldDrift:
    return FieldDrift(
        path=shown_path(path),
        kind=kind,
        applied=applied,
        live=live,
        manager=None if holder is None else holder.manager,
        subresource=None if holder is None else holder.subresource,
        time=None if holder is None else holder.time,
    )


def latest(found: Sequence[Holder]) -> Holder | None:
    """Who wrote last. Entries without a time are taken to be older than those with one."""
    return max(found, key=lambda holder: holder.time or "", default=None)


def _in_metadata(path: Path) -> bool:
    return path[:1] == (Name("metadata"),)


def _reordered(baseline: Baseline, manifest: Body | None, live: Body) -> list[FieldDrift]:
    """Lists whose items are as applied, in another order. Who did it is not recorded: no field was changed."""
    now = ordered_lists(live, baseline)
    before = {} if manifest is None else ordered_lists(manifest, baseline)
    return [
        FieldDrift(
            path=shown_path(path),
            kind="reordered",
            applied=Order(keys=before[path]) if path in before else Unknown.UNAVAILABLE,
            live=Order(keys=now[path]),
        )
        for path in sorted(now, key=shown_path)
        if manifest is None or before.get(path) != now[path]
    ]


def _is_secret(row: RecordRow) -> bool:
    return is_secret({"apiVersion": row.api_version, "kind": row.ref.kind})


def baselines(seen: Observation, refs: Iterable[Ref]) -> Mapping[Ref, Baseline]:
    """The recorded baseline of each of these objects that was applied."""
    found = {ref: applied_of(seen, ref) for ref in refs}
    return {ref: applied.baseline for ref, applied in found.items() if applied is not None}


def observe_record(cluster: Cluster, name: str, *, record_namespace: str) -> Observation:
    """What the cluster holds of its record: the requests of a plan whose build has nothing. Raises faults."""
    return observe(nothing(name), cluster, record_namespace=record_namespace)
