"""The world of the contract suite around a GitHub on loopback."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from kixbot.forges.github import GitHubForge
from kixbot.retry import Clock
from tests.forges.git_store import GitStore
from tests.forges.github_server import GitHubServer, Token


class GitHubWorld:
    """What other people do on the server, without its API."""

    def __init__(self, folder: Path, viewer: str) -> None:
        self._store = GitStore(folder / "shop.git")
        self.first = self._store.commit(None, "First", [("README", b"hello\n")])
        self._store.move("main", self.first, None)
        self.server = GitHubServer(self._store)
        self._token = Token(login=viewer)
        self.server.tokens["secret"] = self._token
        self.forge = GitHubForge(
            token="secret",
            repository=self.server.repository,
            api_url=self.server.api_url,
            graphql_url=self.server.graphql_url,
            clock=Clock(now=lambda: 0.0, sleep=lambda _seconds: None),
        )

    def commit(self, branch: str, files: Mapping[str, bytes | None], *, author: str = "alice") -> str:  # noqa: ARG002
        old = self._store.find(f"refs/heads/{branch}")
        made = self._store.commit(old or self._store.find("main"), f"Change {branch}", list(files.items()))
        assert self._store.move(branch, made, old)
        return made

    def open(self, head: str, *, author: str = "alice", fork: bool = False) -> int:
        return self.server.open_pull(
            head=head, base="main", title=f"Merge {head}", author=author, fork=f"{author}/fork" if fork else None
        )

    def merge(self, number: int) -> str:
        return self.server.merge_pull(number)

    def comment(self, number: int, author: str, body: str) -> str:
        return str(self.server.add_comment(number, author, body))

    def statuses(self, sha: str) -> dict[str, tuple[str, str]]:
        found = [kept for kept in self.server.state.statuses if kept["sha"] == sha]
        return {kept["context"]: (kept["state"], kept["description"]) for kept in found}

    def deployments(self) -> list[tuple[str, str, str, str]]:
        return self.server.deployments()

    def let(self, login: str, permission: str) -> None:
        self.server.state.permissions[login] = permission

    def protect(self, branch: str) -> None:
        self.server.state.protected.add(branch)

    def deny(self, permission: str) -> str:
        self._token.writes -= {permission.partition(":")[0].replace("-", "_")}
        return permission


@contextmanager
def github_world(folder: Path, viewer: str) -> Iterator[GitHubWorld]:
    """GitHub in a folder; at the end no message may have gone against the published description."""
    world = GitHubWorld(folder, viewer)
    try:
        yield world
    finally:
        world.server.close()
        assert world.server.violations == []
