"""The waves of one deploy: apply kind after kind, wait until the wave is up, go on."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Final

from kixbot.cluster.crds import PACKAGE_INSTANCE
from kixbot.cluster.faults import RequestError
from kixbot.cluster.interface import ApiKind
from kixbot.cluster.locks import Lock
from kixbot.errors import KixError
from kixbot.model.activation import record_manager
from kixbot.model.build import Build
from kixbot.model.plan import Wave
from kixbot.model.resource import Ref
from kixbot.ops.apply import ConflictedError, Target, Written, write
from kixbot.ops.events import Applied, Conflicted, Event, Failed, Ready, Waiting, WaveStarted
from kixbot.ops.failure import cause_of, dependents
from kixbot.ops.journal import Journal
from kixbot.ops.parallel import WRITERS, each
from kixbot.ops.plan import LivePlan
from kixbot.ops.steps import Step
from kixbot.ops.wait import Awaited, Seen, facts_for, late_binding_classes, wait
from kixbot.readiness import Facts, State

ACTIONS: Final = {"create": "created", "change": "changed", "adopt": "adopted", "refresh": "refreshed"}
CONFLICT_HINT: Final = "cede the field, take it once with --force-conflicts, or all its manager holds with --adopt"


class StoppedError(Exception):
    """The deploy stopped; its events have said why."""

    def __init__(self, message: str, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """What writing one object came to: exactly one of the three."""

    written: Written | None = None
    conflict: ConflictedError | None = None
    error: KixError | None = None


class RunWaves:
    """See the module."""

    def __init__(
        self,
        build: Build,
        live: LivePlan,
        target: Target,
        journal: Journal,
        lock: Lock,
        *,
        options_timeout: float,
        total: float,
    ) -> None:
        self._build, self._live, self._target, self._journal, self._lock = build, live, target, journal, lock
        self._steps = live.by_ref
        self._timeout = options_timeout
        self._deadline = target.clock.now() + total
        self._started: set[Ref] = {step.ref for step in live.steps if step.action == "none"}
        self._ready: set[Ref] = set(self._started)
        self._facts: dict[tuple[ApiKind, str | None], Facts] = {}
        self._late_binding: frozenset[str] | None = None
        self._forced: list[str] = []

    @property
    def forced(self) -> tuple[str, ...]:
        """Fields taken from other managers, for the receipt."""
        return tuple(sorted(self._forced))

    def run(self) -> Iterator[Event]:
        """All waves in order; those without changes are passed at once. Raises StoppedError."""
        for number, group in groupby(self._live.plan.waves, key=lambda wave: wave.number):
            entries = tuple(group)
            refs = tuple(ref for wave in entries for ref in wave.refs)
            if any(self._steps[ref].action != "none" for ref in refs):
                yield WaveStarted(wave=number, refs=refs)
            for wave in entries:
                yield from self._run_wave(wave)
        self._close_packages()

    def _run_wave(self, wave: Wave) -> Iterator[Event]:
        steps = [self._steps[ref] for ref in wave.refs if self._steps[ref].action != "none"]
        written: dict[Ref, Written] = {}
        for _, kind in groupby(steps, key=lambda step: (step.ref.group, step.ref.kind)):
            if self._lock.is_lost:
                raise StoppedError("the lock was taken by another deploy", "deploy again")
            yield from self._apply_kind(wave, tuple(kind), written)
        yield from self._wait(wave, written)

    def _apply_kind(self, wave: Wave, steps: tuple[Step, ...], written: dict[Ref, Written]) -> Iterator[Event]:
        outcomes = each(self._write, steps, threads=WRITERS)
        for step, outcome in zip(steps, outcomes, strict=True):
            if outcome.written is not None:
                written[step.ref] = outcome.written
                self._started.add(step.ref)
                left_out = outcome.written.row.left_out
                yield Applied(ref=step.ref, wave=wave.number, action=ACTIONS[step.action], left_out=left_out)  # type: ignore[arg-type]
        for step, outcome in zip(steps, outcomes, strict=True):
            if outcome.conflict is not None:
                yield Conflicted(ref=step.ref, wave=wave.number, conflicts=outcome.conflict.conflicts)
                raise StoppedError(
                    f"{step.ref.plain}: fields belong to other managers",
                    CONFLICT_HINT,
                )
            if outcome.error is not None:
                yield self._failed(step.ref, wave, outcome.error.message)
                raise StoppedError(outcome.error.message, outcome.error.hint)

    def _write(self, step: Step) -> _Outcome:
        try:
            written = write(self._target, step)
        except ConflictedError as conflict:
            return _Outcome(conflict=conflict)
        except KixError as error:
            return _Outcome(error=error)
        self._journal.wrote(written.row)
        if self._target.force and step.conflicts:
            self._forced.extend(f"{step.ref.id} {conflict.path}" for conflict in step.conflicts)
        self._forced.extend(f"{step.ref.id} {path}" for path in step.taken)
        return _Outcome(written=written)

    def _wait(self, wave: Wave, written: dict[Ref, Written]) -> Iterator[Event]:
        awaited = {ref: self._awaited(ref, one) for ref, one in written.items()}
        left = self._deadline - self._target.clock.now()
        seconds = min(self._timeout, max(left, 0.0))
        last: dict[Ref, Seen] = {}
        for seen in wait(self._target.cluster, self._target.name, awaited, seconds=seconds, clock=self._target.clock):
            last[seen.ref] = seen
            self._journal.touched(seen.body)
            match seen.readiness.state:
                case State.READY | State.PASSED:
                    self._ready.add(seen.ref)
                    yield Ready(ref=seen.ref, wave=wave.number, note=seen.readiness.reason)
                case State.WAITING:
                    yield Waiting(ref=seen.ref, wave=wave.number, reason=seen.readiness.reason)
                case State.FAILED:
                    pass
        stuck = [seen for seen in last.values() if seen.readiness.state in (State.FAILED, State.WAITING)]
        failed = [seen for seen in stuck if seen.readiness.state is State.FAILED] or stuck
        for seen in failed:
            late = f" (after {seconds:.0f} s)" if seen.readiness.state is State.WAITING else ""
            yield self._failed(seen.ref, wave, f"{seen.readiness.reason}{late}", seen)
        if failed:
            names = ", ".join(seen.ref.plain for seen in failed)
            raise StoppedError(f"wave {wave.number} did not become ready: {names}", "kix status shows what is there")

    def _awaited(self, ref: Ref, one: Written) -> Awaited:
        step = self._steps[ref]
        kind = step.kind or self._target.cluster.discover().find_ref(ref, step.resource.api_version)
        if kind is None:
            raise StoppedError(f"{ref.plain}: its kind is not served any more")
        if self._late_binding is None and ref.kind == "PersistentVolumeClaim":
            self._late_binding = late_binding_classes(self._target.cluster)
        place = (kind, step.resource.ready)
        if place not in self._facts:
            late = self._late_binding or frozenset()
            self._facts[place] = facts_for(self._target.cluster, kind, declared=step.resource.ready, late_binding=late)
        return Awaited(kind=kind, body=one.body, facts=self._facts[place])

    def _failed(self, ref: Ref, wave: Wave, reason: str, seen: Seen | None = None) -> Failed:
        failed = Failed(
            ref=ref,
            wave=wave.number,
            reason=reason,
            not_started=dependents(self._build, (ref,), self._started),
        )
        if seen is None:
            return failed
        cause = cause_of(self._target.cluster, seen.body)
        return replace(failed, pod=cause.pod, log=cause.log, event=cause.event)

    def _close_packages(self) -> None:
        """Write how much of each touched package is up: one status write per PackageInstance."""
        touched = {step.resource.package for step in self._live.steps if step.action != "none"}
        for resource in self._build.resources:
            if resource.ref.kind != PACKAGE_INSTANCE.kind or resource.ref.group != PACKAGE_INSTANCE.group:
                continue
            if resource.package not in touched:
                continue
            members = [
                one.ref for one in self._build.resources if one.package == resource.package and one is not resource
            ]
            status = {"ready": sum(ref in self._ready for ref in members), "total": len(members)}
            body = {
                "apiVersion": PACKAGE_INSTANCE.api_version,
                "kind": PACKAGE_INSTANCE.kind,
                "metadata": {"name": resource.ref.name, "namespace": resource.ref.namespace},
                "status": status,
            }
            try:
                self._target.cluster.apply(
                    PACKAGE_INSTANCE, body, manager=record_manager(self._target.name), force=True, subresource="status"
                )
            except RequestError as error:
                raise StoppedError(f"{resource.ref.plain}: {error.message}", error.hint) from error
