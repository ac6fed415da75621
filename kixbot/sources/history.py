"""Whether a commit was merged: is it part of the default branch, as this clone knows it."""

import tempfile
from pathlib import Path

from kixbot.errors import GitError, RefusedError
from kixbot.sources import checkout as checkouts
from kixbot.sources.git import SHA, Repository

_NAMES = ("main", "master")


def require_merged(directory: Path, commit: str) -> None:
    """Raises RefusedError when `commit` is no ancestor of the default branch, GitError when this clone lacks it."""
    checkout = checkouts.find_checkout(directory)
    if checkout is None:
        raise GitError(f"{directory}: not a git repository, so commit {commit[:12]} is not in it")
    with tempfile.TemporaryDirectory(prefix="kix-git-") as folder:
        repository = Repository(Path(folder), checkout)
        repository.resolve(commit)
        branch = default_branch(repository, checkout)
        if not is_ancestor(repository, commit, branch):
            raise RefusedError(
                f"commit {commit[:12]} is not part of the default branch ({_short(branch)})",
                hint="git fetch, if it was merged elsewhere; else --allow-unmerged, when you know whose commit it is",
            )


def default_branch(repository: Repository, checkout: Path) -> str:
    """The remote's HEAD, else the remote's or our own main or master, else what is checked out."""
    common = checkouts.common_folder(checkouts.git_folder(checkout))
    said = checkouts.first_line(common / "refs" / "remotes" / "origin" / "HEAD").removeprefix("ref: ")
    places = ("refs/remotes/origin", "refs/heads")
    for ref in (said, *(f"{place}/{name}" for place in places for name in _NAMES)):
        if ref.startswith("refs/") and repository.find(ref) is not None:
            return ref
    return "HEAD"


def is_ancestor(repository: Repository, commit: str, branch: str) -> bool:
    """Whether `commit` (40 hex digits) is `branch` or below it."""
    if not SHA.match(commit):
        return False
    tip = repository.resolve(branch)
    base = repository.git("rev-list", "--max-count=1", commit, f"^{tip}")
    return not base.strip()


def _short(ref: str) -> str:
    return ref.removeprefix("refs/remotes/").removeprefix("refs/heads/")
