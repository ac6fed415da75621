"""What the Nix library writes into manifests for Python to read: numbers, and faults collected instead of thrown."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from kixbot.errors import SourceError
from kixbot.model.build import CollectedFault
from kixbot.model.path import items, member
from kixbot.model.resource import Ref
from kixbot.sources import scalars

_NUMBER = "__kix_number__"
_FAULT = re.compile(r"__kix_fault__(.*?)__kix_end__", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Leaves:
    """A manifest with its leaves read. `paths_in_store` are fields that hold the place of the source itself."""

    manifest: dict[str, Any]
    faults: tuple[tuple[str, Mapping[str, Any]], ...]
    source_paths: tuple[str, ...]


def read(manifest: Mapping[str, Any], tree_name: str) -> Leaves:
    """Replace numbers and faults by what they stand for. Raises SourceError for a number that is none."""
    reading = _Reading(tree_name)
    value = reading.value(manifest, "$", "")
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

    def value(self, value: Any, path: str, key: str) -> Any:
        if isinstance(value, str):
            return self.text(value, path)
        if isinstance(value, list):
            below = items(path, key, value)
            return [self.value(entry, where, key) for entry, where in zip(value, below, strict=True)]
        if not isinstance(value, Mapping):
            return value
        if set(value) == {_NUMBER}:
            return _number(value[_NUMBER], path)
        return {name: self.value(entry, member(path, name), name) for name, entry in value.items()}

    def text(self, value: str, path: str) -> str:
        if f"/nix/store/{self.tree_name}" in value:
            self.source_paths.append(path)
        if "__kix_fault__" not in value:
            return value
        for found in _FAULT.finditer(value):
            self.faults.append((path, _decoded(found[1])))
        return _FAULT.sub("", value)


def _number(text: Any, path: str) -> int | float:
    try:
        return scalars.number(text)
    except (ValueError, TypeError) as err:
        raise SourceError(f"{path}: {str(text)[:80]!r} is no number", hint='write kix.number "0.1"') from err


def _decoded(text: str) -> Mapping[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        return {"message": text}
    return value if isinstance(value, Mapping) else {"message": text}
