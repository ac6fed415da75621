"""FieldsV1 as values: sets of paths, read, written, and followed into a body.

Facts are those of structured-merge-diff (`fieldpath`): `f:` names a field (the name may hold `.`, `/`, `:`), `k:` a
list item by its typed keys, `v:` a set member, `i:` an index, `.` the node itself beside its children, and an empty map
a leaf.
"""

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from kixbot.model.path import KEY_DEFAULTS


@dataclass(frozen=True, slots=True, order=True)
class Name:
    """A field of a map."""

    name: str


@dataclass(frozen=True, slots=True)
class Key:
    """An item of a list with keys; items are sorted by key, values are typed (80 is not "80")."""

    items: tuple[tuple[str, Any], ...]


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a set, as canonical JSON."""

    json: str


@dataclass(frozen=True, slots=True)
class Index:
    """An item by place; legal, hardly used."""

    index: int


Element: TypeAlias = Name | Key | Member | Index
Path: TypeAlias = tuple[Element, ...]
Paths: TypeAlias = frozenset[Path]


class Absent:
    """The value of a path that is not there."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT: Final = Absent()


def parse_fields(fields: Mapping[str, Any]) -> Paths:
    """The members of a FieldsV1 map. Unknown element kinds are skipped with all below them."""
    found: set[Path] = set()
    _collect(fields, (), found)
    return frozenset(found)


def _collect(node: Mapping[str, Any], above: Path, found: set[Path]) -> None:
    for text, below in node.items():
        if text == ".":
            found.add(above)
            continue
        element = _element(text)
        if element is None:
            continue
        path = (*above, element)
        if not below:
            found.add(path)
        else:
            _collect(below, path, found)


def _element(text: str) -> Element | None:
    kind, _, rest = text.partition(":")
    try:
        match kind:
            case "f":
                return Name(rest)
            case "k":
                return Key(tuple(sorted(json.loads(rest).items())))
            case "v":
                return Member(canonical(json.loads(rest)))
            case "i":
                return Index(int(rest))
    except (ValueError, AttributeError, RecursionError):
        return None
    return None


def parse_marked(fields: Mapping[str, Any]) -> Paths:
    """The leaves that are written with a `.` and nothing else below them, as `render_fields` marks them."""
    found: set[Path] = set()
    _collect_marked(fields, (), found)
    return frozenset(found)


def _collect_marked(node: Mapping[str, Any], above: Path, found: set[Path]) -> None:
    for text, below in node.items():
        element = None if text == "." else _element(text)
        if element is not None and below:
            path = (*above, element)
            if set(below) == {"."}:
                found.add(path)
            else:
                _collect_marked(below, path, found)


def render_fields(paths: Iterable[Path], *, marked: Iterable[Path] = ()) -> dict[str, Any]:
    """The FieldsV1 map of these members; the inverse of `parse_fields`. Leaves that are `marked` get a `.` below."""
    root: dict[str, Any] = {}
    everything, with_dot = set(paths), set(marked)
    for path in sorted(everything, key=lambda item: (len(item), [_serial(element) for element in item])):
        node = root
        for depth, element in enumerate(path, start=1):
            node = node.setdefault(_serial(element), {})
            if (depth < len(path) and path[:depth] in everything) or path[:depth] in with_dot:
                node["."] = {}
    return root


def _serial(element: Element) -> str:
    match element:
        case Name(name):
            return f"f:{name}"
        case Key(items):
            return f"k:{canonical(dict(items))}"
        case Member(text):
            return f"v:{text}"
        case Index(index):
            return f"i:{index}"


def render_path(path: Path) -> str:
    """The path as the API server prints it in a conflict: `.spec.containers[name="web"].image`."""
    parts: list[str] = []
    for element in path:
        match element:
            case Name(name):
                parts.append(f".{name}")
            case Key(items):
                parts.append("[" + ",".join(f"{key}={canonical(value)}" for key, value in items) + "]")
            case Member(text):
                parts.append(f"[={text}]")
            case Index(index):
                parts.append(f"[{index}]")
    return "".join(parts)


def value_at(body: Any, path: Path) -> Any:
    """The value at a path, ABSENT when any step is missing. Of repeated keys the first item."""
    node = body
    for element in path:
        found = children(node, element)
        if not found:
            return ABSENT
        node = found[0][1]
    return node


def remove(body: dict[str, Any], path: Path) -> None:
    """Take the value at `path` out of `body`, and maps that become empty by it; a path that is not there is fine."""
    parents = [(value_at(body, path[:depth]), path[depth]) for depth in range(len(path) - 1)]
    node, last = value_at(body, path[:-1]), path[-1]
    if isinstance(node, dict) and isinstance(last, Name):
        node.pop(last.name, None)
    elif isinstance(node, list) and not isinstance(last, Name):
        for at, _ in reversed(children(node, last)):
            del node[at]
    for parent, element in reversed(parents):
        if value_at(parent, (element,)) != {} or not isinstance(element, Name):
            return
        parent.pop(element.name)


def without(body: Mapping[str, Any], paths: Iterable[Path]) -> dict[str, Any]:
    """A copy of `body` that lacks these paths."""
    copy = deepcopy(dict(body))
    for path in paths:
        remove(copy, path)
    return copy


def children(node: Any, element: Element) -> list[tuple[Any, Any]]:
    """The children of `node` that `element` names, each with its map key or list index."""
    match element:
        case Name(name):
            return [(name, node[name])] if isinstance(node, Mapping) and name in node else []
        case Key(items):
            if not isinstance(node, list):
                return []
            return [(at, item) for at, item in enumerate(node) if isinstance(item, Mapping) and _has(item, items)]
        case Member(text):
            return [(at, item) for at, item in enumerate(node) if canonical(item) == text] if _is_list(node) else []
        case Index(index):
            return [(index, node[index])] if _is_list(node) and index < len(node) else []


def _is_list(node: Any) -> bool:
    return isinstance(node, list)


def _has(item: Mapping[str, Any], keys: tuple[tuple[str, Any], ...]) -> bool:
    return all(canonical(item.get(name, KEY_DEFAULTS.get(name))) == canonical(value) for name, value in keys)


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces; numbers that are equal read equal (`1` and `1.0`)."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
