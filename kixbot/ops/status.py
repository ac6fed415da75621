"""What runs now: the current record, its objects by package, and how many are up."""

from collections.abc import Mapping
from dataclasses import dataclass

from kixbot import readiness
from kixbot.cluster.crds import CRD
from kixbot.cluster.faults import ForbiddenError, KindNotServedError
from kixbot.cluster.interface import ApiKind, Cluster, ref_of
from kixbot.cluster.records import Records
from kixbot.errors import RefusedError
from kixbot.model.activation import DEFAULT_RECORD_NAMESPACE, Activation, RecordRow, cluster_label
from kixbot.model.resource import Body, Ref
from kixbot.ops.desired import is_held
from kixbot.ops.drift import find_drift, is_done_job
from kixbot.ops.observe import Observation
from kixbot.ops.parallel import each
from kixbot.readiness import Facts, State
from kixbot.readiness.custom import condition_of_siblings


@dataclass(frozen=True, slots=True, kw_only=True)
class ObjectStatus:
    """One object of the record. `state` "missing": it is not there any more; `reason` says what it waits for."""

    ref: Ref
    package: str | None
    state: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """`current` None: nothing was deployed yet. `open` are the records of stopped deploys.

    `drifted` counts objects that changed outside kix; those that are gone are among `objects`, as missing.
    """

    cluster: str
    current: Activation | None
    objects: tuple[ObjectStatus, ...] = ()
    open: tuple[Activation, ...] = ()
    holder: str = ""
    drifted: int = 0

    def packages(self) -> Mapping[str, tuple[int, int]]:
        """Ready and total by package, sorted."""
        found: dict[str, tuple[int, int]] = {}
        for one in self.objects:
            ready, total = found.get(one.package or "(manifests)", (0, 0))
            found[one.package or "(manifests)"] = (ready + int(one.state in ("ready", "passed")), total + 1)
        return dict(sorted(found.items()))


def status(cluster: Cluster, name: str, *, record_namespace: str = DEFAULT_RECORD_NAMESPACE) -> Status:
    """Read record and live objects: one LIST per kind of the record. Raises faults of the cluster."""
    discovery = cluster.discover(refresh=True)
    record = Records(cluster, cluster=name, namespace=record_namespace).read()
    rows = tuple(row for row in (record.current.rows if record.current else ()) if row.identity)
    kinds: dict[tuple[str, str], ApiKind] = {}
    for row in rows:
        kind = discovery.find_ref(row.ref, row.api_version)
        if kind is not None:
            kinds[row.ref.group, row.ref.kind] = kind
    ordered = tuple(kinds[key] for key in sorted(kinds))
    live: dict[Ref, Body] = {}
    facts: dict[tuple[str, str], Facts] = {}
    for kind, bodies in zip(ordered, each(lambda one: _held(cluster, one, name), ordered), strict=True):
        live.update({ref_of(body): body for body in bodies})
        condition = condition_of_siblings(bodies)
        facts[kind.group, kind.kind] = Facts(condition=condition, status=kind.has_status)
    seen = Observation(discovery=discovery, record=record, namespaces={}, live=live, rows=record.rows())
    return Status(
        cluster=name,
        current=record.current,
        objects=tuple(_judge(row, seen, facts) for row in rows),
        open=record.open,
        holder=record.lease.holder,
        drifted=sum(one.state != "deleted" for one in find_drift(seen).resources),
    )


def _held(cluster: Cluster, kind: ApiKind, name: str) -> tuple[Body, ...]:
    """Labelled objects that deploys wrote: labels are copied to children, field ownership is not."""
    try:
        listed = cluster.listing(kind, label_selector=cluster_label(name), metadata_only=kind.kind == CRD.kind)
    except (ForbiddenError, KindNotServedError):
        return ()
    return tuple(body for body in listed.items if is_held(body, name))


def _judge(row: RecordRow, seen: Observation, facts: Mapping[tuple[str, str], Facts]) -> ObjectStatus:
    body = seen.live.get(row.ref)
    if body is None and is_done_job(seen, row.ref):
        done = "completed; its time to live removed it"
        return ObjectStatus(ref=row.ref, package=row.package, state=State.PASSED.value, reason=done)
    if body is None:
        return ObjectStatus(ref=row.ref, package=row.package, state="missing")
    if row.ref.kind == CRD.kind and "status" not in body:
        return ObjectStatus(ref=row.ref, package=row.package, state=State.READY.value)
    found = readiness.judge(body, facts.get((row.ref.group, row.ref.kind), Facts()))
    return ObjectStatus(ref=row.ref, package=row.package, state=found.state.value, reason=found.reason)


def current_of(found: Status) -> Activation:
    """The current record. Raises RefusedError when nothing was deployed yet."""
    if found.current is None:
        raise RefusedError(f"cluster {found.cluster}: nothing was deployed yet", hint=f"kix deploy {found.cluster}")
    return found.current
