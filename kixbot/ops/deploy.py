"""Deploy: the plan carried out in waves, as a stream of events, with a record before the first object.

Nothing is written before the build is known to be good, the plan is confirmed, the cluster is the one the record
names, and the Lease is held. The record and its parts stand, as Applying, before the first object does.
"""

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime

from kixbot.cluster.crds import install_crds, missing_crds
from kixbot.cluster.interface import Cluster
from kixbot.cluster.locks import Lock
from kixbot.cluster.records import Records
from kixbot.errors import DeployFailedError, RefusedError
from kixbot.graph.waves import install_key
from kixbot.model.activation import DEFAULT_RECORD_NAMESPACE, Hold, Phase
from kixbot.model.build import Build
from kixbot.model.plan import Plan
from kixbot.ops.apply import Target
from kixbot.ops.events import Conflicted, Event, Finished, Installed, Kept, Planned, Pruned, Recorded
from kixbot.ops.hold import require_no_hold
from kixbot.ops.identity_check import cluster_identity, require_same_cluster
from kixbot.ops.journal import Journal
from kixbot.ops.leftovers import delete
from kixbot.ops.plan import LivePlan, live_plan
from kixbot.ops.receipt import Provenance, receipt_of
from kixbot.ops.run_waves import CONFLICT_HINT, RunWaves, StoppedError
from kixbot.ops.takeover import Adoption
from kixbot.ops.trackers import require_released
from kixbot.retry import Clock


@dataclass(frozen=True, slots=True, kw_only=True)
class DeployOptions:
    """What people may ask of a deploy. Times are seconds: `timeout` per wave, `total_timeout` for all waves.

    `current_activation`: refuse when another record is current. `lock_wait`: how long to wait for another deploy.
    `holder` says who deploys, unique to the process. `reconcile`: also put drifted fields back; `adopt`: whose fields
    become those of kix. `hold`: what refuses later deploys when this one is done; `through_hold`: do not refuse for
    one that stands.
    """

    record_namespace: str = DEFAULT_RECORD_NAMESPACE
    prune: bool = False
    timeout: float = 600.0
    total_timeout: float = 3600.0
    current_activation: str | None = None
    take_over: bool = False
    force_conflicts: bool = False
    allow_plain_secrets: bool = False
    reconcile: bool = False
    adopt: tuple[Adoption, ...] = ()
    hold: Hold | None = None
    through_hold: bool = False
    lock_wait: float = 0.0
    holder: str = "kix"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One deploy's fixed parts."""

    build: Build
    cluster: Cluster
    options: DeployOptions
    who: Provenance
    confirm: Callable[[Plan], bool]
    clock: Clock = field(default_factory=Clock)

    @property
    def records(self) -> Records:
        return Records(self.cluster, cluster=self.build.cluster.name, namespace=self.options.record_namespace)

    def now(self) -> datetime:
        return datetime.fromtimestamp(self.clock.now(), UTC)


def deploy(
    build: Build,
    cluster: Cluster,
    *,
    options: DeployOptions,
    who: Provenance,
    confirm: Callable[[Plan], bool],
    clock: Clock | None = None,
) -> Iterator[Event]:
    """Deploy a checked build. Yields events; `confirm` gets the plan and says whether to go on.

    Raises RefusedError before any write (not confirmed, another current activation, another cluster, locked),
    DeployFailedError after a stopped deploy (its Failed or Conflicted event comes first), faults of the cluster.
    Interrupted, it finishes the requests in flight, marks the record and lets go of the lock.
    """
    run = _Run(build=build, cluster=cluster, options=options, who=who, confirm=confirm, clock=clock or Clock())
    live, uid = yield from _plan(run)
    run.records.ensure_namespace()
    if missing_crds(cluster):
        for name in install_crds(cluster):
            yield Installed(name=name)
    lock = Lock(
        cluster,
        name=build.cluster.name,
        namespace=options.record_namespace,
        holder=options.holder,
        wait=options.lock_wait,
        now=run.now,
    )
    with lock:
        uid = uid or cluster_identity(cluster, options.record_namespace)  # its namespace may be new
        if _has_moved(run, live, lock):
            # Another deploy ended between the plan and the lock: what was confirmed is no longer what would happen.
            live, uid = yield from _plan(run)
        yield from _locked(run, live, lock, uid)


def _plan(run: _Run) -> Generator[Event, None, tuple[LivePlan, str]]:
    """Plan, refuse what may not be, ask. Gives the plan and the cluster's identity; writes nothing."""
    live = live_plan(
        run.build,
        run.cluster,
        record_namespace=run.options.record_namespace,
        allow_plain_secrets=run.options.allow_plain_secrets,
        reconcile=run.options.reconcile,
        adopt=run.options.adopt,
    )
    yield Planned(plan=live.plan)
    uid = cluster_identity(run.cluster, run.options.record_namespace)
    _refuse(run, live, uid)
    require_released(live.plan.trackers)
    yield from _refuse_conflicts(run, live)
    if not run.confirm(live.plan):
        name = run.build.cluster.name
        raise RefusedError(f"cluster {name}: not confirmed", hint="add --yes, or answer on a terminal")
    return live, uid


def _refuse(run: _Run, live: LivePlan, uid: str) -> None:
    name, record = run.build.cluster.name, live.seen.record
    wanted = run.options.current_activation
    current = None if record.current is None else record.current.name
    if wanted is not None and current != wanted:
        raise RefusedError(
            f"cluster {name}: its current activation is {current or 'none'}, not {wanted}",
            hint="look at kix diff, then name the current one",
        )
    if not run.options.through_hold:
        require_no_hold(record, cluster=name, now=run.now())
    if not run.options.take_over:
        require_same_cluster(run.build, record, uid)


def _refuse_conflicts(run: _Run, live: LivePlan) -> Iterator[Event]:
    """Fields of other managers that the plan has seen stop the deploy before its first write."""
    if run.options.force_conflicts:
        return
    numbers = {ref: wave.number for wave in live.plan.waves for ref in wave.refs}
    stopped = []
    for step in live.steps:
        found = tuple(one for one in step.conflicts if one.verdict == "conflict")
        if found:
            stopped.append(step.ref.plain)
            yield Conflicted(ref=step.ref, wave=numbers[step.ref], conflicts=found)
    if stopped:
        raise DeployFailedError(
            f"cluster {run.build.cluster.name}: fields belong to other managers: {', '.join(stopped)}",
            hint=CONFLICT_HINT,
        )


def _has_moved(run: _Run, live: LivePlan, lock: Lock) -> bool:
    planned = live.seen.record
    now = {(one.name, one.phase) for one in run.records.read().activations}
    return lock.current != planned.lease.current or now != {(one.name, one.phase) for one in planned.activations}


def _locked(run: _Run, live: LivePlan, lock: Lock, uid: str) -> Iterator[Event]:
    key = run.records.ensure_key()
    journal = Journal(run.records, run.build, live, key=key, cluster_uid=uid)
    journal.begin()
    yield Recorded(activation=journal.name, phase=Phase.APPLYING)
    target = Target(
        cluster=run.cluster,
        name=run.build.cluster.name,
        activation=journal.name,
        key=key,
        identities={ref: identity.hash for ref, identity in run.build.identities.items()},
        groups=journal.groups,
        force=run.options.force_conflicts,
        new_kinds=any(step.action != "none" and step.ref.kind == "CustomResourceDefinition" for step in live.steps),
        clock=run.clock,
    )
    waves = RunWaves(run.build, live, target, journal, lock, options_timeout=run.options.timeout,
                     total=run.options.total_timeout)  # fmt: skip
    try:
        yield from waves.run()
        yield from _prune(run, live, journal)
    except StoppedError as stopped:
        journal.fail(stopped.message)
        yield Recorded(activation=journal.name, phase=Phase.FAILED)
        raise DeployFailedError(f"cluster {run.build.cluster.name}: {stopped.message}", hint=stopped.hint) from None
    except (KeyboardInterrupt, GeneratorExit):
        journal.fail("interrupted")
        raise
    except BaseException as error:
        journal.fail(getattr(error, "message", type(error).__name__))
        raise
    yield from _finish(run, live, journal, lock, waves)


def _prune(run: _Run, live: LivePlan, journal: Journal) -> Iterator[Event]:
    """Delete what left the build, when asked; the rest stays in the record, so that a later --prune finds it."""
    for leftover in sorted(live.leftovers, key=lambda one: install_key(one.ref), reverse=True):
        kept = leftover.kept
        if kept is None:
            kept = (
                delete(run.cluster, leftover, name=run.build.cluster.name)
                if run.options.prune
                else "deleted only with --prune"
            )
        if kept is None:
            journal.dropped(leftover.ref)
            yield Pruned(ref=leftover.ref)
        else:
            yield Kept(ref=leftover.ref, why=kept)


def _finish(run: _Run, live: LivePlan, journal: Journal, lock: Lock, waves: RunWaves) -> Iterator[Event]:
    counts = {**live.counts, **({"pruned": journal.dropped_count} if journal.dropped_count else {})}
    receipt = receipt_of(
        run.build,
        run.who,
        at=run.now(),
        counts=counts,
        forced=waves.forced,
        adopted=tuple(step.ref.id for step in live.steps if step.action == "adopt"),
    )
    journal.finish(receipt, lock, hold=run.options.hold)
    yield Recorded(activation=journal.name, phase=Phase.ACTIVE)
    yield Finished(phase=Phase.ACTIVE, receipt=receipt)
