"""A client of a loopback registry with habits of its own; time passes only in the list of what was waited."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from kixbot.registry import open_registry
from kixbot.registry.interface import Registry
from kixbot.registry.loopback import Access, Intercept, LoopbackRegistry, Received, Reply
from kixbot.registry.memory import ImageRecipe, ImageStore, make_image
from kixbot.retry import Clock
from kixbot.settings.model import RegistrySettings

NOW = 1_790_000_000.0
CONTENT = make_image(ImageRecipe())
NEWER = make_image(ImageRecipe(user="101"))


@dataclass(kw_only=True)
class Bench:
    """One server, one client, what it noted and how long it waited. `image` is in the server's store as 1.0."""

    server: LoopbackRegistry
    registry: Registry
    notes: list[str] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)

    @property
    def image(self) -> str:
        return f"{self.server.host}/acme/web"

    def asked(self, start: str) -> list[str]:
        """Requests whose line starts so."""
        return [line for line in self.server.lines if line.startswith(start)]


@contextmanager
def bench(
    folder: Path,
    intercept: Intercept | None = None,
    *,
    access: Access = Access.OPEN,
    users: Mapping[str, str] | None = None,
    docker: Callable[[str], object] | None = None,
    environment: Mapping[str, str] | None = None,
    rules: Callable[[str], RegistrySettings] | None = None,
) -> Iterator[Bench]:
    """`docker` and `rules` give the docker configuration and the settings for the server's host."""
    store = ImageStore()
    store.put("acme/web", "1.0", CONTENT)
    notes: list[str] = []
    waits: list[float] = []
    given = {"DOCKER_CONFIG": str(folder), "PATH": f"{folder}:/usr/bin:/bin", **(environment or {})}
    with LoopbackRegistry(store, access=access, users=users, intercept=intercept) as server:
        if docker:
            (folder / "config.json").write_text(json.dumps(docker(server.host)))
        registry = open_registry(
            rules(server.host) if rules else RegistrySettings(allow=("127.0.0.1",)),
            environment=given,
            home=folder,
            note=notes.append,
            clock=Clock(now=lambda: NOW, sleep=waits.append),
        )
        yield Bench(server=server, registry=registry, notes=notes, waits=waits)


def on(start: str, reply: Reply | Callable[[Received], Reply | None]) -> Intercept:
    """Answers requests whose line starts so."""

    def intercept(received: Received) -> Reply | None:
        if not received.line.startswith(start):
            return None
        return reply if isinstance(reply, Reply) else reply(received)

    return intercept


def fault(status: int, code: str = "", **headers: str) -> Reply:
    body = json.dumps({"errors": [{"code": code, "message": "canary <b>"}]}).encode() if code else b""
    return Reply(status=status, body=body, headers={name.replace("_", "-"): value for name, value in headers.items()})


def manifest(name: str = "1.0") -> str:
    """The address of a manifest."""
    return f"/v2/acme/web/manifests/{name}"


def served(body: bytes, content_type: str, **headers: str) -> Reply:
    return Reply(body=body, headers={"Content-Type": content_type, **headers})
