"""Reading a document whose shape must be exact: each getter names what is wrong and where."""

from collections.abc import Mapping
from typing import Any

from kixbot.errors import SourceError


class Shape:
    """A map of the document, with its place in words for messages."""

    def __init__(self, value: Any, where: str) -> None:
        """Raises SourceError when the value is no map."""
        if not isinstance(value, Mapping):
            raise _wrong(where, "a map")
        self._value: Mapping[str, Any] = value
        self._where = where

    def get(self, key: str) -> Any:
        """Whatever stands there, None when nothing does."""
        return self._value.get(key)

    @property
    def mapping(self) -> Mapping[str, Any]:
        """The map itself."""
        return self._value

    def text(self, key: str) -> str:
        """A string that must be there."""
        value = self._value.get(key)
        if not isinstance(value, str):
            raise _wrong(f"{self._where}.{key}", "text")
        return value

    def find_text(self, key: str) -> str | None:
        """A string or nothing."""
        return None if self._value.get(key) is None else self.text(key)

    def truth(self, key: str) -> bool:
        """A boolean; False when nothing stands there."""
        value = self._value.get(key)
        if value is not None and not isinstance(value, bool):
            raise _wrong(f"{self._where}.{key}", "true or false")
        return bool(value)

    def find_number(self, key: str) -> int | None:
        """An integer or nothing."""
        value = self._value.get(key)
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise _wrong(f"{self._where}.{key}", "an integer")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of strings; empty when nothing stands there."""
        value = self._value.get(key)
        if value is None:
            return ()
        if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
            raise _wrong(f"{self._where}.{key}", "a list of texts")
        return tuple(value)

    def maps(self, key: str) -> tuple["Shape", ...]:
        """A list of maps; empty when nothing stands there."""
        value = self._value.get(key)
        if value is None:
            return ()
        if not isinstance(value, list):
            raise _wrong(f"{self._where}.{key}", "a list")
        return tuple(Shape(entry, f"{self._where}.{key}[{at}]") for at, entry in enumerate(value))

    def inner(self, key: str) -> "Shape":
        """A map; empty when nothing stands there."""
        return Shape(self._value.get(key) or {}, f"{self._where}.{key}")

    def items(self) -> tuple[tuple[str, "Shape"], ...]:
        """The entries of a map of maps."""
        return tuple((key, Shape(value, f"{self._where}.{key}")) for key, value in self._value.items())


def _wrong(where: str, expected: str) -> SourceError:
    return SourceError(
        f"{where}: {expected} expected", hint="the file's function must return what kix.buildCluster gives"
    )
