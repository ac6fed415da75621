"""Bare paths: manifests that a person names, read as they stand on disk, whatever git thinks of them."""

import sys
from pathlib import Path, PurePosixPath

from kixbot.model.build import Evaluated, SourceInfo
from kixbot.sources import checkout, files, flavors, manifests, text
from kixbot.sources.manifests import File, Loose

STDIN = "-"


def evaluate(directory: Path, targets: tuple[str, ...]) -> Evaluated:
    """The manifests of these paths, relative to `directory`, as one closed cluster.

    Files are named as seen from the repository's top where there is one. Raises SourceError.
    """
    top = checkout.find_checkout(directory)
    found: list[File] = []
    for target in targets:
        if target == STDIN:
            found.append(File(name="-", data=_standard_input()))
        else:
            found.extend(_from_disk(directory, target, top))
    info = SourceInfo(kind="manifests", path=" ".join(targets))
    return manifests.evaluate(found, Loose(cluster=flavors.of_path(), source=info))


def _from_disk(directory: Path, target: str, top: Path | None) -> tuple[File, ...]:
    place = (directory / target).absolute()
    normal = Path(PurePosixPath("/").joinpath(*_normal(place.parts)))
    if top is not None and normal.is_relative_to(top) and normal != top:
        return files.collect(top, normal.relative_to(top).as_posix())
    if normal.is_dir():
        return files.collect(normal, ".", shown="" if target == "." else target)
    return files.collect(normal.parent, normal.name, shown=target)


def _normal(parts: tuple[str, ...]) -> list[str]:
    done: list[str] = []
    for part in parts[1:]:
        if part == "..":
            done = done[:-1]
        elif part != ".":
            done.append(part)
    return done


def _standard_input() -> bytes:
    return sys.stdin.buffer.read(text.MAX_BYTES + 1)
