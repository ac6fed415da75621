"""What a forge tells and is told: pull requests, comments, statuses, deployments, commits. Frozen values."""

from dataclasses import dataclass
from enum import Enum
from typing import Literal


class Unit(Enum):
    """What a forge counts when it limits a comment."""

    UTF16 = "utf16"
    CHARACTERS = "characters"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a forge takes at most. Figures and their sources: each adapter."""

    comment: int
    unit: Unit
    status_description: int
    status_context: int
    target_url: int | None = None
    mermaid: int = 2000
    """Characters of a Mermaid block that are still drawn."""


class PullRequestState(Enum):
    """OPEN, MERGED, or CLOSED without a merge."""

    OPEN = "open"
    CLOSED = "closed"
    MERGED = "merged"


@dataclass(frozen=True, slots=True, kw_only=True)
class PullRequest:
    """A pull request (merge request). SHAs are 40 hex; branch names have no `refs/heads/`.

    `head_repository` is `owner/name`, None when the fork is gone. `from_fork` is true when the head is not in the
    repository itself (also when its repository is gone). `merge_sha` is the commit on the base branch, once merged.
    `head_fetch_ref` is the ref that still holds the head after the branch is deleted.
    """

    number: int
    title: str
    author: str
    state: PullRequestState
    head_sha: str
    head_ref: str
    head_repository: str | None
    from_fork: bool
    base_ref: str
    base_sha: str
    head_fetch_ref: str
    url: str | None = None
    merge_sha: str | None = None
    body: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Comment:
    """A comment on a pull request. `id` is opaque; `author` is the login, to be compared with `get_viewer`."""

    id: str
    author: str
    body: str
    url: str | None = None
    minimised: bool = False


class StatusState(Enum):
    """FAILURE: the answer is no. ERROR: it could not be found out."""

    PENDING = "pending"
    SUCCESS = "success"
    FAILURE = "failure"
    ERROR = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """A commit status. Too long texts are clipped by the caller (`limits`), never by the adapter."""

    context: str
    state: StatusState
    description: str
    target_url: str | None = None


class DeploymentState(Enum):
    """Where a forge deployment stands; the newest success of an environment makes older ones inactive."""

    QUEUED = "queued"
    IN_PROGRESS = "in_progress"
    SUCCESS = "success"
    FAILURE = "failure"
    ERROR = "error"
    INACTIVE = "inactive"


@dataclass(frozen=True, slots=True, kw_only=True)
class Deployment:
    """A deployment as the forge keeps it. `id` is opaque. `task` tells deployments of one job's clusters apart."""

    id: str
    sha: str
    environment: str
    task: str
    state: DeploymentState
    description: str = ""
    url: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CommitInfo:
    """One commit as the forge tells it. `author` is the login it is attributed to, None when there is none.

    `verified`: the forge checked a signature and it is good.
    """

    sha: str
    parents: tuple[str, ...]
    author: str | None
    message: str
    verified: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What `head` has that `base` has not: commits oldest first, and the paths that differ from the merge base.

    `complete` is false when the forge did not tell everything (too many commits or files).
    """

    merge_base: str
    commits: tuple[CommitInfo, ...]
    files: tuple[str, ...]
    complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class MergedPullRequest:
    """A pull request that reached the base branch in a range.

    `before` is the commit before its first commit on the base branch's first-parent history, `last` its last one.
    """

    pull_request: PullRequest
    before: str
    last: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FileChange:
    """A file to write (`content`) or to delete (None). `path` is relative, with `/`."""

    path: str
    content: bytes | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NewCommit:
    """A commit that was made."""

    sha: str
    url: str | None = None


class Permission(Enum):
    """What a login may do in the repository, least first."""

    NONE = "none"
    READ = "read"
    TRIAGE = "triage"
    WRITE = "write"
    MAINTAIN = "maintain"
    ADMIN = "admin"


ForgeKind = Literal["github", "gitlab", "local"]
