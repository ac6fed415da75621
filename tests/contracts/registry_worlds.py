"""Each kind of registry the contract runs on: how to fill it and how to ask it."""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pytest

from kixbot.registry import open_registry
from kixbot.registry.interface import Registry
from kixbot.registry.loopback import Access, LoopbackRegistry
from kixbot.registry.memory import ImageContent, ImageStore, MemoryRegistry
from kixbot.retry import Clock
from kixbot.settings.model import RegistrySettings
from tests.parts.registry import PASSWORD, USER, Registry as DockerRegistry


class Filler(Protocol):
    """Puts images into a registry and takes them out."""

    def put(self, path: str, tag: str, content: ImageContent) -> str: ...

    def delete(self, path: str, digest: str) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """`host` is what stands before the first slash of every image here; `notes` what the client had to say."""

    registry: Registry
    filler: Filler
    host: str
    notes: list[str]

    def put(self, path: str, tag: str, content: ImageContent) -> str:
        return self.filler.put(path, tag, content)

    def image(self, path: str) -> str:
        return f"{self.host}/{path}"


class DockerFiller:
    """Pushes the same bytes to a real registry."""

    def __init__(self, registry: DockerRegistry) -> None:
        self._registry = registry

    def put(self, path: str, tag: str, content: ImageContent) -> str:
        for blob in content.blobs.values():
            self._registry._push_blob(path, blob)
        inner = [stored for digest, stored in content.manifests.items() if digest != content.top]
        for stored in inner:
            self._registry._call("PUT", f"/v2/{path}/manifests/{stored.digest}", stored.body, stored.media_type)
        top = content.manifests[content.top]
        self._registry._call("PUT", f"/v2/{path}/manifests/{tag}", top.body, top.media_type)
        return content.top

    def delete(self, path: str, digest: str) -> None:
        self._registry.delete(path, digest)


def write_login(folder: Path, host: str, user: str, password: str) -> dict[str, str]:
    """A docker configuration with one login; gives the environment that names it."""
    folder.mkdir(parents=True, exist_ok=True)
    pair = base64.b64encode(f"{user}:{password}".encode()).decode()
    (folder / "config.json").write_text(json.dumps({"auths": {host: {"auth": pair}}}))
    return {"DOCKER_CONFIG": str(folder)}


def no_waiting(seconds: float) -> None:
    raise AssertionError(f"nothing in this test waits, least of all {seconds} s")


def client_of(notes: list[str], environment: dict[str, str], home: Path, *allow: str) -> Registry:
    return open_registry(
        RegistrySettings(allow=allow), environment=environment, home=home, note=notes.append,
        clock=Clock(now=lambda: 0.0, sleep=no_waiting),
    )  # fmt: skip


def memory(folder: Path, request: pytest.FixtureRequest, stack: ExitStack) -> World:
    store = ImageStore()
    return World(registry=MemoryRegistry(store), filler=store, host="registry.example", notes=[])


def loopback(access: Access) -> Callable[[Path, pytest.FixtureRequest, ExitStack], World]:
    def start(folder: Path, request: pytest.FixtureRequest, stack: ExitStack) -> World:
        store, notes = ImageStore(), list[str]()
        users = None if access is Access.OPEN else {"ann": "pw"}
        server = stack.enter_context(LoopbackRegistry(store, access=access, users=users))
        environment = write_login(folder / "docker", server.host, "ann", "pw")
        registry = client_of(notes, environment, folder, "127.0.0.1")
        return World(registry=registry, filler=store, host=server.host, notes=notes)

    return start


def docker_open(folder: Path, request: pytest.FixtureRequest, stack: ExitStack) -> World:
    real: DockerRegistry = request.getfixturevalue("image_registry")
    notes: list[str] = []
    registry = client_of(notes, {}, folder, "127.0.0.1")
    return World(registry=registry, filler=DockerFiller(real), host=real.host, notes=notes)


def docker_token(folder: Path, request: pytest.FixtureRequest, stack: ExitStack) -> World:
    real: DockerRegistry = request.getfixturevalue("token_registry")
    notes: list[str] = []
    environment = write_login(folder / "docker", real.host, USER, PASSWORD)
    # The token server goes by another name than the registry: it has to be listed.
    registry = client_of(notes, environment, folder, "127.0.0.1", "localhost")
    return World(registry=registry, filler=DockerFiller(real), host=real.host, notes=notes)


WORLDS: dict[str, Callable[[Path, pytest.FixtureRequest, ExitStack], World]] = {
    "memory": memory,
    "loopback-open": loopback(Access.OPEN),
    "loopback-basic": loopback(Access.BASIC),
    "loopback-token": loopback(Access.TOKEN),
    "docker-open": docker_open,
    "docker-token": docker_token,
}


def start_world(name: str, folder: Path, request: pytest.FixtureRequest) -> Iterator[World]:
    with ExitStack() as stack:
        yield WORLDS[name](folder, request, stack)
