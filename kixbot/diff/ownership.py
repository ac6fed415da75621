"""Who owns which field of an object, and what is left of the object when only owned fields count. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kixbot.diff.fields import (
    ABSENT,
    Element,
    Index,
    Key,
    Member,
    Name,
    Path,
    Paths,
    canonical,
    children,
    parse_fields,
    remove,
    render_fields,
    render_path,
    value_at,
    without,
)
from kixbot.model.path import KEY_DEFAULTS

__all__ = [
    "ABSENT",
    "KEY_DEFAULTS",
    "Element",
    "Holder",
    "Index",
    "Key",
    "Member",
    "Name",
    "Path",
    "Paths",
    "canonical",
    "find_entry",
    "holders",
    "is_ceded",
    "managed_fields",
    "owned_paths",
    "parse_cede",
    "parse_fields",
    "project",
    "remove",
    "render_fields",
    "render_path",
    "value_at",
    "without",
]


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
        wanted = children(manifest, element) if isinstance(manifest, list) else []
        for at, item in children(value, element):
            kept = _project(item, below, wanted[0][1] if wanted else ABSENT)
            if isinstance(element, Key) and isinstance(kept, dict):
                kept = {**{name: item[name] for name, _ in element.items if name in item}, **kept}
            places[at] = kept
    return [places[at] for at in sorted(places)]
