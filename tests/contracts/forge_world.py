"""A world around a forge: what other people and the CI do there, and what they see afterwards.

The contract suite (test_forge.py) speaks only to the forge under test and to this. A new forge adds a class and a
line in WORLDS.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any, Protocol

from kixbot.forges.interface import Forge
from kixbot.forges.local import LocalForge
from kixbot.forges.local_git import NO_COMMIT, Repository, create
from kixbot.forges.local_merge import merge_pull_request
from kixbot.forges.local_store import Store
from kixbot.forges.values import FileChange
from tests.forges.github_world import github_world
from tests.forges.gitlab_world import gitlab_world

VIEWER = "kix-bot"
"""The login the forge under test writes as."""


class World(Protocol):
    """One repository, empty but for a first commit on `main` with the file `README`."""

    @property
    def forge(self) -> Forge:
        """The forge under test."""
        ...

    @property
    def first(self) -> str:
        """The first commit of `main`."""
        ...

    def commit(self, branch: str, files: Mapping[str, bytes | None], *, author: str = "alice") -> str:
        """Somebody pushes a commit; a new branch starts at main's head. Gives its SHA."""
        ...

    def open(self, head: str, *, author: str = "alice", fork: bool = False) -> int:
        """Somebody opens a pull request from `head` (already pushed) into main."""
        ...

    def merge(self, number: int) -> str:
        """Somebody merges it with a merge commit; gives that commit."""
        ...

    def comment(self, number: int, author: str, body: str) -> str:
        """Somebody comments; gives the comment's id."""
        ...

    def statuses(self, sha: str) -> dict[str, tuple[str, str]]:
        """context → (state, description), the newest of each."""
        ...

    def deployments(self) -> list[tuple[str, str, str, str]]:
        """(sha, environment, task, state), oldest first."""
        ...

    def let(self, login: str, permission: str) -> None:
        """Makes somebody a collaborator."""
        ...

    def protect(self, branch: str) -> None:
        """From now on the branch takes pull requests only."""
        ...

    def deny(self, permission: str) -> str:
        """From now on the token lacks this permission (`statuses: write`, …); gives the forge's own word for it."""
        ...


class LocalWorld:
    """The local forge's world: its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        create(folder)
        self._git = Repository(folder)
        self._store = Store(folder)
        self.forge: Forge = LocalForge(folder, viewer=VIEWER)
        self.first = self.commit("main", {"README": b"hello\n"})

    def commit(self, branch: str, files: Mapping[str, bytes | None], *, author: str = "alice") -> str:
        changes = tuple(FileChange(path=path, content=content) for path, content in files.items())
        old = self._git.find(f"refs/heads/{branch}")
        parent = old or self._git.find("refs/heads/main")
        if parent is None:
            tree = self._git.run("mktree", data=b"").decode().strip()
            parent = self._git.commit_tree(tree, parents=(), message="Empty", author=author)
        new = self._git.commit(parent=parent, message=f"Change {branch}", author=author, files=changes)
        self._git.move(branch, new=new, expected=old or NO_COMMIT)
        return new

    def open(self, head: str, *, author: str = "alice", fork: bool = False) -> int:
        sha = self._git.get(f"refs/heads/{head}")
        number = self._store.add(
            "prs",
            {
                "title": f"Merge {head}", "author": author, "state": "open", "head_ref": head, "base_ref": "main",
                "from_fork": fork, "head_repository": f"{author}/fork" if fork else None,
            },
        )  # fmt: skip
        if fork:
            self._git.run("update-ref", f"refs/pull/{number}/head", sha)
            self._git.run("update-ref", "-d", f"refs/heads/{head}")
        return number

    def merge(self, number: int) -> str:
        return merge_pull_request(self.folder, number, by="alice")

    def amend_merge(self, number: int, merge: str, files: Mapping[str, bytes | None]) -> str:
        """Somebody edited while merging: the merge commit holds more than the pull request."""
        changes = tuple(FileChange(path=path, content=content) for path, content in files.items())
        tree = self._git.text(
            "rev-parse", f"{self._git.commit(parent=merge, message='', author='m', files=changes)}^{{tree}}"
        )
        parents = self._git.text("rev-list", "--parents", "-n1", merge).split()[1:]
        amended = self._git.commit_tree(tree, parents=tuple(parents), message="Merge", author="mallory")
        self._git.move("main", new=amended, expected=merge)
        document = self._store.get("prs", str(number), "pull request")
        self._store.write("prs", str(number), {**document, "merge_sha": amended})
        return amended

    def comment(self, number: int, author: str, body: str) -> str:
        return LocalForge(self.folder, viewer=author).create_comment(number, body).id

    def statuses(self, sha: str) -> dict[str, tuple[str, str]]:
        return {
            document["context"]: (document["state"], document["description"])
            for document in self._store.list(f"statuses/{sha}")
        }

    def deployments(self) -> list[tuple[str, str, str, str]]:
        keys = ("sha", "environment", "task", "state")
        return [tuple(document[key] for key in keys) for document in self._store.list("deployments")]

    def let(self, login: str, permission: str) -> None:
        self._rule(lambda rules: rules.setdefault("collaborators", {}).update({login: permission}))

    def protect(self, branch: str) -> None:
        self._rule(lambda rules: rules.setdefault("protected", []).append(branch))

    def deny(self, permission: str) -> str:
        self._rule(lambda rules: rules.setdefault("denied", []).append(permission))
        return permission

    def _rule(self, change: Callable[[dict[str, Any]], object]) -> None:
        file = self.folder / "forge.json"
        rules = json.loads(file.read_text()) if file.exists() else {}
        change(rules)
        file.write_text(json.dumps(rules))


@contextmanager
def local_world(folder: Path) -> Iterator[World]:
    """The local forge in a folder."""
    yield LocalWorld(folder / "forge.git")


@contextmanager
def on_github(folder: Path) -> Iterator[World]:
    """GitHub on loopback, judged by its published description."""
    with github_world(folder, VIEWER) as world:
        yield world


@contextmanager
def on_gitlab(folder: Path) -> Iterator[World]:
    """GitLab on loopback, judged by a description of facts."""
    with gitlab_world(folder, VIEWER) as world:
        yield world


WORLDS: dict[str, Callable[[Path], AbstractContextManager[World]]] = {
    "local": local_world,
    "github": on_github,
    "gitlab": on_gitlab,
}
"""Every implementation of `Forge`, by name; each is opened on an empty folder of the test's own."""
