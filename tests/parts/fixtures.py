"""Fixtures of the real parts. Each starts what it gives, or says which part is missing; none of them skips."""

import os
import secrets
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.parts.access import Access
from tests.parts.act import Act
from tests.parts.control_plane import ControlPlane
from tests.parts.gitlab_ci import GitlabCi
from tests.parts.kube_api import KubeApi
from tests.parts.paths import CLIENT_36
from tests.parts.registry import Registry
from tests.parts.second_nix import Nix, first_nix as find_first_nix, second_nix as find_second_nix
from tests.parts.shared import shared_control_plane


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Access:
    """The run's one control plane, shared by all workers: keep to namespaces of your own (`kube_namespace`)."""
    folder = tmp_path_factory.getbasetemp()
    owner = os.getpid()
    if "PYTEST_XDIST_WORKER" in os.environ:
        folder, owner = folder.parent, os.getppid()
    return shared_control_plane(folder / "control-plane", owner)


@pytest.fixture
def kube_api(control_plane: Access) -> KubeApi:
    """The administrator's plain client of the shared control plane."""
    return control_plane.api()


@pytest.fixture
def kube_prefix(control_plane: Access) -> Iterator[str]:
    """A prefix for names of this test alone. Namespaces that start with it are deleted after the test."""
    prefix = f"t{secrets.token_hex(4)}"
    yield prefix
    api = control_plane.api()
    for namespace in api.get("/api/v1/namespaces")["items"]:
        name = namespace["metadata"]["name"]
        if name.startswith(prefix) and "deletionTimestamp" not in namespace["metadata"]:
            api.delete(f"/api/v1/namespaces/{name}")


@pytest.fixture
def kube_namespace(kube_api: KubeApi, kube_prefix: str) -> str:
    """A new namespace with its default service account, for this test alone."""
    kube_api.create("/api/v1/namespaces", {"metadata": {"name": kube_prefix}})
    kube_api.wait_for(f"/api/v1/namespaces/{kube_prefix}/serviceaccounts/default", lambda _: True)
    return kube_prefix


@pytest.fixture
def make_control_plane(tmp_path: Path) -> Iterator[Callable[..., ControlPlane]]:
    """Starts control planes of the test's own, `make(nodes=…, users=…)`: about 5 seconds and 650 MB each."""
    planes: list[ControlPlane] = []

    def make(**options: object) -> ControlPlane:
        plane = ControlPlane(tmp_path / f"control-plane-{len(planes)}", **options)  # type: ignore[arg-type]  # passed on
        plane.start()
        planes.append(plane)
        return plane

    yield make
    for plane in planes:
        plane.stop()


@pytest.fixture
def private_control_plane(make_control_plane: Callable[..., ControlPlane]) -> ControlPlane:
    """A control plane of this test's own, to kill, pause and restart parts of."""
    return make_control_plane()


@pytest.fixture(scope="session")
def image_registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Registry]:
    """A registry of this worker's, open to everybody: push under a name of the test's own."""
    registry = Registry(tmp_path_factory.mktemp("registry"))
    registry.start()
    yield registry
    registry.stop()


@pytest.fixture
def token_registry(tmp_path: Path) -> Iterator[Registry]:
    """A registry of this test's own that asks for tokens (`registry.USER`, `registry.PASSWORD`; `public/` is open)."""
    registry = Registry(tmp_path / "registry", behind_tokens=True)
    registry.start()
    yield registry
    registry.stop()


@pytest.fixture(scope="session")
def first_nix() -> Nix:
    """The Nix on PATH."""
    return find_first_nix()


@pytest.fixture(scope="session")
def second_nix() -> Nix:
    """Debian 13's Nix."""
    return find_second_nix()


@pytest.fixture(params=["first", "second"])
def each_nix(request: pytest.FixtureRequest) -> Nix:
    """Runs the test once with each version of Nix."""
    return find_first_nix() if request.param == "first" else find_second_nix()


@pytest.fixture
def act(tmp_path: Path) -> Act:
    """Runs GitHub Actions workflows on this machine."""
    return Act(folder=tmp_path / "act-home")


@pytest.fixture(scope="session")
def client_36() -> dict[str, str]:
    """The environment in which a Python subprocess finds version 36 of the Kubernetes client."""
    return {**os.environ, "PYTHONPATH": str(CLIENT_36.get("packages"))}


@pytest.fixture
def gitlab_ci(tmp_path: Path) -> GitlabCi:
    """Runs GitLab CI pipelines on this machine."""
    return GitlabCi(folder=tmp_path / "gitlab-home")
