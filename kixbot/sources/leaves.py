"""What the Nix library writes into manifests for Python to read: numbers, and faults collected instead of thrown."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kixbot.errors import SourceError
from kixbot.model.build import CollectedFault
from kixbot.model.path import items, member
from kixbot.model.resource import Ref
from kixbot.sources import scalars
from kixbot.sources.text import MAX_DEPTH

_NUMBER = "__kix_number__"
_FAULT = "__kix_fault__"
_END = "__kix_end__"


@dataclass(frozen=True, slots=True)
class Leaves:
    """A manifest with its leaves read. `source_paths` are fields that hold the place of the source itself."""

    manifest: dict[str, Any]
    faults: tuple[tuple[str, Mapping[str, Any]], ...]
    source_paths: tuple[str, ...]


def read(manifest: Mapping[str, Any], tree_name: str) -> Leaves:
    """Replace numbers and faults by what they stand for. Raises SourceError for a number that is none."""
    reading = _Reading(tree_name)
    value = reading.value(manifest, "$", "", 1)
    return Leaves(value, tuple(reading.faults), tuple(reading.source_paths))


def collected(leaves: Leaves, ref: Ref, package: str | None) -> Iterator[CollectedFault]:
    """The faults as findings on the resource that holds them."""
    for path, fault in leaves.faults:
        hint = fault.get("hint")
        yield CollectedFault(
            rule=str(fault.get("rule", "")),
            message=str(fault.get("message", "")),
            hint=hint if isinstance(hint, str) else None,
            ref=ref,
            package=package,
            path=path,
        )


@dataclass(slots=True)
class _Reading:
    tree_name: str
    faults: list[tuple[str, Mapping[str, Any]]] = field(default_factory=list)
    source_paths: list[str] = field(default_factory=list)

    def value(self, value: Any, path: str, key: str, depth: int) -> Any:
        if isinstance(value, str):
            return self.text(value, path)
        if not isinstance(value, list | Mapping):
            return value
        if depth > MAX_DEPTH:
            raise SourceError(f"{path[:80]}…: nested deeper than {MAX_DEPTH} levels")
        if isinstance(value, list):
            below = items(path, key, value)
            return [self.value(entry, where, key, depth + 1) for entry, where in zip(value, below, strict=True)]
        if set(value) == {_NUMBER}:
            return _number(value[_NUMBER], path)
        return {name: self.value(entry, member(path, name), name, depth + 1) for name, entry in value.items()}

    def text(self, value: str, path: str) -> str:
        if f"/nix/store/{self.tree_name}" in value:
            self.source_paths.append(path)
        plain, at = "", 0
        while (start := value.find(_FAULT, at)) >= 0 and (end := value.find(_END, start)) >= 0:
            self.faults.append((path, _decoded(value[start + len(_FAULT) : end])))
            plain += value[at:start]
            at = end + len(_END)
        return plain + value[at:]


def _number(text: Any, path: str) -> int | float:
    try:
        return scalars.number(text)
    except (ValueError, TypeError) as err:
        raise SourceError(f"{path}: {str(text)[:80]!r} is no number", hint='write kix.number "0.1"') from err


def _decoded(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return {"message": text}
    return value if isinstance(value, Mapping) else {"message": text}
