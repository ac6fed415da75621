"""Applies field changes to a body: what `diff` says must be enough to make the new body from the old one.

Items that come into a list with merge keys are put at its end: their place is no part of a change.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from kixbot.diff.lists import shared_keys
from kixbot.model.path import Index, Item, Key, Step, parse
from kixbot.model.plan import Added, Changed, FieldChange, Removed, Reordered

Placed = tuple[tuple[Step, ...], FieldChange]


def apply(old: Any, changes: Sequence[FieldChange]) -> Any:
    return _apply(old, [(parse(change.path), change) for change in changes], "")


def _apply(old: Any, changes: list[Placed], field: str) -> Any:
    here = [change for steps, change in changes if not steps]
    below: dict[Step, list[Placed]] = defaultdict(list)
    for steps, change in changes:
        if steps:
            below[steps[0]].append((steps[1:], change))
    for change in here:
        if isinstance(change, Changed):
            return change.new
    if isinstance(old, dict):
        return _map(old, below)
    if not isinstance(old, list):
        assert not changes
        return old
    reordered = next((change for change in here if isinstance(change, Reordered)), None)
    keys = shared_keys(field, old, old)
    if keys is not None and not any(isinstance(step, Index) for step in below):
        return _keyed(dict(zip(keys[0], old, strict=True)), below, reordered)
    return _places(old, below, reordered)


def _gone(changes: list[Placed]) -> bool:
    return any(not steps and isinstance(change, Removed) for steps, change in changes)


def _come(changes: list[Placed]) -> list[Any]:
    return [change.new for steps, change in changes if not steps and isinstance(change, Added)]


def _map(old: dict[str, Any], below: dict[Step, list[Placed]]) -> dict[str, Any]:
    result = {
        key: _apply(value, below.get(Key(key), []), key)
        for key, value in old.items()
        if not _gone(below.get(Key(key), []))
    }
    for step, changes in below.items():
        assert isinstance(step, Key)
        result.update((step.name, value) for value in _come(changes))
    return result


def _keyed(old: dict[str, Any], below: dict[Step, list[Placed]], reordered: Reordered | None) -> list[Any]:
    result = {
        key: _apply(entry, below.get(Item(key), []), "")
        for key, entry in old.items()
        if not _gone(below.get(Item(key), []))
    }
    for step, changes in below.items():
        assert isinstance(step, Item)
        result.update((step.key, value) for value in _come(changes))
    if reordered is not None:
        return [result[key] for key in reordered.new]
    return list(result.values())


def _places(old: list[Any], below: dict[Step, list[Placed]], reordered: Reordered | None) -> list[Any]:
    if reordered is not None:
        plain = all(isinstance(entry, str | int | float) and not isinstance(entry, bool) for entry in old)
        if not plain:
            return [old[int(label)] for label in reordered.new]
        rest = list(old)
        return [rest.pop(next(at for at, entry in enumerate(rest) if str(entry) == label)) for label in reordered.new]
    at = {step.at: changes for step, changes in below.items() if isinstance(step, Index)}
    kept = iter([entry for place, entry in enumerate(old) if not _gone(at.get(place, []))])
    total = len(old) - sum(map(_gone, at.values())) + sum(len(_come(changes)) for changes in at.values())
    result = []
    for place in range(total):
        changes = [one for one in at.get(place, []) if one[0] or not isinstance(one[1], Removed)]
        come = _come(changes)
        result.append(come[0] if come else _apply(next(kept), changes, ""))
    return result
