"""Reading one table of TOML strictly: unknown keys are refused with the nearest known one, types are exact."""

import difflib
import re
from collections.abc import Mapping, Sequence
from typing import Any

from kixbot.errors import SettingsError

_SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400}
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]{0,48}[a-z0-9])?\Z")
_NAMESPACE = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?\Z")


class Table:
    """A table with its place in words, such as `kix.toml: [clusters.shop]`."""

    def __init__(self, value: object, where: str, known: Sequence[str] | None) -> None:
        """`known` are the keys it may have, None for any. Raises SettingsError."""
        if not isinstance(value, Mapping):
            raise SettingsError(f"{where}: a table is expected")
        self._value: Mapping[str, Any] = value
        self._where = where
        for key in value if known is not None else ():
            if key not in (known or ()):
                near = difflib.get_close_matches(key, known or (), n=1, cutoff=0.6)
                hint = f"did you mean {near[0]}?" if near else f"known keys: {', '.join(known or ())}"
                raise SettingsError(f"{where}: unknown key {key[:80]!r}", hint=hint)

    @property
    def keys(self) -> tuple[str, ...]:
        """The keys in the order written."""
        return tuple(self._value)

    def has(self, key: str) -> bool:
        """Whether the key was written."""
        return key in self._value

    def raw(self, key: str) -> Any:
        """The value as TOML gave it, None when absent."""
        return self._value.get(key)

    def error(self, key: str, expected: str) -> SettingsError:
        """The error for a value that is not what it must be."""
        return SettingsError(f"{self._where} {key}: {expected}")

    def find_text(self, key: str) -> str | None:
        """Text that is not empty, None when absent."""
        value = self._value.get(key)
        if value is None:
            return None
        if not isinstance(value, str) or not value:
            raise self.error(key, "text is expected")
        return value

    def text(self, key: str) -> str:
        """Text that must be there."""
        value = self.find_text(key)
        if value is None:
            raise SettingsError(f"{self._where}: {key} is missing", hint=f'add {key} = "…"')
        return value

    def inside(self, key: str, default: str | None = None) -> str:
        """A relative path."""
        value = self.find_text(key) or default or self.text(key)
        if value.startswith("/") or "\0" in value:
            raise self.error(key, "a path relative to this file is expected")
        return value

    def namespace(self, key: str, default: str) -> str:
        """A namespace's name."""
        return self._matching(key, _NAMESPACE, "a namespace is expected") or default

    def find_namespace(self, key: str) -> str | None:
        """A namespace's name, None when absent."""
        return self._matching(key, _NAMESPACE, "a namespace is expected")

    def find_matching(self, key: str, pattern: str, expected: str) -> str | None:
        """Text that the pattern matches as a whole, None when absent."""
        return self._matching(key, re.compile(pattern), expected)

    def truth(self, key: str, *, default: bool = False) -> bool:
        """A boolean."""
        value = self._value.get(key, default)
        if not isinstance(value, bool):
            raise self.error(key, "true or false is expected")
        return value

    def number(self, key: str, default: int, low: int, high: int) -> int:
        """An integer between two bounds."""
        value = self._value.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            raise self.error(key, f"a number from {low} to {high} is expected")
        return value

    def choice(self, key: str, allowed: Sequence[str], default: str) -> str:
        """One of a few words."""
        value = self._value.get(key, default)
        if not isinstance(value, str) or value not in allowed:
            raise self.error(key, f"{_listed(allowed)} is expected")
        return value

    def texts(self, key: str) -> tuple[str, ...]:
        """A list of texts; empty when absent."""
        value = self._value.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, str) and entry for entry in value):
            raise self.error(key, "a list of texts is expected")
        return tuple(value)

    def choices(self, key: str, allowed: Sequence[str], default: Sequence[str]) -> tuple[str, ...]:
        """A list of a few words."""
        found = self.texts(key) if self.has(key) else tuple(default)
        if any(entry not in allowed for entry in found):
            raise self.error(key, f"a list of {_listed(allowed)} is expected")
        return found

    def duration(self, key: str) -> int:
        """A duration like `10m`, in seconds; 0 when absent."""
        value = self._matching(key, re.compile(r"[0-9]{1,6}[smhd]"), 'a duration like "10m" is expected (s, m, h, d)')
        return int(value[:-1]) * _SECONDS[value[-1]] if value else 0

    def table(self, key: str, known: Sequence[str] | None) -> "Table":
        """A table; an empty one when absent."""
        head, bracket, inner = self._where.partition(" [")
        where = f"{head} [{inner.rstrip(']')}.{key}]" if bracket else f"{self._where}: [{key}]"
        return Table(self._value.get(key, {}), where, known)

    def tables(self, key: str, known: Sequence[str]) -> tuple["Table", ...]:
        """A list of tables; empty when absent."""
        value = self._value.get(key, [])
        if not isinstance(value, list):
            raise self.error(key, "a list of tables is expected")
        return tuple(Table(entry, f"{self._where} {key}[{at}]", known) for at, entry in enumerate(value))

    def _matching(self, key: str, pattern: re.Pattern[str], expected: str) -> str | None:
        value = self.find_text(key)
        if value is not None and not pattern.fullmatch(value):
            raise self.error(key, expected)
        return value


def is_name(text: str) -> bool:
    """Whether the text can be a cluster's name: a DNS label of at most 50 characters, since 13 more follow it."""
    return _NAME.match(text) is not None


def _listed(words: Sequence[str]) -> str:
    quoted = [f'"{word}"' for word in words]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}" if len(quoted) > 1 else quoted[0]
