"""Reading fields of bodies whose shape nobody has promised: a wrong type reads as absent, never as a crash.

Rules look for one thing each; that a list stands where an object belongs is for the rule about shapes to say.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.model.path import items, member

NOTHING: Mapping[str, Any] = {}


def mapping(value: object) -> Mapping[str, Any]:
    """The value if it is an object, else the empty one."""
    # Bodies are dicts; to ask for an abstract Mapping costs four times as much.
    return value if isinstance(value, dict) or isinstance(value, Mapping) else NOTHING  # noqa: SIM101


def mappings(value: object) -> tuple[Mapping[str, Any], ...]:
    """The objects of a list; other items, and anything but a list, are left out."""
    return tuple(item for item in value if isinstance(item, Mapping)) if isinstance(value, list | tuple) else ()


def at(value: object, *keys: str) -> Mapping[str, Any]:
    """The object under `keys`, the empty one where any step is missing."""
    for key in keys:
        value = mapping(value).get(key)
    return mapping(value)


def text(value: object) -> str:
    """The value if it is a string, else the empty one."""
    return value if isinstance(value, str) else ""


def texts(value: object) -> tuple[str, ...]:
    """The strings of a list; other items, and anything but a list, are left out."""
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, list | tuple) else ()


def labels(value: object) -> dict[str, str]:
    """The string entries of a label map."""
    return {key: item for key, item in mapping(value).items() if isinstance(item, str)}


def keyed(path: str, owner: Mapping[str, Any], field: str) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each object of the list `owner[field]` with its path below `path`: `.containers[web]`, `.sources[0]`."""
    entries = owner.get(field)
    if isinstance(entries, list | tuple):
        for where, entry in zip(items(member(path, field), field, entries), entries, strict=True):
            if isinstance(entry, Mapping):
                yield where, entry
