"""What the bot needs of a forge, as values in and values out; and how a forge says no.

Every implementation (GitHub, GitLab, a local folder) passes tests/contracts/test_forge.py. Rules for all of them:

- Strings that come back (titles, logins, bodies, branch names) are hostile and are handed on as they are.
- Nothing is created twice: after a failed write an adapter looks whether the write happened (comment: body;
  deployment: sha, environment and task; commit: head of the branch) before it tries again.
- Lists are complete: adapters follow pages, and refuse a page link to another host.
- No message of an error carries a token.
"""

from typing import Protocol

from kixbot.errors import ForgeError
from kixbot.forges.values import (
    Comment,
    Comparison,
    Deployment,
    DeploymentState,
    FileChange,
    ForgeKind,
    Limits,
    MergedPullRequest,
    NewCommit,
    Permission,
    PullRequest,
    Status,
)


class PermissionDeniedError(ForgeError):
    """The token may not do this. `permission` is what it lacks, in the forge's own words (`statuses: write`)."""

    def __init__(self, message: str, *, permission: str, hint: str | None = None) -> None:
        super().__init__(message, hint=hint or f"give the job the permission `{permission}`")
        self.permission = permission


class NotFoundError(ForgeError):
    """What was asked for is not there (or the token may not see it: forges do not tell these apart)."""


class StaleHeadError(ForgeError):
    """A branch is not at the commit it was expected at; nothing was written. Read again, work it out again."""


class ProtectedBranchError(ForgeError):
    """A rule of the branch refuses a direct commit; a pull request is the way."""


class InvalidNameError(ForgeError):
    """A branch, path or number that no forge would take, or that would leave its folder. Nothing was written."""


class RangeTooLongError(ForgeError):
    """More commits lie between two points than are looked through (`MAX_RANGE`)."""


MAX_RANGE = 1000
"""Commits of a branch's history that `list_merged` looks through."""


class Forge(Protocol):
    """One repository on one forge, seen through one token.

    Every method raises ForgeError when the forge cannot be reached or answers something it should not,
    PermissionDeniedError when the token may not, NotFoundError when what it names is not there.
    """

    @property
    def kind(self) -> ForgeKind:
        """Which forge this is."""
        ...

    @property
    def limits(self) -> Limits:
        """What it takes at most."""
        ...

    def get_viewer(self) -> str:
        """The login the token writes as, as comments of its own carry it."""
        ...

    def get_default_branch(self) -> str:
        """The default branch's name."""
        ...

    def get_pull_request(self, number: int) -> PullRequest:
        """One pull request, read afresh."""
        ...

    def find_open_pull_request(self, *, head_ref: str, base_ref: str) -> PullRequest | None:
        """The open pull request from a branch of this repository (not of a fork) into `base_ref`."""
        ...

    def list_comments(self, number: int) -> tuple[Comment, ...]:
        """All comments of a pull request, oldest first (reviews and system notes are not comments)."""
        ...

    def create_comment(self, number: int, body: str) -> Comment:
        """A new comment. Once, also when the answer got lost."""
        ...

    def update_comment(self, number: int, comment_id: str, body: str) -> Comment:
        """The comment with its body replaced. Raises PermissionDeniedError for somebody else's comment."""
        ...

    def minimise_comment(self, number: int, comment_id: str) -> None:
        """Folds a comment away as outdated; where the forge cannot, nothing is done."""
        ...

    def set_status(self, sha: str, status: Status) -> None:
        """Sets a commit status. Setting the same again is no error."""
        ...

    def create_deployment(self, *, sha: str, environment: str, task: str, description: str) -> Deployment:
        """A new deployment of `sha`: never merges anything, waits for no other status."""
        ...

    def set_deployment_state(
        self, deployment: Deployment, state: DeploymentState, *, description: str, log_url: str | None = None
    ) -> Deployment:
        """Moves a deployment on, and gives it as it is now."""
        ...

    def list_merged(self, *, branch: str, after: str, until: str) -> tuple[MergedPullRequest, ...]:
        """Pull requests merged into `branch` whose commits there lie in (`after`, `until`], oldest first.

        Raises RangeTooLongError past `MAX_RANGE` commits, NotFoundError when `after` is no ancestor of `until`.
        """
        ...

    def compare(self, base: str, head: str) -> Comparison:
        """What `head` adds to `base` (branch names or SHAs). Raises NotFoundError without a common ancestor."""
        ...

    def find_file(self, path: str, *, ref: str) -> bytes | None:
        """A file's bytes at a branch or SHA, None when it is not there (or is no regular file)."""
        ...

    def find_branch(self, name: str) -> str | None:
        """The SHA a branch is at, None when there is no such branch."""
        ...

    def is_protected(self, branch: str) -> bool:
        """Whether rules stand against a direct commit by this token; false where the forge does not tell."""
        ...

    def commit_files(
        self, *, branch: str, expected_head: str, message: str, files: tuple[FileChange, ...]
    ) -> NewCommit:
        """One commit with all files on top of `branch`, only if that is still at `expected_head`.

        Raises StaleHeadError when it moved, ProtectedBranchError when a rule refuses. Never forces.
        """
        ...

    def replace_branch(
        self, *, branch: str, expected_head: str | None, base: str, message: str, files: tuple[FileChange, ...]
    ) -> NewCommit:
        """Makes a branch of the bot's own exactly one commit with `files` on top of the commit `base`.

        `expected_head` None: the branch must not exist yet. Raises StaleHeadError when that is not so. An open pull
        request of the branch stays open. Refuses the default branch (InvalidNameError).
        """
        ...

    def open_pull_request(self, *, head_ref: str, base_ref: str, title: str, body: str) -> PullRequest:
        """A new pull request between two branches of this repository."""
        ...

    def update_pull_request(self, number: int, *, title: str, body: str) -> PullRequest:
        """The pull request with title and body replaced."""
        ...

    def get_permission(self, login: str) -> Permission:
        """What a login may do here; NONE for a stranger."""
        ...
