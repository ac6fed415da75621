"""Opening what a definition or a person names: inside the tree only, regular files only, within bounds.

A path is resolved component by component through the tree's own links, so that neither `..` nor a symlink reaches a
file outside; nothing is quoted from anything that is not such a file.
"""

import os
import posixpath
import stat
from collections import deque
from collections.abc import Container, Iterator
from pathlib import Path

from kixbot.errors import SourceError
from kixbot.sources.manifests import File
from kixbot.sources.text import MAX_BYTES

MAX_TREE = 64 * 2**20
_SUFFIXES = (".yaml", ".yml", ".json")
_MAX_LINKS = 40  # as Linux itself
_KIX_OWN = frozenset({"pins.json"})
_RENDERED = {
    "kustomization.yaml": "kustomize build {0} | kix check -",
    "kustomization.yml": "kustomize build {0} | kix check -",
    "Kustomization": "kustomize build {0} | kix check -",
    "Chart.yaml": "helm template {0} | kix check -",
}


def resolve(root: Path, relative: str) -> Path:
    """The real place of `relative` in the tree `root`. Raises SourceError when it is missing or leads outside."""
    if relative.startswith("/") or "\0" in relative:
        raise SourceError(f"{relative!r}: an absolute path", hint="write a path relative to the repository")
    pending, done, links = deque(relative.split("/")), list[str](), 0
    while pending:
        part = pending.popleft()
        if part in {"", "."}:
            continue
        if part == "..":
            if not done:
                raise _outside(relative)
            done.pop()
            continue
        if part.lower() == ".git":
            raise SourceError(f"{relative}: git's own files are no source")
        target = _link(root.joinpath(*done, part), relative)
        if target is None:
            done.append(part)
            continue
        links += 1
        if links > _MAX_LINKS:
            raise SourceError(f"{relative}: symbolic links form a loop")
        if target.startswith("/"):
            raise _outside(relative)
        pending.extendleft(reversed(target.split("/")))
    return root.joinpath(*done)


def read_inside(root: Path, relative: str, *, limit: int = MAX_BYTES) -> bytes:
    """The bytes of a regular file of the tree. Raises SourceError when it is none, or larger than `limit` bytes."""
    return _read(resolve(root, relative), relative, limit)


def find_inside(root: Path, relative: str) -> bytes | None:
    """The bytes of a regular file of the tree, None when there is no such file."""
    if not os.path.lexists(root / relative):
        return None
    return read_inside(root, relative)


def collect(
    root: Path, relative: str, *, shown: str | None = None, known: Container[str] | None = None
) -> tuple[File, ...]:
    """The manifests that a path names: one file, or a folder's .yaml, .yml and .json files at any depth, by name.

    `shown` is how people see the path; `known` are the files of the tree, where some on disk
    are none. Hidden files and folders, linked folders and pins.json are left out. Raises
    SourceError for an empty folder, and for an overlay or a chart, which must be rendered first.
    """
    place = resolve(root, relative)
    name = shown if shown is not None else posixpath.normpath(relative)
    if not place.is_dir():
        return (File(name=name, data=_read(place, name, MAX_BYTES)),)
    prefix = "" if name in {".", ""} else f"{name.rstrip('/')}/"
    files, total = [], 0
    for inner in _walk(place, ""):
        if known is not None and posixpath.normpath(f"{relative}/{inner}") not in known:
            continue
        real = resolve(root, f"{relative}/{inner}".removeprefix("./"))
        data = _read(real, prefix + inner, MAX_BYTES)
        total += len(data)
        if total > MAX_TREE:
            raise SourceError(
                f"{name}: manifests take more than {MAX_TREE // 2**20} MiB", hint="check a smaller folder"
            )
        files.append(File(name=prefix + inner, data=data))
    if not files:
        raise SourceError(f"{name}: no manifest in this folder", hint="put .yaml, .yml or .json files there")
    return tuple(files)


def _walk(folder: Path, prefix: str) -> Iterator[str]:
    for entry in sorted(os.scandir(folder), key=lambda entry: entry.name):
        if entry.name in _RENDERED:
            shown = prefix.rstrip("/") or folder.name
            raise SourceError(
                f"{prefix}{entry.name}: this folder must be rendered first", hint=_RENDERED[entry.name].format(shown)
            )
        if entry.name.startswith(".") or entry.name in _KIX_OWN:
            continue
        if entry.is_dir(follow_symlinks=False):
            yield from _walk(folder / entry.name, f"{prefix}{entry.name}/")
        elif entry.name.endswith(_SUFFIXES):
            yield prefix + entry.name


def _link(path: Path, relative: str) -> str | None:
    """Where a symbolic link points; None for anything else that exists."""
    try:
        mode = path.lstat().st_mode
        return str(path.readlink()) if stat.S_ISLNK(mode) else None
    except (FileNotFoundError, NotADirectoryError) as err:
        raise SourceError(f"{relative}: no such file or folder") from err
    except OSError as err:
        raise SourceError(f"{relative}: {_reason(err)}") from err


def _read(path: Path, shown: str, limit: int) -> bytes:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as err:
        raise SourceError(f"{shown}: {_reason(err)}") from err
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise SourceError(f"{shown}: not a regular file")
    with os.fdopen(handle, "rb") as stream:
        data = stream.read(limit + 1)
    if len(data) > limit:
        raise SourceError(f"{shown}: larger than {limit // 2**20} MiB", hint="split the file")
    return data


def _reason(err: OSError) -> str:
    return (err.strerror or "cannot be read").lower()


def _outside(relative: str) -> SourceError:
    return SourceError(f"{relative}: leads outside the tree", hint="name files of the repository only")
