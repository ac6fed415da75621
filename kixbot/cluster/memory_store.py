"""Where the embedded cluster keeps its objects: one JSON file each under a folder, or a dict for a test.

Files are replaced atomically. One process or thread at a time: every transaction holds a lock file.
"""

import fcntl
import json
import os
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, unquote

from kixbot.errors import ClusterError


class Place(NamedTuple):
    """Where an object lives; `namespace` is "" for cluster-scoped kinds."""

    group: str
    plural: str
    namespace: str
    name: str


class Store(Protocol):
    """What the embedded cluster needs of its storage."""

    def transaction(self) -> Any:
        """A context that nobody else is in."""

    def find(self, place: Place) -> dict[str, Any] | None:
        """The object there, a copy of one's own."""

    def write(self, place: Place, body: dict[str, Any]) -> None:
        """Keep this object."""

    def remove(self, place: Place) -> None:
        """Forget it."""

    def places(self, group: str | None = None, plural: str | None = None, namespace: str = "") -> list[Place]:
        """All objects' places, sorted; of one kind and namespace where given."""

    def version(self) -> int:
        """The latest resourceVersion."""

    def next_version(self) -> int:
        """The next resourceVersion."""


class DictStore:
    """Objects in this process's memory."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._objects: dict[Place, str] = {}
        self._version = 0

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One thread at a time."""
        with self._lock:
            yield

    def find(self, place: Place) -> dict[str, Any] | None:
        """Decoded anew each time, so that no caller holds the stored object."""
        text = self._objects.get(place)
        return None if text is None else _decode(text)

    def write(self, place: Place, body: dict[str, Any]) -> None:
        """Keep it."""
        self._objects[place] = json.dumps(body)

    def remove(self, place: Place) -> None:
        """Forget it."""
        self._objects.pop(place, None)

    def places(self, group: str | None = None, plural: str | None = None, namespace: str = "") -> list[Place]:
        """Sorted."""
        return sorted(place for place in self._objects if _fits(place, group, plural, namespace))

    def version(self) -> int:
        """The latest."""
        return self._version

    def next_version(self) -> int:
        """Counts from 1."""
        self._version += 1
        return self._version


class FolderStore:
    """Objects as `<group or core>/<plural>/<namespace or _>/<name>.json` under `folder`."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._thread = threading.RLock()
        self._depth = 0
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / ".lock").touch()
        except OSError as error:
            raise ClusterError(
                f"{folder}: the embedded cluster cannot keep its state there: {error.strerror}",
                hint="set KIX_EMBEDDED to a folder you may write to",
            ) from error

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """One thread of one process at a time."""
        with self._thread:
            if self._depth:
                yield
                return
            with (self._folder / ".lock").open("a") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                self._depth = 1
                try:
                    yield
                finally:
                    self._depth = 0

    def find(self, place: Place) -> dict[str, Any] | None:
        """Read from its file. Raises ClusterError when the file is damaged."""
        path = self._path(place)
        try:
            return _decode(path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return None
        except ValueError as error:
            raise ClusterError(
                f"{path}: the embedded cluster's object is no JSON", hint="delete the file or start with a new folder"
            ) from error

    def write(self, place: Place, body: dict[str, Any]) -> None:
        """Replace its file atomically."""
        path = self._path(place)
        path.parent.mkdir(parents=True, exist_ok=True)
        _replace(path, json.dumps(body, indent=1, sort_keys=True) + "\n")

    def remove(self, place: Place) -> None:
        """Delete its file."""
        self._path(place).unlink(missing_ok=True)

    def places(self, group: str | None = None, plural: str | None = None, namespace: str = "") -> list[Place]:
        """Sorted, from the folders."""
        pattern = f"{'*' if group is None else _name(group or 'core')}/{plural or '*'}/{namespace or '*'}/*.json"
        found = [
            Place(
                "" if path.parts[-4] == "core" else unquote(path.parts[-4]),
                path.parts[-3],
                "" if path.parts[-2] == "_" else path.parts[-2],
                unquote(path.stem),
            )
            for path in self._folder.glob(pattern)
        ]
        return sorted(found)

    def version(self) -> int:
        """Kept in a file of its own."""
        path = self._folder / ".version"
        return int(path.read_text(encoding="utf-8")) if path.exists() else 0

    def next_version(self) -> int:
        """One more, written at once."""
        number = self.version() + 1
        _replace(self._folder / ".version", str(number))
        return number

    def _path(self, place: Place) -> Path:
        folder = self._folder / _name(place.group or "core") / place.plural / (_name(place.namespace) or "_")
        return folder / f"{_name(place.name)}.json"


def _fits(place: Place, group: str | None, plural: str | None, namespace: str) -> bool:
    return (
        (group is None or place.group == group)
        and (plural is None or place.plural == plural)
        and (not namespace or place.namespace == namespace)
    )


def _name(text: str) -> str:
    # A name from a manifest must not climb out of the folder: "/" and a leading "." are encoded.
    encoded = quote(text, safe=":")
    return "%2E" + encoded[1:] if encoded.startswith(".") else encoded


def _decode(text: str) -> dict[str, Any]:
    body: dict[str, Any] = json.loads(text)
    return body


def _replace(path: Path, text: str) -> None:
    handle, draft = tempfile.mkstemp(dir=path.parent, prefix=".draft-")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(text)
    Path(draft).replace(path)
