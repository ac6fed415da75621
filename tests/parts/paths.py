"""Where the real parts are that tests run against: etcd, the API server, kwok, act, a registry, a second Nix.

`make setup` builds or unpacks each into the user's cache folder, outside the tree. A part that is missing is an error
and never a skipped test: a suite that quietly tests less is worse than one that stops. Standard library only, since
setup runs this before any package is there.
"""

import hashlib
import os
import platform
import sys
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
PROJECT = HERE.parent.parent


class PartMissingError(Exception):
    """A part was not built, or its recipe has changed since."""

    def __init__(self, part: "Part", program: str) -> None:
        super().__init__(f"{part.name} {part.version}: {program} is not in {part.folder}\nhint: make setup")


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One thing that setup puts into the cache.

    The folder's name holds a hash of the recipe (the module's own files, or for Debian and npm the lines that choose
    what is unpacked), so a changed recipe is a new folder and two checkouts never disturb each other. The version of Go
    is not in it, since a part must be found where no Go is installed any more; it stands in the file `built-with`.
    """

    name: str
    version: str
    recipe: tuple[str, ...]
    """Files or folders under tests/parts, and words, that decide what the part is."""

    @property
    def folder(self) -> Path:
        return cache() / "parts" / f"{self.name}-{self.version}-{self._key()}"

    @property
    def is_there(self) -> bool:
        return (self.folder / "built-with").is_file()

    def get(self, inner: str) -> Path:
        """The path of a file or folder of this part, e.g. `bin/etcd`."""
        path = self.folder / inner
        if not (self.is_there and path.exists()):
            raise PartMissingError(self, inner)
        return path

    def _key(self) -> str:
        digest = hashlib.sha256(platform.machine().encode())
        for item in self.recipe:
            digest.update(b"\0" + item.encode())
            path = HERE / item
            files = sorted(path.rglob("*")) if path.is_dir() else [path]
            for file in files:
                if file.is_file():
                    digest.update(b"\0" + file.name.encode() + b"\0" + file.read_bytes())
        return digest.hexdigest()[:12]


def cache() -> Path:
    """The project's cache folder: $XDG_CACHE_HOME/kix, or ~/.cache/kix."""
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base else Path.home() / ".cache") / "kix"


CONTROL_PLANE = Part(name="control-plane", version="v1.34.3", recipe=("go/control-plane",))
KWOK = Part(
    name="kwok",
    version="v0.8.0",
    recipe=("go/kwok", "pod/fast", "node/fast", "node/heartbeat-with-lease", "pod/chaos"),
)
ACT = Part(name="act", version="v0.2.89", recipe=("go/act",))
CRANE = Part(name="crane", version="v0.22.1", recipe=("go/crane",))
ACTIONLINT = Part(name="actionlint", version="v1.7.12", recipe=("go/actionlint",))
CONTROLLER_GEN = Part(name="controller-gen", version="v0.18.0", recipe=("go/controller-gen",))
DOCKER_REGISTRY = Part(name="docker-registry", version="debian", recipe=("docker-registry",))
SECOND_NIX = Part(name="nix", version="debian-13", recipe=("nix-bin", "trixie", "nix-wrapper.sh"))
NODE_MODULES = Part(name="node-modules", version="npm", recipe=("npm",))
CLIENT_36 = Part(
    name="kubernetes-client",
    version="36",
    recipe=("requirements-client-36.txt", f"python{sys.version_info[0]}.{sys.version_info[1]}"),
)
"""The older of the two major versions of the Kubernetes client: `packages` in it goes before others on PYTHONPATH."""

GO_PARTS = (CONTROL_PLANE, KWOK, ACT, CRANE, ACTIONLINT, CONTROLLER_GEN)
DEBIAN_PARTS = (DOCKER_REGISTRY, SECOND_NIX)
ALL_PARTS = (*GO_PARTS, *DEBIAN_PARTS, NODE_MODULES, CLIENT_36)

ETCD_VERSION = "3.6.4"
CONTROL_PLANE_NAMES = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubectl")


def program(name: str) -> Path:
    """The path of a program by the name it is called under, e.g. `kubectl`, `act`."""
    for part in (*GO_PARTS, *DEBIAN_PARTS):
        names = CONTROL_PLANE_NAMES if part is CONTROL_PLANE else (part.name,)
        if name in names:
            return part.get(f"bin/{name}")
    raise LookupError(f"no part is called {name}")
