"""How the items of two lists belong together: by merge key where they have one, else by longest common subsequence."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from kixbot.diff.normalize import is_same
from kixbot.model.path import MERGE_KEYS, item_key

# Beyond this many comparisons the middle of two lists is taken as one replaced piece.
_MOST_COMPARISONS = 4_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Aligned:
    """Items that stay or change in place, as (old place, new place); those that go; those that come."""

    pairs: tuple[tuple[int, int], ...]
    removed: tuple[int, ...]
    added: tuple[int, ...]


def shared_keys(field: str, old: Sequence[Any], new: Sequence[Any]) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """The merge keys of both lists' items; None where either lacks one or repeats one.

    `field` is the name of the map key that holds the lists.
    """
    for keys in MERGE_KEYS.get(field, ()):
        found = []
        for entries in (old, new):
            written = [item_key(entry, keys) for entry in entries]
            known = tuple(key for key in written if key is not None)
            if len(known) == len(set(known)) == len(entries):
                found.append(known)
        if len(found) == 2:
            return found[0], found[1]
    return None


def align(old: Sequence[Any], new: Sequence[Any]) -> Aligned:
    """Pairs the items of two lists without merge keys.

    Equal items pair along the longest common subsequence; between them the rest pairs one by one, as changes.
    """
    pairs: list[tuple[int, int]] = []
    removed: list[int] = []
    added: list[int] = []
    at, other = 0, 0
    for one, two in [*_common(old, new), (len(old), len(new))]:
        gap = min(one - at, two - other)
        pairs.extend((at + step, other + step) for step in range(gap))
        removed.extend(range(at + gap, one))
        added.extend(range(other + gap, two))
        if one < len(old):
            pairs.append((one, two))
        at, other = one + 1, two + 1
    return Aligned(pairs=tuple(pairs), removed=tuple(removed), added=tuple(added))


def reordering(old: Sequence[Any], new: Sequence[Any]) -> tuple[int, ...] | None:
    """For each new item its old place, when the items are the same ones in another order; else None."""
    if len(old) != len(new):
        return None
    free = list(range(len(old)))
    places = []
    for entry in new:
        place = next((at for at in free if is_same(old[at], entry)), None)
        if place is None:
            return None
        free.remove(place)
        places.append(place)
    return tuple(places) if places != sorted(places) else None


def _common(old: Sequence[Any], new: Sequence[Any]) -> list[tuple[int, int]]:
    """The places of a longest common subsequence."""
    start = 0
    while start < min(len(old), len(new)) and is_same(old[start], new[start]):
        start += 1
    end = 0
    while end < min(len(old), len(new)) - start and is_same(old[-1 - end], new[-1 - end]):
        end += 1
    head = [(at, at) for at in range(start)]
    tail = [(len(old) - end + at, len(new) - end + at) for at in range(end)]
    middle = _longest(old[start : len(old) - end], new[start : len(new) - end])
    return head + [(one + start, two + start) for one, two in middle] + tail


def _longest(old: Sequence[Any], new: Sequence[Any]) -> list[tuple[int, int]]:
    if not old or not new or len(old) * len(new) > _MOST_COMPARISONS:
        return []
    length = [[0] * (len(new) + 1) for _ in range(len(old) + 1)]
    for one in reversed(range(len(old))):
        for two in reversed(range(len(new))):
            same = is_same(old[one], new[two])
            length[one][two] = length[one + 1][two + 1] + 1 if same else max(length[one + 1][two], length[one][two + 1])
    found = []
    one = two = 0
    while one < len(old) and two < len(new):
        if is_same(old[one], new[two]):
            found.append((one, two))
            one, two = one + 1, two + 1
        elif length[one + 1][two] >= length[one][two + 1]:
            one += 1
        else:
            two += 1
    return found
