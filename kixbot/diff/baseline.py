"""The baseline of an applied object: which fields kix owned after its write, and a fingerprint of their values.

Compared later with the live object, it tells drift without any request. What another manager changes or removes leaves
kix's set of owned fields, whatever the value; so the set says which field, and the fingerprint whether any value moved.
"""

import hashlib
import hmac
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from kixbot.diff.fields import (
    ABSENT,
    Element,
    Key,
    Member,
    Name,
    Path,
    Paths,
    children,
    parse_fields,
    parse_marked,
    render_fields,
    value_at,
)
from kixbot.identity import canonical

ORDERED: Final = frozenset({"env", "initContainers"})
"""Lists with keys whose order has a meaning: a variable refers to earlier ones, containers start one after another."""

VALUE_DIGITS: Final = 24
ORDER_DIGITS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Baseline:
    """`paths` are the owned fields; `empty` those of them that were sent as an empty map.

    Whoever adds below an empty map owns what was added: it is no value of ours.
    """

    paths: Paths
    empty: Paths = frozenset()


def baseline_of(paths: Paths, manifest: Mapping[str, Any]) -> Baseline:
    """The baseline of what was just applied: `paths` as the API server's answer says, `manifest` as it was sent."""
    return Baseline(paths=paths, empty=frozenset(path for path in paths if value_at(manifest, path) == {}))


def encode(baseline: Baseline) -> str:
    """As canonical FieldsV1 JSON. A field sent as an empty map is written `{".":{}}`, which reads back the same."""
    fields = render_fields(baseline.paths, marked=baseline.empty)
    return json.dumps(fields, sort_keys=True, separators=(",", ":"))


@lru_cache(maxsize=1024)  # a cluster has few distinct sets: objects of one kind are mostly alike
def decode(text: str) -> Baseline:
    """The inverse of `encode`; nothing is owned where the text is empty."""
    fields = json.loads(text) if text else {}
    return Baseline(paths=parse_fields(fields), empty=parse_marked(fields))


def fingerprint(body: Mapping[str, Any], baseline: Baseline, key: bytes | None = None) -> str:
    """32 hex digits over the owned values of `body`: 24 of the values, 8 of the order of lists where it matters.

    With `key`, for Secrets, nobody can guess a value from it. A field that is not there counts as none.
    """
    tree = _Node.of(baseline)
    orders: list[Any] = []
    values = _values(body, tree, "", orders)
    return _digest(values, key)[:VALUE_DIGITS] + _digest(orders, key)[:ORDER_DIGITS]


def same_values(one: str, other: str) -> bool:
    """Whether two fingerprints are of the same values, in whatever order."""
    return one[:VALUE_DIGITS] == other[:VALUE_DIGITS]


def ordered_lists(body: Mapping[str, Any], baseline: Baseline) -> dict[Path, tuple[str, ...]]:
    """The lists whose order matters, each with the keys of the owned items in the order of `body`."""
    found: dict[Path, tuple[str, ...]] = {}
    for path in baseline.paths:
        for depth, element in enumerate(path):
            above = path[:depth]
            if isinstance(element, Key) and above and isinstance(above[-1], Name) and above[-1].name in ORDERED:
                found.setdefault(above, ())
    for above in found:
        owned = {path[len(above)] for path in baseline.paths if len(path) > len(above) and path[: len(above)] == above}
        places = {at: element for element in owned for at, _ in children(value_at(body, above), element)}
        found[above] = tuple(key_text(places[at]) for at in sorted(places))
    return found


def key_text(element: Element) -> str:
    """A list item as people know it: the values of its keys (`web`, `80/TCP`)."""
    match element:
        case Key(items):
            return "/".join(str(value) for _, value in items)
        case Member(text):
            return text.strip('"')
        case Name(name):
            return name
        case _:
            return str(element.index)


class _Node:
    """The owned fields as a tree."""

    __slots__ = ("below", "is_empty")

    def __init__(self) -> None:
        self.below: dict[Element, _Node] = {}
        self.is_empty = False

    def named(self) -> list[tuple[str, "_Node"]]:
        """The fields of a map, by name."""
        found = {element.name: below for element, below in self.below.items() if isinstance(element, Name)}
        return [(name, found[name]) for name in sorted(found)]

    @classmethod
    def of(cls, baseline: Baseline) -> "_Node":
        root = cls()
        for path in baseline.paths:
            node = root
            for element in path:
                node = node.below.setdefault(element, cls())
            node.is_empty = path in baseline.empty
        return root


def _values(value: Any, node: _Node, field: str, orders: list[Any]) -> Any:
    """Owned values as JSON that does not depend on the order of items that are known by their keys."""
    if not node.below:
        return {} if node.is_empty and isinstance(value, Mapping) else value
    if isinstance(value, Mapping):
        found = {}
        for name, below in node.named():
            if name in value:
                found[name] = _values(value[name], below, name, orders)
        return found
    if isinstance(value, list):
        return _items(value, node, field, orders)
    return value


def _items(value: list[Any], node: _Node, field: str, orders: list[Any]) -> Any:
    found: dict[str, Any] = {}
    places: dict[int, str] = {}
    for element in sorted(node.below, key=repr):
        name = repr(element)
        kept = []
        for at, item in children(value, element):
            places[at] = name
            kept.append(_values(item, node.below[element], "", orders))
        if kept:
            found[name] = kept
    if field in ORDERED:
        orders.append([places[at] for at in sorted(places)])
    return found


def _digest(value: Any, key: bytes | None) -> str:
    text = canonical(value).encode()
    if key is not None:
        return hmac.new(key, text, hashlib.sha256).hexdigest()
    return hashlib.sha256(text).hexdigest()


def topmost(paths: Paths) -> tuple[Path, ...]:
    """The paths that have none of the others above them, in a stable order."""
    kept = [path for path in paths if not any(path[:depth] in paths for depth in range(1, len(path)))]
    return tuple(sorted(kept, key=lambda path: [repr(element) for element in path]))


def is_absent(body: Mapping[str, Any], path: Path) -> bool:
    """Whether nothing stands at `path`."""
    return value_at(body, path) is ABSENT
