"""The world of the contract suite around a GitLab on loopback."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kixbot.forges.gitlab import GitLabForge
from kixbot.retry import Clock
from tests.forges.git_store import GitStore
from tests.forges.gitlab_server import GitLabServer, Token

_LEVELS = {"admin": 50, "maintain": 40, "write": 30, "triage": 20, "read": 10}
_RESOURCES = {"pull-requests": "merge_requests", "statuses": "statuses", "deployments": "deployments"}


class GitLabWorld:
    """What other people do on the server, without its API."""

    def __init__(self, folder: Path, viewer: str) -> None:
        self._store = GitStore(folder / "shop.git")
        self.first = self._store.commit(None, "First", [("README", b"hello\n")])
        self._store.move("main", self.first, None)
        self.server = GitLabServer(self._store)
        self.server.tokens["secret"] = Token(login=viewer)
        self.forge = GitLabForge(
            token="secret",
            project=self.server.project,
            api_url=self.server.api_url,
            clock=Clock(now=lambda: 0.0, sleep=lambda _seconds: None),
        )

    def commit(self, branch: str, files: Mapping[str, bytes | None], *, author: str = "alice") -> str:  # noqa: ARG002
        old = self._store.find(f"refs/heads/{branch}")
        made = self._store.commit(old or self._store.find("main"), f"Change {branch}", list(files.items()))
        assert self._store.move(branch, made, old)
        return made

    def open(self, head: str, *, author: str = "alice", fork: bool = False) -> int:
        return self.server.open_request(
            source=head, target="main", title=f"Merge {head}", author=author, fork=f"{author}/fork" if fork else None
        )

    def merge(self, number: int) -> str:
        return self.server.merge_request(number)

    def comment(self, number: int, author: str, body: str) -> str:
        return str(self.server.add_note(number, author, body))

    def statuses(self, sha: str) -> dict[str, tuple[str, str]]:
        names = {"failed": "failure"}
        found = [kept for kept in self.server.state.statuses if kept["sha"] == sha]
        return {kept["name"]: (names.get(kept["state"], kept["state"]), kept["description"]) for kept in found}

    def deployments(self) -> list[tuple[str, str, str, str]]:
        return self.server.deployments()

    def let(self, login: str, permission: str) -> None:
        self.server.state.members[login] = _LEVELS[permission]

    def protect(self, branch: str) -> None:
        self.server.state.protected.add(branch)

    def deny(self, permission: str) -> str:
        self.server.state.denied.add(_RESOURCES[permission.partition(":")[0]])
        return "api"  # GitLab knows scopes of a token, not permissions of a job


@contextmanager
def gitlab_world(folder: Path, viewer: str) -> Iterator[GitLabWorld]:
    """GitLab in a folder; at the end no message may have gone against the description."""
    world = GitLabWorld(folder, viewer)
    try:
        yield world
    finally:
        world.server.close()
        assert world.server.violations == []
