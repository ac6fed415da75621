"""Builds or unpacks what is missing of the real parts: `python -m tests.parts.build [PART …]`.

One line per part that had to be made. Each part is made in a folder beside its place and renamed into it at the end, so
that a broken build leaves nothing that looks whole. One build runs at a time on a machine; a second one waits for it.
"""

import fcntl
import shutil
import sys
import time
from collections.abc import Callable
from pathlib import Path

from tests.parts import build_debian, build_go, build_npm, build_python
from tests.parts.commands import CommandError
from tests.parts.paths import ALL_PARTS, CLIENT_36, DOCKER_REGISTRY, GO_PARTS, NODE_MODULES, SECOND_NIX, Part, cache

MAKERS: dict[str, Callable[[Part, Path], str]] = {
    **{part.name: build_go.make for part in GO_PARTS},
    DOCKER_REGISTRY.name: build_debian.make_registry,
    SECOND_NIX.name: build_debian.make_nix,
    NODE_MODULES.name: build_npm.make,
    CLIENT_36.name: build_python.make,
}


def make(part: Part) -> None:
    """Makes one part and puts it into its place; what it was made with is written beside it."""
    started = time.monotonic()
    print(f"parts: {part.name} {part.version}: making it", flush=True)
    unfinished = part.folder.with_name(part.folder.name + ".unfinished")
    shutil.rmtree(unfinished, ignore_errors=True)
    unfinished.mkdir(parents=True)
    made_with = MAKERS[part.name](part, unfinished)
    (unfinished / "built-with").write_text(made_with + "\n")
    shutil.rmtree(part.folder, ignore_errors=True)
    unfinished.rename(part.folder)
    print(f"parts: {part.name} {part.version}: made in {time.monotonic() - started:.0f} s ({made_with})", flush=True)


def main(names: list[str]) -> int:
    unknown = set(names) - {part.name for part in ALL_PARTS}
    if unknown:
        print(f"parts: no part is called {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    wanted = [part for part in ALL_PARTS if not names or part.name in names]
    if all(part.is_there for part in wanted):
        return 0
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "build.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            for part in wanted:
                if not part.is_there:
                    make(part)
        except (CommandError, build_debian.ArchiveUnknownError) as error:
            print(f"parts: {error}", file=sys.stderr)
            return 1
        build_go.clean()
        _forget_old_parts()
    return 0


def _forget_old_parts() -> None:
    """Deletes what no recipe of this checkout makes and was made over two weeks ago."""
    kept = {part.folder for part in ALL_PARTS}
    for folder in (cache() / "parts").iterdir():
        if folder not in kept and time.time() - folder.stat().st_mtime > 14 * 24 * 3600:
            shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
