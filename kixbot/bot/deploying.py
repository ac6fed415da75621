"""One cluster deployed by the bot: the deploy's events turned into log lines, a wave table and an outcome."""

import os
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from kixbot.bot.job import Job
from kixbot.bot.reviewed import Compared
from kixbot.cluster.interface import Cluster
from kixbot.errors import DeployFailedError, RefusedError
from kixbot.model.build import Build
from kixbot.model.plan import Plan, Wave
from kixbot.model.resource import Ref
from kixbot.ops.deploy import DeployOptions, deploy
from kixbot.ops.events import Applied, Conflicted, Event, Failed, Finished, Planned, Ready, WaveStarted
from kixbot.ops.receipt import Provenance
from kixbot.output.deploy_text import Progress, wave_names
from kixbot.output.deploy_values import Outcome, State, WaveResult
from kixbot.output.markup import count
from kixbot.settings.model import ClusterSettings

_LOCK_WAIT = 900.0
"""Seconds that a run waits for another deploy of the cluster; jobs of one branch follow each other within minutes."""
_WIDTH = 100
"""Characters of objects that a wave's line names."""


@dataclass(slots=True)
class _Seen:
    """What the events said so far."""

    plan: Plan | None = None
    finished: Finished | None = None
    applied: Counter[int] = field(default_factory=Counter)
    ready: Counter[int] = field(default_factory=Counter)
    failed: Counter[int] = field(default_factory=Counter)
    report: list[str] = field(default_factory=list)

    def take(self, event: Event, lines: list[str]) -> None:
        """One event and the lines it is shown as."""
        match event:
            case Planned(plan=plan):
                self.plan = plan
            case Applied(wave=wave):
                self.applied[wave] += 1
            case Ready(wave=wave):
                self.ready[wave] += 1
            case Failed(wave=wave) | Conflicted(wave=wave):
                self.failed[wave] += 1
                self.report += lines
            case Finished():
                self.finished = event

    @property
    def results(self) -> tuple[WaveResult, ...]:
        """The waves that were begun."""
        return tuple(
            WaveResult(number=wave, applied=self.applied[wave], ready=self.ready[wave], failed=self.failed[wave])
            for wave in sorted({*self.applied, *self.ready, *self.failed})
        )

    @property
    def waves(self) -> tuple[Wave, ...]:
        """The plan's waves."""
        return self.plan.waves if self.plan else ()


class _Log:
    """Events as the lines of a CI log: a line a wave with what is written in it, and whatever went wrong."""

    def __init__(self, plan: Plan) -> None:
        self._progress = Progress(plan)
        self._name = wave_names(ref for wave in plan.waves for ref in wave.refs)
        self._changed = {
            change.ref
            for package in plan.packages
            for change in package.resources
            if change.reason == "content" and change.ref.kind != "PackageInstance"
        }

    def lines(self, event: Event) -> list[str]:
        """The lines of one event; what goes well object by object is left to `kix deploy` at a terminal.

        What is waited for is told, since a run that says nothing for ten minutes looks like one that hangs.
        """
        match event:
            case WaveStarted(wave=number, refs=refs):
                names = self._listed(refs)
                return [f"wave {number} {names}"] if names else []
            case Applied(left_out=()) | Ready(note=""):
                return []
            case _:
                return self._progress.lines(event)

    def _listed(self, refs: tuple[Ref, ...]) -> str:
        names = [self._name(ref) for ref in refs if ref in self._changed]
        shown: list[str] = []
        while len(shown) < len(names) and len(" ".join((*shown, names[len(shown)]))) <= _WIDTH:
            shown.append(names[len(shown)])
        more = len(names) - len(shown)
        return " ".join(shown) + (f" and {more} more" if more else "")


def run(
    job: Job,
    cluster: Cluster,
    build: Build,
    settings: ClusterSettings,
    *,
    commit: str,
    change: Compared | None,
    is_newest: Callable[[], bool],
) -> Outcome:
    """Deploy a checked build. A deploy that fails is an outcome; what the outside world does wrong is raised.

    `change` is the one pull request that this deploy is about, None where there are none or several. `is_newest` is
    asked before anything is written, and again when another deploy had to be waited for: meanwhile a newer commit may
    have been deployed, which this one must not undo.
    """
    name = build.cluster.name
    seen = _Seen()
    log: _Log | None = None
    options = _options(job, settings)
    who = _provenance(job, change)
    state: State = "failed"
    sentence, hint = "", None
    try:
        for event in deploy(build, cluster, options=options, who=who, confirm=lambda _: is_newest(), clock=job.clock):
            if isinstance(event, Planned):
                log = _Log(event.plan)
            lines = log.lines(event) if log is not None else []
            seen.take(event, lines)
            for line in lines:
                job.say(f"  {line}")
    except DeployFailedError as error:
        sentence, hint = error.message, error.hint
    except RefusedError as error:
        if not is_newest():
            state, sentence = "superseded", "a newer commit was deployed meanwhile"
        else:
            state, sentence, hint = "refused", error.message, error.hint
    receipt = seen.finished.receipt if seen.finished else None
    if receipt is not None:
        state = "deployed"
        sentence = f"{_figures(receipt.counts)} in {count(len(seen.results), 'wave')}"
    return Outcome(
        cluster=name,
        state=state,
        sentence=sentence,
        commit=commit,
        activation=build.activation.name if build.activation else None,
        receipt=receipt,
        waves=seen.waves,
        results=seen.results,
        lines=tuple(seen.report),
        hint=hint,
    )


def _options(job: Job, settings: ClusterSettings) -> DeployOptions:
    return DeployOptions(
        record_namespace=settings.record_namespace,
        prune=job.settings.prune,
        allow_plain_secrets=settings.allow_plain_secrets,
        lock_wait=_LOCK_WAIT,
        holder=f"kixbot/{job.run.id or os.getpid()}",
    )


def _provenance(job: Job, change: Compared | None) -> Provenance:
    return Provenance(
        actor=job.actor,
        run_url=job.run.url,
        reviewed_hash=change.reviewed if change else None,
        deployed_hash=change.deployed if change else None,
    )


def _figures(counts: Mapping[str, int]) -> str:
    shown = [f"{number} {word}" for word, number in counts.items() if number and word != "unchanged"]
    return ", ".join(shown) or "nothing to write"
