"""Finds fields of a body by pattern, and strings anywhere, and says where they stand.

A pattern is a written path without `$`, in which `[]` stands for every item of a list: `spec.tls[].secretName`.
"""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any, NamedTuple

from kixbot.model.path import ROOT, index, items, member

_SEGMENT = re.compile(r'\.?"(?P<quoted>[^"]+)"|\.?(?P<key>[A-Za-z0-9_-]+)|(?P<every>\[\])')

Raw = tuple[str | int, ...]
"""Where something stands, by map keys and list places."""


class Field(NamedTuple):
    """A field that a pattern found: its value, the map that holds it, and where."""

    value: Any
    parent: Mapping[str, Any]
    raw: Raw


@cache
def _segments(pattern: str) -> tuple[str | None, ...]:
    """The pattern's map keys in order; None stands for every item."""
    found = tuple(None if match["every"] else match["quoted"] or match["key"] for match in _SEGMENT.finditer(pattern))
    if not found or "".join(match[0] for match in _SEGMENT.finditer(pattern)) != pattern:
        raise ValueError(f"{pattern}: not a field pattern")
    return found


def map_at(body: Any, *keys: str) -> Mapping[str, Any]:
    """The map below these keys, empty where there is none: what people write has any shape."""
    for key in keys:
        body = body.get(key) if isinstance(body, dict) else None
    return body if isinstance(body, dict) else {}


def list_at(body: Any, *keys: str) -> list[Any]:
    """The list below these keys, empty where there is none."""
    found = map_at(body, *keys[:-1]).get(keys[-1])
    return found if isinstance(found, list) else []


def fields(body: Any, pattern: str, raw: Raw = ()) -> Iterator[Field]:
    """Every field of `body` that the pattern names and that is not null; `raw` is where `body` itself stands."""
    yield from _fields(body, {}, _segments(pattern), raw)


def _fields(value: Any, parent: Mapping[str, Any], segments: tuple[str | None, ...], raw: Raw) -> Iterator[Field]:
    if not segments:
        if value is not None:
            yield Field(value, parent, raw)
        return
    segment, rest = segments[0], segments[1:]
    if segment is None:
        if isinstance(value, list):
            for at, entry in enumerate(value):
                yield from _fields(entry, parent, rest, (*raw, at))
    elif isinstance(value, dict) and segment in value:
        yield from _fields(value[segment], value, rest, (*raw, segment))


def strings(body: Any, raw: Raw = ()) -> Iterator[tuple[str, Raw]]:
    """Every string of a body and where it stands. Iterative: bodies may be nested deeply."""
    waiting: list[tuple[Any, Raw]] = [(body, raw)]
    while waiting:
        value, at = waiting.pop()
        if isinstance(value, str):
            yield value, at
        elif isinstance(value, dict):
            waiting.extend((entry, (*at, key)) for key, entry in value.items())
        elif isinstance(value, list):
            waiting.extend((entry, (*at, place)) for place, entry in enumerate(value))


def written(body: Any, raw: Raw) -> str:
    """The written path of a place in `body`, list items by their merge key."""
    path, value, field = ROOT, body, ""
    for step in raw:
        if isinstance(step, int):
            path = items(path, field, value)[step] if isinstance(value, list) else index(path, step)
            value = value[step] if isinstance(value, list) else None
        else:
            path, field = member(path, step), step
            value = value.get(step) if isinstance(value, dict) else None
    return path
