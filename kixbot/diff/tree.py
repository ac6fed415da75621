"""The fields in which two bodies differ.

Nulls are gone before. List items go by merge key, so that a change names its container; items that only moved are one
change. Values of Secrets are compared here and never leave.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal

from kixbot.diff.lists import align, reordering, shared_keys
from kixbot.diff.normalize import is_same, without_nulls
from kixbot.identity import LAST_APPLIED, is_public, is_secret
from kixbot.model.path import ROOT, index, item, member
from kixbot.model.plan import Added, Changed, FieldChange, Removed, Reordered, SecretChanged
from kixbot.model.resource import Body

# Where a core Secret keeps values. kubectl's own copy of what was applied holds them all again.
_SECRET_MAPS = ("$.data", "$.stringData")
_LAST_APPLIED = member("$.metadata.annotations", LAST_APPLIED)


def diff(old: Body, new: Body) -> tuple[FieldChange, ...]:
    """Every field in which `new` differs from `old`, by path from the root.

    Of a core Secret's values only that they changed. A place in a list without merge keys is that of the new list,
    for removed items that of the old.
    """
    before, after = without_nulls(old), without_nulls(new)
    changes = tuple(_maps(before, after, ROOT))
    if is_secret(before) or is_secret(after):
        return tuple(_hidden(changes))
    return changes


def _values(old: Any, new: Any, path: str, field: str) -> Iterator[FieldChange]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        yield from _maps(old, new, path)
    elif isinstance(old, list) and isinstance(new, list):
        yield from _lists(old, new, path, field)
    elif not is_same(old, new):
        yield Changed(path=path, old=old, new=new)


def _maps(old: Body, new: Body, path: str) -> Iterator[FieldChange]:
    for key in sorted(old.keys() | new.keys()):
        at = member(path, key)
        if key not in old:
            yield Added(path=at, new=new[key])
        elif key not in new:
            yield Removed(path=at, old=old[key])
        else:
            yield from _values(old[key], new[key], at, key)


def _lists(old: Sequence[Any], new: Sequence[Any], path: str, field: str) -> Iterator[FieldChange]:
    keys = shared_keys(field, old, new)
    if keys is not None:
        yield from _keyed(dict(zip(keys[0], old, strict=True)), dict(zip(keys[1], new, strict=True)), path)
        return
    places = reordering(old, new)
    if places is not None:
        yield Reordered(path=path, old=_labels(old, range(len(old))), new=_labels(old, places))
        return
    aligned = align(old, new)
    for one, two in aligned.pairs:
        # Items of a list in a list have no field of their own.
        yield from _values(old[one], new[two], index(path, two), "")
    for one in aligned.removed:
        yield Removed(path=index(path, one), old=old[one])
    for two in aligned.added:
        yield Added(path=index(path, two), new=new[two])


def _keyed(old: Mapping[str, Any], new: Mapping[str, Any], path: str) -> Iterator[FieldChange]:
    if [key for key in old if key in new] != [key for key in new if key in old]:
        yield Reordered(path=path, old=tuple(old), new=tuple(new))
    for key, entry in old.items():
        if key in new:
            yield from _values(entry, new[key], item(path, key), "")
        else:
            yield Removed(path=item(path, key), old=entry)
    for key, entry in new.items():
        if key not in old:
            yield Added(path=item(path, key), new=entry)


def _labels(entries: Sequence[Any], places: Sequence[int]) -> tuple[str, ...]:
    """Items as a reader knows them: scalars by themselves, others by their old place."""
    plain = all(isinstance(entry, str | int | float) and not isinstance(entry, bool) for entry in entries)
    return tuple(str(entries[at]) if plain else str(at) for at in places)


def _hidden(changes: Sequence[FieldChange]) -> Iterator[FieldChange]:
    """The changes of a Secret with every value taken out."""
    for change in changes:
        path = change.path
        within = next((one for one in _SECRET_MAPS if path == one or path.startswith((f"{one}.", f"{one}["))), None)
        if within is None:
            yield from _public(change) if _is_public(change) else [SecretChanged(path=path, action=_action(change))]
        elif path == within:
            yield from _map_values(change)
        else:
            yield SecretChanged(path=path, action=_action(change))


def _is_public(change: FieldChange) -> bool:
    """Whether a change outside data can be shown: of the metadata, or of a field that `is_public` on both sides."""
    if change.path.startswith("$.metadata"):
        return True
    sides = [getattr(change, side) for side in ("old", "new") if hasattr(change, side)]
    return all(is_public(change.path.removeprefix("$."), value) for value in sides)


def _public(change: FieldChange) -> Iterator[FieldChange]:
    if change.path == _LAST_APPLIED:
        yield SecretChanged(path=change.path, action=_action(change))
    elif _holds_copy(getattr(change, "old", None)) or _holds_copy(getattr(change, "new", None)):
        # All annotations, or all metadata, came or went at once.
        yield SecretChanged(path=change.path, action=_action(change))
    else:
        yield change


def _holds_copy(value: Any) -> bool:
    if isinstance(value, Mapping):
        return LAST_APPLIED in value or any(map(_holds_copy, value.values()))
    return False


def _map_values(change: FieldChange) -> Iterator[SecretChanged]:
    """`data` came, went or changed its shape as a whole: one change per key where it is a map."""
    old, new = getattr(change, "old", None), getattr(change, "new", None)
    whole = new if isinstance(new, Mapping) else old
    if isinstance(change, Changed | Reordered) or not isinstance(whole, Mapping):
        yield SecretChanged(path=change.path, action=_action(change))
        return
    for key in sorted(whole):
        yield SecretChanged(path=member(change.path, key), action=_action(change))


def _action(change: FieldChange) -> Literal["added", "removed", "changed"]:
    match change:
        case Added():
            return "added"
        case Removed():
            return "removed"
        case SecretChanged():
            return change.action
        case _:
            return "changed"
