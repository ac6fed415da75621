"""What was merged is deployed: cluster after cluster in promotion order, each failure on its own."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from kixbot.bot import deploying, promotion
from kixbot.bot.deploy_report import publish_outcome, publish_summary
from kixbot.bot.job import Job
from kixbot.bot.promotion import Trigger
from kixbot.bot.reviewed import Compared, Range, compare, find_range
from kixbot.cluster.interface import Cluster
from kixbot.cluster.records import Records
from kixbot.errors import ExitCode, KixError
from kixbot.forges.values import DeploymentState, StatusState
from kixbot.model.activation import Activation, Phase
from kixbot.model.build import Build
from kixbot.model.finding import Report, Severity
from kixbot.ops.check import check, exit_code
from kixbot.ops.desired import has_plain_values
from kixbot.output.deploy_values import Outcome
from kixbot.output.markup import count
from kixbot.settings import Settings
from kixbot.settings.model import ClusterSettings

_STATES = {
    "deployed": StatusState.SUCCESS,
    "unchanged": StatusState.SUCCESS,
    "failed": StatusState.FAILURE,
    "refused": StatusState.FAILURE,
    "waits": StatusState.PENDING,
    "superseded": StatusState.ERROR,
}


def handle(job: Job, *, sha: str, branch: str, trigger: Trigger, before: str | None = None) -> ExitCode:
    """Deploy the commit `sha` of the default branch `branch`; the exit code is that of the worst failure.

    `before` is where the branch was before this push, as far as that is known.
    """
    job.refuse_own_kubeconfig(sha)
    rules = job.builds.settings(sha)
    run = _Run(job=job, sha=sha, branch=branch, trigger=trigger, rules=rules, before=before)
    names = [name for name in promotion.in_order(rules.clusters) if name in (job.settings.clusters or rules.clusters)]
    for name in names:
        # Evaluated in their sandbox before a kubeconfig is opened. What does not build is told when its turn comes.
        with suppress(KixError):
            job.builds.build(sha, name, rules)
    outcomes: list[Outcome] = []
    for name in names:
        job.say(f"{name}: deploying {sha[:12]}")
        outcome = run.deploy(name)
        job.say(f"{name}: {outcome.state}: {outcome.sentence}")
        if outcome.hint:
            job.say(f"  hint: {outcome.hint}")
        outcomes.append(outcome)
    publish_summary(job, outcomes)
    return max((outcome.failure for outcome in outcomes if outcome.is_failure), default=ExitCode.DONE)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Run:
    """One run over the clusters of one commit."""

    job: Job
    sha: str
    branch: str
    trigger: Trigger
    rules: Settings
    before: str | None = None
    done: dict[str, Outcome] = field(default_factory=dict)

    def deploy(self, name: str) -> Outcome:
        """One cluster, its statuses and comments included. Its failure is an outcome, whatever the reason."""
        settings = self.rules.clusters[name]
        wait = promotion.find_wait(settings, name, self.trigger, self.job.settings.clusters)
        if wait is not None:
            return self._outcome(name, "waits", wait.sentence)
        if self._is_superseded():
            return self._outcome(name, "superseded", f"{self.branch} has moved on; its newest commit has its own run")
        status = f"deploy/{name}"
        self.job.publisher.status(self.sha, status, StatusState.PENDING, "deploying")
        try:
            outcome = self._deploy(name, settings)
        except KixError as error:
            # One cluster that cannot be reached does not hide what became of the others.
            outcome = replace(
                self._outcome(name, "failed", error.message),
                hint=error.hint,
                pull_requests=self._pushed(name),
                failure=ExitCode(error.exit_code),
            )
        words = f"waits: {outcome.sentence}" if outcome.state == "waits" else outcome.sentence
        self.job.publisher.status(self.sha, status, _STATES[outcome.state], words)
        publish_outcome(self.job, outcome)
        self.done[name] = outcome
        return outcome

    def _deploy(self, name: str, settings: ClusterSettings) -> Outcome:
        for before in settings.after:
            gate = self._gate(before, settings)
            if gate is not None:
                return self._outcome(name, "waits", gate.sentence)
        cluster = self.job.open_cluster(name, settings)
        try:
            current = self._current(cluster, name, settings)
            built = self.job.builds.build(self.sha, name, self.rules)
            report = check(built.build, pins=built.pins, today=self.job.today())
            if exit_code(report) is not ExitCode.DONE or built.build.activation is None:
                return self._refused_by_checks(name, current, report)
            return self._apply(name, settings, built.build, cluster, current)
        finally:
            cluster.close()

    def _refused_by_checks(self, name: str, current: Activation | None, report: Report) -> Outcome:
        """What was merged does not pass: said on the pull requests it came from, as far as they are known."""
        grave = [one for one in report.findings if one.severity is Severity.ERROR or one.rule in report.failing]
        found = (*report.eval_messages, *grave)
        merged = self._range(current).merged
        lines = tuple(f"{one.rule}: {one.message.splitlines()[0]}" for one in found)
        self._say(lines)
        return replace(
            self._outcome(name, "failed", "the build does not pass its checks"),
            lines=lines,
            pull_requests=tuple(one.pull_request.number for one in merged),
            failure=exit_code(report),
        )

    def _apply(
        self, name: str, settings: ClusterSettings, build: Build, cluster: Cluster, current: Activation | None
    ) -> Outcome:
        assert build.activation is not None
        # Values of Secrets stand in no identity: whether they moved is only known from the plan.
        may_skip = not any(has_plain_values(resource) for resource in build.resources)
        is_there = current is not None and current.phase is Phase.ACTIVE
        if is_there and current is not None and current.source_path == build.activation.path and may_skip:
            return replace(
                self._outcome(name, "unchanged", f"{build.activation.name} is Active already"),
                activation=build.activation.name,
                receipt=current.receipt,
            )
        reviews, problem = self._reviews(name, current)
        stop = self._find_stop(settings, reviews, problem)
        numbers = tuple(one.pull_request.number for one in reviews)
        notes = (*([problem] if problem else []), *(_note(one) for one in reviews))
        paths = tuple(path for one in reviews for path in one.paths)
        if stop is not None:
            return replace(self._outcome(name, "refused", stop), notes=notes, paths=paths, pull_requests=numbers)
        change = reviews[0] if len(reviews) == 1 else None
        deployment = self.job.publisher.deployment(
            sha=self.sha, environment=settings.environment or name, task=f"kix:{name}", description=f"cluster {name}"
        )
        self.job.publisher.deployment_state(deployment, DeploymentState.IN_PROGRESS, "deploying")
        try:
            outcome = deploying.run(
                self.job,
                cluster,
                build,
                settings,
                commit=self.sha,
                change=change,
                is_newest=lambda: not self._is_superseded(),
            )
        except KixError as error:
            self.job.publisher.deployment_state(deployment, DeploymentState.ERROR, error.message)
            raise
        ends = {"deployed": DeploymentState.SUCCESS, "superseded": DeploymentState.INACTIVE}
        done = ends.get(outcome.state, DeploymentState.FAILURE)
        self.job.publisher.deployment_state(deployment, done, outcome.sentence)
        return replace(outcome, notes=notes, paths=paths, pull_requests=numbers)

    def _reviews(self, name: str, current: Activation | None) -> tuple[tuple[Compared, ...], str | None]:
        """The merged pull requests that change this cluster since its last deploy, or why they are not known."""
        found = self._range(current)
        compared = [compare(self.job.forge, self.job.builds, one, name, self.rules) for one in found.merged]
        return tuple(one for one in compared if one.changes_cluster), found.problem

    def _pushed(self, name: str) -> tuple[int, ...]:
        """The pull requests of this push that change a cluster that cannot be asked what it ran before."""
        with suppress(KixError):
            merged = find_range(self.job.forge, branch=self.branch, after=self.before, until=self.sha).merged
            compared = [compare(self.job.forge, self.job.builds, one, name, self.rules) for one in merged]
            return tuple(one.pull_request.number for one in compared if one.changes_cluster)
        return ()

    def _range(self, current: Activation | None) -> Range:
        return find_range(self.job.forge, branch=self.branch, after=current.commit if current else None, until=self.sha)

    def _find_stop(self, settings: ClusterSettings, reviews: Iterable[Compared], problem: str | None) -> str | None:
        if "stop" not in {settings.policy, self.job.settings.policy}:
            return None
        if problem is not None:
            return f"policy stop: {problem}"
        for one in reviews:
            if not one.is_equal:
                return f"policy stop: pull request {one.pull_request.number}: {_difference(one)}"
        return None

    def _gate(self, before: str, settings: ClusterSettings) -> promotion.Wait | None:
        if before in self.done and self.done[before].is_failure:
            return promotion.Wait(sentence=f"{before} failed in this run")
        earlier = self.rules.clusters[before]
        cluster = self.job.open_cluster(before, earlier)
        try:
            current = self._current(cluster, before, earlier)
        finally:
            cluster.close()
        activation = self.job.builds.build(self.sha, before, self.rules).build.activation
        return promotion.find_gate(
            before,
            current,
            expected=activation.path if activation else None,
            soak=settings.soak,
            now=datetime.fromtimestamp(self.job.clock.now(), UTC),
        )

    def _current(self, cluster: Cluster, name: str, settings: ClusterSettings) -> Activation | None:
        return Records(cluster, cluster=name, namespace=settings.record_namespace).read().current

    def _is_superseded(self) -> bool:
        """Whether the branch has a newer commit: that one's own run deploys it, and this must not undo it."""
        head = self.job.forge.find_branch(self.branch)
        return head is not None and head != self.sha

    def _say(self, lines: tuple[str, ...]) -> None:
        for line in lines:
            self.job.say(f"  {line}")

    def _outcome(self, name: str, state: str, sentence: str) -> Outcome:
        assert state in _STATES
        return Outcome(cluster=name, state=state, sentence=sentence, commit=self.sha)  # type: ignore[arg-type]


def _difference(one: Compared) -> str:
    where = f" in {count(len(one.paths), 'place')}" if one.paths else ""
    return one.problem or f"what was merged differs from what was reviewed{where}"


def _note(one: Compared) -> str:
    if one.is_equal:
        return f"pull request {one.pull_request.number}: deployed exactly what was reviewed"
    return f"pull request {one.pull_request.number}: {_difference(one)}"
