"""A pull request is reviewed: base and head are built, checked, compared. None of it is trusted, none deployed."""

from dataclasses import dataclass

from kixbot.bot.blast import cluster_risks, find_shrink
from kixbot.bot.event_values import MergeGroup, Review as ReviewEvent
from kixbot.bot.job import Job
from kixbot.bot.report import publish_review
from kixbot.bot.settings import BotSettings, load, tighten
from kixbot.errors import ExitCode, KixError, SourceError, UsageError
from kixbot.forges.values import StatusState
from kixbot.identity import without_values
from kixbot.model.build import Build, EdgeKind
from kixbot.model.plan import Plan
from kixbot.model.resource import Body, Ref
from kixbot.ops.check import check, exit_code, unbuilt
from kixbot.ops.diff import diff_builds
from kixbot.output.review_values import ClusterReview, Review, Risk, RiskKind
from kixbot.settings import Settings, trusted

_WATCHED = ("kix.toml", "pyproject.toml", ".gitlab-ci.yml", "flake.lock")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reviewed:
    """A review and the exit code that follows from it."""

    review: Review
    exit_code: ExitCode


def handle(job: Job, event: ReviewEvent | MergeGroup) -> ExitCode:
    """Review and publish. The exit code is the check's, whatever the token may write."""
    head = event.head_sha
    for name in ("check", "diff"):
        job.publisher.status(head, name, StatusState.PENDING, "building base and head")
    try:
        done = make(job, event)
    except KixError as error:
        for name in ("check", "diff"):
            job.publisher.status(head, name, StatusState.ERROR, error.message)
        raise
    number = event.number if isinstance(event, ReviewEvent) else None
    publish_review(job, done.review, number)
    return done.exit_code


def make(job: Job, event: ReviewEvent | MergeGroup) -> Reviewed:
    """The review of a head against what it would be merged into. Raises KixError when it cannot be made."""
    default = event.default_branch or job.forge.get_default_branch()
    tip = job.forge.find_branch(default)
    if tip is None:
        raise UsageError(f"{default}: the default branch has no commit yet", hint="push one")
    against = event.base_sha if isinstance(event, MergeGroup) else event.base_ref
    compared = job.forge.compare(against, event.head_sha)
    rules = job.builds.settings(tip)
    head = trusted(rules, job.builds.settings(event.head_sha))
    base = trusted(rules, job.builds.settings(compared.merge_base))
    settings = tighten(load({}, {}, from_file(rules)), job.settings)
    names = [name for name in head.clusters if not settings.clusters or name in settings.clusters]
    if not names:
        raise UsageError("no cluster to review", hint="write clusters/NAME.nix or kix.toml, or mend the input clusters")
    comparer = _Comparer(
        job=job, settings=settings, base_sha=compared.merge_base, head_sha=event.head_sha, base=base, head=head
    )
    reviews, codes = zip(*(comparer.review(name) for name in names), strict=True)
    changed = job.builds.trees.changed_files(compared.merge_base, event.head_sha)
    review = Review(
        label=settings.label,
        head_sha=event.head_sha,
        base_sha=compared.merge_base,
        clusters=reviews,
        run=job.run,
        risks=(*_changed_settings(changed), *_lost_clusters(base, head)),
    )
    return Reviewed(review=review, exit_code=max(codes))


def from_file(settings: Settings) -> dict[str, object]:
    """What kix.toml says, under the names of the bot's settings."""
    return {
        "comment": settings.bot.comment,
        "shrink_threshold": settings.bot.shrink_threshold,
        "fail_on": settings.check.fail,
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Comparer:
    """Base against head, cluster by cluster."""

    job: Job
    settings: BotSettings
    base_sha: str
    head_sha: str
    base: Settings
    head: Settings

    def review(self, name: str) -> tuple[ClusterReview, ExitCode]:
        """One cluster's review. A head that does not build is an answer, not an error."""
        builds = self.job.builds
        try:
            built = builds.build(self.head_sha, name, self.head)
        except SourceError as error:
            return ClusterReview(name=name, passed=False, report=unbuilt(error, cluster=name)), ExitCode.SOURCE
        head = built.build
        base = builds.find_build(self.base_sha, name, self.base)
        report = check(
            head,
            fail_on=self.settings.fail_on,
            baseline=base if self.settings.baseline == "base" else None,
            pins=built.pins,
            today=self.job.today(),
        )
        shrink = find_shrink(base, head, self.settings.shrink_threshold) if base is not None else None
        code = max(exit_code(report), ExitCode.NO if shrink else ExitCode.DONE)
        if head.activation is None:
            return ClusterReview(name=name, passed=False, report=report), code
        change = diff_builds(base, head)
        risks = cluster_risks(base, head, change) if base is not None else ()
        reviewed = ClusterReview(
            name=name,
            passed=code is ExitCode.DONE,
            report=report,
            plan=change,
            risks=((shrink,) if shrink else ()) + risks,
            added=_added(change, head),
            edges=tuple((edge.source, edge.target) for edge in head.edges if edge.kind is EdgeKind.HARD),
        )
        return reviewed, code


def _added(change: Plan, head: Build) -> dict[Ref, Body]:
    """Manifests of added resources, values of Secrets left out."""
    bodies = head.by_ref
    return {
        one.ref: without_values(bodies[one.ref].manifest)
        for package in change.packages
        for one in package.resources
        if one.action == "added" and one.ref.kind != "PackageInstance"
    }


def _changed_settings(files: tuple[str, ...]) -> tuple[Risk, ...]:
    """Changed settings, workflows and locks: they decide what the next run may do."""
    found = [
        file
        for file in files
        if file.rpartition("/")[2] in _WATCHED or file.startswith(".github/") or file.endswith((".lock", ".lock.json"))
    ]
    return tuple(Risk(kind=RiskKind.SETTINGS, verb="changes", subject=file) for file in sorted(found))


def _lost_clusters(base: Settings, head: Settings) -> tuple[Risk, ...]:
    lost = [name for name in base.clusters if name not in head.clusters]
    return tuple(
        Risk(kind=RiskKind.SHRINK, verb="no longer defines the cluster", subject=name, detail="(it stays as it is)")
        for name in lost
    )
