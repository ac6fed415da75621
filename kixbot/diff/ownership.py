"""Field ownership as the API server keeps it: FieldsV1 sets, parsed, compared, and projected onto an object.

Pure. Facts are those of structured-merge-diff (`fieldpath`): `f:` names a field (the name may hold `.`, `/`, `:`),
`k:` a list item by its typed keys, `v:` a set member, `i:` an index, `.` the node itself beside its children, and an
empty map a leaf.
"""

import json
import re
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias


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
    kind, colon, rest = text.partition(":")
    if not colon:
        return None
    if kind == "f":
        return Name(rest)
    if kind == "k":
        return Key(tuple(sorted(json.loads(rest).items())))
    if kind == "v":
        return Member(canonical(json.loads(rest)))
    return Index(int(rest)) if kind == "i" else None


def render_fields(paths: Iterable[Path]) -> dict[str, Any]:
    """The FieldsV1 map of these members; the inverse of `parse_fields`."""
    root: dict[str, Any] = {}
    everything = set(paths)
    for path in sorted(everything, key=lambda item: (len(item), [_serial(element) for element in item])):
        node = root
        for depth, element in enumerate(path, start=1):
            node = node.setdefault(_serial(element), {})
            if depth < len(path) and path[:depth] in everything:
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


def parse_cede(text: str) -> tuple[str, ...]:
    """The steps of a ceded path: `spec.containers[web].image` to `spec`, `containers`, `[web]`, `image`.

    Names with dots stand in double quotes: `metadata.annotations."a.b/c"`. Raises ValueError on what is no path.
    """
    steps = _CEDE_STEP.findall(text)
    if not steps or _CEDE_STEP.sub("", text).strip("."):
        raise ValueError(f"{text!r} is no field path")
    return tuple(step[1:-1] if step.startswith('"') else step for step in steps)


_CEDE_STEP = re.compile(r'"[^"]*"|\[[^\]]*\]|[^.\["]+')


def is_ceded(path: Path, cede: str) -> bool:
    """Whether `path` is the ceded path or lies below it. List items match by their keys' values (`[80/TCP]`)."""
    steps = parse_cede(cede)
    return len(steps) <= len(path) and all(map(_matches_step, path, steps))


def _matches_step(element: Element, step: str) -> bool:
    match element:
        case Name(name):
            return name == step
        case Key(items):
            return f"[{'/'.join(str(value) for _, value in items)}]" == step
        case Member(text):
            return f"[{text.strip(chr(34))}]" == step
        case Index(index):
            return f"[{index}]" == step


def find_entry(
    body: Mapping[str, Any], manager: str, *, operation: Literal["Apply", "Update"] = "Apply", subresource: str = ""
) -> Mapping[str, Any] | None:
    """The managedFields entry of a manager. An Apply entry is one per manager and subresource."""
    for entry in managed_fields(body):
        if (
            entry.get("manager") == manager
            and entry.get("operation") == operation
            and str(entry.get("subresource") or "") == subresource
        ):
            return entry
    return None


def managed_fields(body: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The managedFields entries that say anything."""
    entries = (body.get("metadata") or {}).get("managedFields") or ()
    return tuple(entry for entry in entries if entry)


def owned_paths(body: Mapping[str, Any], manager: str) -> Paths:
    """What `manager` owns by apply on the main endpoint; empty when it owns nothing."""
    entry = find_entry(body, manager)
    return parse_fields((entry or {}).get("fieldsV1") or {})


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """A manager that holds a field. `time` is RFC 3339 as the API server wrote it, None where it wrote none."""

    manager: str
    operation: str
    subresource: str | None
    time: str | None


def holders(body: Mapping[str, Any], path: Path, *, but: str = "") -> tuple[Holder, ...]:
    """Who else than `but` holds `path`, a field above it as a whole, or a field below it."""
    found: list[Holder] = []
    for entry in managed_fields(body):
        if entry.get("manager") == but and entry.get("operation") == "Apply":
            continue
        owned = parse_fields(entry.get("fieldsV1") or {})
        if any(other[: len(path)] == path for other in owned) or _has_whole_above(owned, path):
            found.append(
                Holder(
                    manager=str(entry.get("manager") or ""),
                    operation=str(entry.get("operation") or ""),
                    subresource=entry.get("subresource") or None,
                    time=entry.get("time"),
                )
            )
    return tuple(found)


def _has_whole_above(owned: Paths, path: Path) -> bool:
    above = [path[:length] for length in range(1, len(path)) if path[:length] in owned]
    return any(not any(len(other) > len(one) and other[: len(one)] == one for other in owned) for one in above)


def value_at(body: Any, path: Path) -> Any:
    """The value at a path, ABSENT when any step is missing. Of repeated keys the first item."""
    node = body
    for element in path:
        found = _step(node, element)
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
        for at, _ in reversed(_step(node, last)):
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


def _step(node: Any, element: Element) -> list[tuple[Any, Any]]:
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


# Defaults that the API server fills into list keys before it records them (ports of containers and Services).
KEY_DEFAULTS: Final = {"protocol": "TCP"}


def _has(item: Mapping[str, Any], keys: tuple[tuple[str, Any], ...]) -> bool:
    return all(canonical(item.get(name, KEY_DEFAULTS.get(name))) == canonical(value) for name, value in keys)


def project(body: Mapping[str, Any], paths: Paths, manifest: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The part of `body` that `paths` own: what two bodies are compared by.

    A leaf is the whole value, unless the manifest has an empty map (or null) there: then it is `{}`, for whoever adds
    below it owns what was added. Items of lists keep their order in `body` and always show their keys.
    """
    tree = _tree(paths)
    found = _project(body, tree, manifest)
    return found if isinstance(found, dict) else {}


class _Node:
    __slots__ = ("below", "member")

    def __init__(self) -> None:
        self.member = False
        self.below: dict[Element, _Node] = {}


def _tree(paths: Paths) -> _Node:
    root = _Node()
    for path in paths:
        node = root
        for element in path:
            node = node.below.setdefault(element, _Node())
        node.member = True
    return root


def _project(value: Any, node: _Node, manifest: Any) -> Any:
    if not node.below:
        empty = isinstance(value, Mapping) and (manifest is None or manifest == {})
        return {} if empty else value
    if isinstance(value, Mapping):
        kept: dict[str, Any] = {}
        for element, below in node.below.items():
            if isinstance(element, Name) and element.name in value:
                wanted = manifest.get(element.name, ABSENT) if isinstance(manifest, Mapping) else ABSENT
                kept[element.name] = _project(value[element.name], below, wanted)
        return kept
    if isinstance(value, list):
        return _project_list(value, node, manifest)
    return value


def _project_list(value: list[Any], node: _Node, manifest: Any) -> list[Any]:
    places: dict[int, Any] = {}
    for element, below in node.below.items():
        wanted = _step(manifest, element) if isinstance(manifest, list) else []
        for at, item in _step(value, element):
            kept = _project(item, below, wanted[0][1] if wanted else ABSENT)
            if isinstance(element, Key) and isinstance(kept, dict):
                kept = {**{name: item[name] for name, _ in element.items if name in item}, **kept}
            places[at] = kept
    return [places[at] for at in sorted(places)]


def canonical(value: Any) -> str:
    """JSON with sorted keys and no spaces; numbers that are equal read equal (`1` and `1.0`)."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
