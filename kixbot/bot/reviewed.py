"""Is what gets deployed what was reviewed? Both are worked out here, from commits; comments and statuses prove nothing.

Per merged pull request: what its author changed (merge base → head) against what its merge changed on
the default branch (the commit before its first → its last). They differ honestly when another merge touched the same
values, and dishonestly when somebody merged something else.
"""

from dataclasses import dataclass

from kixbot.bot.builds import Builds
from kixbot.errors import GitError
from kixbot.forges.interface import Forge, NotFoundError, RangeTooLongError
from kixbot.forges.values import MergedPullRequest, PullRequest
from kixbot.model.plan import Plan
from kixbot.ops.diff import diff_builds
from kixbot.settings import Settings, trusted


@dataclass(frozen=True, slots=True, kw_only=True)
class Compared:
    """One pull request as far as one cluster is concerned.

    `reviewed` and `deployed` are hashes; equal ones mean the very same change. `paths` are the fields in which they
    differ. `problem` says why there is no comparison.
    """

    pull_request: PullRequest
    changes_cluster: bool
    reviewed: str | None = None
    deployed: str | None = None
    paths: tuple[str, ...] = ()
    problem: str | None = None

    @property
    def is_equal(self) -> bool:
        """Whether the reviewed change is the one that was merged."""
        return self.problem is None and self.reviewed == self.deployed


@dataclass(frozen=True, slots=True, kw_only=True)
class Range:
    """The pull requests between two deploys, or the sentence that says why they are not known."""

    merged: tuple[MergedPullRequest, ...] = ()
    problem: str | None = None


def find_range(forge: Forge, *, branch: str, after: str | None, until: str) -> Range:
    """Pull requests merged since the last deploy. A first deploy has no range, which is no problem."""
    if after is None or after == until:
        return Range()
    try:
        return Range(merged=forge.list_merged(branch=branch, after=after, until=until))
    except RangeTooLongError as error:
        return Range(problem=error.message)
    except NotFoundError:
        return Range(problem=f"the commit deployed before, {after[:12]}, is no ancestor of this one")


def compare(forge: Forge, builds: Builds, merged: MergedPullRequest, name: str, rules: Settings) -> Compared:
    """One merged pull request for one cluster, by the settings `rules` of the default branch."""
    pull = merged.pull_request

    def between(old: str, new: str) -> Plan | None:
        before = builds.find_build(old, name, trusted(rules, builds.settings(old)))
        after = builds.find_build(new, name, trusted(rules, builds.settings(new)))
        return diff_builds(before, after) if after is not None and after.activation is not None else None

    deployed = between(merged.before, merged.last)
    if deployed is not None and not deployed.packages and not deployed.same_name_secrets:
        return Compared(pull_request=pull, changes_cluster=False)
    try:
        base = forge.compare(merged.before, pull.head_sha).merge_base
        reviewed = between(base, pull.head_sha)
    except (GitError, NotFoundError) as error:
        return Compared(pull_request=pull, changes_cluster=True, problem=f"its head cannot be read: {error.message}")
    if reviewed is None or deployed is None:
        return Compared(pull_request=pull, changes_cluster=True, problem="one side of it does not build")
    return Compared(
        pull_request=pull,
        changes_cluster=True,
        reviewed=reviewed.hash,
        deployed=deployed.hash,
        paths=tuple(sorted({shown for shown, _ in _rows(reviewed) ^ _rows(deployed)})),
    )


def _rows(change: Plan) -> set[tuple[str, str]]:
    """Each content change as (what is shown, what is compared): places are shown, values are not."""
    content = [one for package in change.packages for one in package.resources if one.reason == "content"]
    return {(f"{one.ref.short} {one.action}", "") for one in content} | {
        (f"{one.ref.short} {field.path}", repr(field)) for one in content for field in one.changes
    }
