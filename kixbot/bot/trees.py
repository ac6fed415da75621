"""The commits a run works on, written out by kix itself, fetched with the token where the checkout lacks them.

All git runs in a repository of kix's own below a private folder; the checkout only lends its objects.
"""

import base64
import os
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from kixbot.errors import GitError
from kixbot.sources import git, tree as trees
from kixbot.sources.tree import Tree


@dataclass(frozen=True, slots=True, kw_only=True)
class Remote:
    """Where commits come from that the checkout lacks. `token` never stands in a URL or on a command line."""

    url: str
    token: str | None = None
    user: str = "x-access-token"

    @property
    def header(self) -> git.Header | None:
        """The header that carries the token, for this URL alone."""
        if self.token is None:
            return None
        basic = base64.b64encode(f"{self.user}:{self.token}".encode()).decode()
        return git.Header(url=self.url, value=f"Authorization: Basic {basic}")


class Trees:
    """Trees of one repository. `scratch` is a private folder of this run, `checkout` what CI checked out, if it did."""

    def __init__(
        self, scratch: Path, *, checkout: Path | None, remote: Remote | None, branch: Callable[[], str | None]
    ) -> None:
        self._scratch = scratch
        self._remote = remote
        self._branch = branch
        home = scratch / "git"
        home.mkdir(parents=True)
        self._own = git.Repository(home, checkout)
        self._written: dict[str, Tree] = {}
        self._address = git.remote_of(checkout, home) if checkout is not None else None

    def tree(self, sha: str) -> Tree:
        """The tree of a commit (40 hex), written once. Raises GitError when it can be had nowhere."""
        if sha not in self._written:
            self._have(sha)
            root = self._scratch / "trees" / sha
            root.mkdir(parents=True)
            files = trees.write(self._own, sha, root)
            remote = self._address or (self._remote.url if self._remote else None)
            self._written[sha] = Tree(
                root=root, files=files, commit=sha, head=sha, branch=self._branch(), remote=remote, clean=True
            )
        return self._written[sha]

    def find_file(self, sha: str, path: str) -> bytes | None:
        """A regular file of a commit, None when it has none of that name."""
        self._have(sha)
        return self._own.show(sha, path)

    def changed_files(self, old: str, new: str) -> tuple[str, ...]:
        """The paths in which two commits differ, sorted. A forge lists only the first few hundred."""
        self._have(old)
        self._have(new)
        listed = self._own.git("diff-tree", "-r", "-z", "--name-only", "--no-renames", old, new)
        return tuple(sorted(os.fsdecode(path) for path in listed.split(b"\0") if path))

    def is_ancestor(self, ancestor: str, descendant: str) -> bool:
        """Whether one commit is reached from another, as far as the history at hand tells."""
        try:
            self._own.git("merge-base", "--is-ancestor", ancestor, descendant)
        except GitError:
            return False
        return True

    def _have(self, sha: str) -> None:
        if self._own.find(sha) is not None:
            return
        if self._remote is None:
            raise GitError(f"commit {sha} is not in this clone", hint="check out with fetch-depth: 0")
        self._own.fetch(self._remote.url, sha, header=self._remote.header)
