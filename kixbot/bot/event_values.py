"""What can happen: the events kixbot tells apart, as frozen values."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A pull request was opened, updated, reopened, or got another base.

    `default_branch` and `base_sha` are None where the environment does not tell. `fork`: the head is a stranger's.
    """

    number: int
    head_sha: str
    base_ref: str
    base_sha: str | None
    fork: bool
    default_branch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class MergeGroup:
    """A merge queue or train asks about a speculative commit: statuses on `head_sha`, no comment."""

    head_sha: str
    base_ref: str
    base_sha: str
    default_branch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Push:
    """Commits reached `branch`. `default_branch` None: ask the forge whether this is it.

    `before` is where the branch was, None when it is new or the environment does not tell.
    """

    sha: str
    branch: str
    default_branch: str | None
    before: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The clock started this run on the default branch."""

    sha: str | None
    branch: str | None
    default_branch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Manual:
    """A person started this run by hand."""

    sha: str
    branch: str
    default_branch: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A comment that begins with `/kix`. `words` is its first line, split."""

    number: int
    comment_id: str
    author: str
    words: tuple[str, ...]
    default_branch: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Ignored:
    """Nothing to do. `sentence` says what was ignored and why."""

    sentence: str


Event: TypeAlias = Review | MergeGroup | Push | Schedule | Manual | Command | Ignored
