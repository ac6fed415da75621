"""JSON as Kubernetes reads it, with duplicate keys refused and lines found when they are asked for.

A file holds one value or a stream of them. Values come from the C decoder; only a fault, or the question where a
field stands, makes kix walk the text itself.
"""

import bisect
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.errors import SourceError
from kixbot.sources import scalars, text as limits
from kixbot.sources.places import Places, Step
from kixbot.sources.text import Document, too_many

_LITERALS = json.JSONDecoder(parse_int=str, parse_float=str)
_SPACE = re.compile(r"[ \t\r\n]*")
# Strings and brackets. A string that does not end is taken up to the end of the text: tried again from each of its
# quotes, a few megabytes would take hours.
_PARTS = re.compile(r'"(?:[^"\\]|\\.)*(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)
_ESCAPED_SURROGATE = re.compile(r"\\u[dD][89a-fA-F]")


class _DuplicateKeyError(Exception):
    """Raised inside the decoder, which knows no place; the slow walk then finds both lines."""


def parse(text: str, *, file: str) -> tuple[Document, ...]:
    """All values of a stream, nulls left out. Raises SourceError with file and line."""
    reader = _Reader(text, file)
    return tuple(reader.documents())


class _Reader:
    def __init__(self, text: str, file: str) -> None:
        self.text = text
        self.file = file
        self._may_hold_surrogates = _ESCAPED_SURROGATE.search(text) is not None
        self._starts = [0, *(found.end() for found in re.finditer("\n", text))]
        self._decoder = json.JSONDecoder(
            object_pairs_hook=_unique, parse_int=_integer, parse_float=scalars.number, parse_constant=_refuse
        )

    def documents(self) -> Iterator[Document]:
        self._check_bounds()
        at, count = self.skip(0), 0
        while at < len(self.text):
            value, item_lines, end = self._value(at)
            count += 1
            if count > limits.MAX_DOCUMENTS:
                raise too_many("documents", limits.MAX_DOCUMENTS, file=self.file)
            if value is not None:
                yield Document(value, self.line(at), item_lines, Places(value, _Walk(self, at)))
            at = self.skip(end)

    def line(self, at: int) -> int:
        return bisect.bisect_right(self._starts, at)

    def skip(self, at: int) -> int:
        found = _SPACE.match(self.text, at)
        assert found is not None
        return found.end()

    def _value(self, at: int) -> tuple[Any, tuple[int, ...], int]:
        value, end = self._decode(at)
        if not isinstance(value, dict) or not isinstance(value.get("items"), list):
            return value, (), end
        lines = _Walk(self, at)()
        return value, tuple(lines[("items", index)] for index in range(len(value["items"]))), end

    def _decode(self, at: int) -> tuple[Any, int]:
        try:
            value, end = self._decoder.raw_decode(self.text, at)
        except json.JSONDecodeError as err:
            hint = "separate manifests with a line `---` only in YAML files" if self._at_marker(err.pos) else None
            raise self._error(f"broken JSON: {err.msg}", err.pos, hint) from err
        except _DuplicateKeyError as err:
            _Walk(self, at)()
            raise SourceError("a key stands twice", file=self.file) from err
        except (ValueError, OverflowError) as err:
            raise SourceError(str(err), hint="quote it", file=self.file) from err
        if self._may_hold_surrogates:
            self._check_surrogates(value, at)
        return value, end

    def _check_surrogates(self, value: Any, at: int) -> None:
        try:
            json.dumps(value, ensure_ascii=False).encode()
        except UnicodeEncodeError as err:
            raise self._error("a string holds half a surrogate pair, which is no text", at) from err

    def _at_marker(self, at: int) -> bool:
        return self.text.startswith("---", at)

    def _check_bounds(self) -> None:
        """Refuse what would overflow the decoder's stack, or fill memory with empty objects."""
        depth = opened = 0
        for found in _PARTS.finditer(self.text):
            first = found[0][0]
            if first in "[{":
                depth += 1
                opened += 1
                if opened > limits.MAX_NODES:
                    raise too_many("values", limits.MAX_NODES, file=self.file, line=self.line(found.start()))
                if depth > limits.MAX_DEPTH:
                    raise self._error(f"nested deeper than {limits.MAX_DEPTH} levels", found.start())
            elif first in "]}":
                depth -= 1

    def _error(self, message: str, at: int, hint: str | None = None) -> SourceError:
        return SourceError(message, hint=hint, file=self.file, line=self.line(at))


class _Walk:
    """Walks one value of valid JSON by hand and records the line of every field; finds duplicate keys on the way."""

    def __init__(self, reader: _Reader, start: int) -> None:
        self._reader = reader
        self._start = start
        self._lines: dict[tuple[Step, ...], int] = {}

    def __call__(self) -> Mapping[tuple[Step, ...], int]:
        self._lines = {}
        self._walk(self._start, (), self._reader.line(self._start))
        return self._lines

    def _walk(self, at: int, path: tuple[Step, ...], line: int) -> int:
        """Record the value that begins at `at`; gives where it ends."""
        text, skip = self._reader.text, self._reader.skip
        self._lines[path] = line
        opening = text[at]
        if opening not in "[{":
            return _LITERALS.raw_decode(text, at)[1]
        at = skip(at + 1)
        keys: dict[str, int] = {}
        index = 0
        while text[at] not in "]}":
            if opening == "{":
                key_at = at
                key, at = _LITERALS.raw_decode(text, at)
                self._once(keys, key, self._reader.line(key_at))
                step: Step = key
                line, at = keys[key], skip(skip(at) + 1)
            else:
                step, line = index, self._reader.line(at)
            at = skip(self._walk(at, (*path, step), line))
            index += 1
            if text[at] == ",":
                at = skip(at + 1)
        return at + 1

    def _once(self, keys: dict[str, int], key: str, line: int) -> None:
        if (first := keys.get(key)) is not None:
            raise SourceError(
                f"key {key[:80]!r} stands twice, on lines {first} and {line}",
                hint=f"remove or rename one {key[:80]}",
                file=self._reader.file,
                line=line,
            )
        keys[key] = line


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _DuplicateKeyError
    return found


def _integer(text: str) -> int | float:
    # Longer ones are beyond 64 bits; int() refuses those of thousands of digits.
    return scalars.bounded(int(text)) if len(text) <= 20 else scalars.number(text)


def _refuse(text: str) -> Any:
    raise ValueError(f"{text} is no number that JSON can hold")
