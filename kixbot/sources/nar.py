"""Nix archives: the bytes of a tree as Nix hashes them, and the export stream that `nix-store --import` reads."""

import base64
import hashlib
import os
import stat
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from kixbot import identity
from kixbot.errors import SourceError

_EXPORT_MAGIC = 0x4558494E
_Folder = dict[str, "_Folder | None"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """A tree in a store: its store path and the hash that names it, as `fetchTarball` takes it."""

    store_path: str
    sha256: str

    @property
    def name(self) -> str:
        """The last part of the store path."""
        return self.store_path.rpartition("/")[2]


def export(root: Path, files: Iterable[str], name: str, out: BinaryIO) -> Imported:
    """Write the tree of these files below `root` as one entry of an export stream. The stream ends with `end`.

    Raises SourceError for anything that is neither a regular file nor a symbolic link.
    """
    _number(out, 1)
    hashing = _Hashing(out)
    _text(hashing, b"nix-archive-1")
    _folder(hashing, root, _nested(files))
    digest = hashing.sha256.digest()
    path = source_path(digest, name)
    _number(out, _EXPORT_MAGIC)
    _text(out, path.encode())
    _number(out, 0)  # references
    _text(out, b"")  # deriver
    _number(out, 0)  # no signature
    return Imported(store_path=path, sha256=f"sha256-{base64.b64encode(digest).decode()}")


def end(out: BinaryIO) -> None:
    """Close an export stream."""
    _number(out, 0)


def source_path(digest: bytes, name: str) -> str:
    """The store path of a tree whose archive has this sha256 digest (Nix: fixed output, recursive)."""
    inner = f"source:sha256:{digest.hex()}:{identity.STORE}:{name}"
    return f"{identity.STORE}/{identity.store_hash(inner)}-{name}"


class _Hashing:
    """Writes and hashes."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self.sha256 = hashlib.sha256()

    def write(self, data: bytes) -> int:
        self.sha256.update(data)
        return self._out.write(data)


def _nested(files: Iterable[str]) -> _Folder:
    top: _Folder = {}
    for file in files:
        folder = top
        *parents, leaf = file.split("/")
        for part in parents:
            inner = folder.setdefault(part, {})
            assert inner is not None, file
            folder = inner
        folder[leaf] = None
    return top


def _folder(out: "_Hashing", place: Path, entries: _Folder) -> None:
    for word in (b"(", b"type", b"directory"):
        _text(out, word)
    for name in sorted(entries, key=os.fsencode):
        inner, raw = entries[name], os.fsencode(name)
        for word in (b"entry", b"(", b"name", raw, b"node"):
            _text(out, word)
        if inner is None:
            _leaf(out, place / name)
        else:
            _folder(out, place / name, inner)
        _text(out, b")")
    _text(out, b")")


def _leaf(out: "_Hashing", place: Path) -> None:
    mode = place.lstat().st_mode
    if stat.S_ISLNK(mode):
        for word in (b"(", b"type", b"symlink", b"target", os.fsencode(place.readlink()), b")"):
            _text(out, word)
        return
    if not stat.S_ISREG(mode):
        raise SourceError(f"{place.name}: neither a file nor a symbolic link")
    with os.fdopen(os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as stream:
        content = stream.read()
    for word in (b"(", b"type", b"regular"):
        _text(out, word)
    if mode & stat.S_IXUSR:
        _text(out, b"executable")
        _text(out, b"")
    _text(out, b"contents")
    _text(out, content)
    _text(out, b")")


def _number(out: "_Hashing | BinaryIO", value: int) -> None:
    out.write(struct.pack("<Q", value))


def _text(out: "_Hashing | BinaryIO", value: bytes) -> None:
    _number(out, len(value))
    out.write(value)
    out.write(b"\0" * (-len(value) % 8))
