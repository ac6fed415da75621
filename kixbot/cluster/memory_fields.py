"""Server-side apply and field ownership for the embedded cluster, by the rules of structured-merge-diff.

Pure: bodies in, bodies out. What it does not do: defaults, schema validation, conversion between versions, and the
interleaving of list order (applied items come first, then those of others).
"""

from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass
from typing import Any

from kixbot.cluster.faults import ConflictError, FieldConflict
from kixbot.cluster.memory_kinds import is_atomic_map, list_keys
from kixbot.diff.ownership import (
    ABSENT,
    KEY_DEFAULTS,
    Key,
    Member,
    Name,
    Path,
    Paths,
    canonical,
    parse_fields,
    remove,
    render_fields,
    render_path,
    value_at,
)

_NEVER_OWNED = frozenset(
    {"name", "namespace", "uid", "creationTimestamp", "generation", "resourceVersion", "managedFields", "selfLink",
     "deletionTimestamp"}
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Writer:
    """Who writes: a managedFields entry's identity and the time to note."""

    manager: str
    operation: str
    subresource: str
    api_version: str
    time: str

    def is_entry(self, entry: Mapping[str, Any]) -> bool:
        """Apply entries are one per manager and subresource; Update entries also per version."""
        return (
            entry.get("manager") == self.manager
            and entry.get("operation") == self.operation
            and (entry.get("subresource") or "") == self.subresource
            and (self.operation == "Apply" or entry.get("apiVersion") == self.api_version)
        )


def paths_of(body: Mapping[str, Any], *, custom: bool) -> Paths:
    """The members a body would own when applied."""
    found: set[Path] = set()
    for name, value in body.items():
        if name in ("apiVersion", "kind"):
            continue
        if name == "metadata":
            value = {key: inner for key, inner in value.items() if key not in _NEVER_OWNED}  # noqa: PLW2901
            if not value:
                continue
        _paths(value, (Name(name),), (name,), found, custom=custom)
    return frozenset(found)


def _paths(value: Any, path: Path, names: tuple[str, ...], found: set[Path], *, custom: bool) -> None:
    if isinstance(value, Mapping) and value and not is_atomic_map(names, custom=custom):
        for name, below in value.items():
            _paths(below, (*path, Name(name)), (*names, name), found, custom=custom)
        return
    keys = list_keys(names, custom=custom) if isinstance(value, list) and value else None
    if keys is None:
        found.add(path)
        return
    for item in value:
        if not keys:
            found.add((*path, Member(canonical(item))))
            continue
        place = (*path, _key(item, keys))
        found.add(place)
        for name, below in item.items():
            _paths(below, (*place, Name(name)), (*names, name), found, custom=custom)


def _key(item: Mapping[str, Any], keys: tuple[str, ...]) -> Key:
    return Key(tuple(sorted((key, item.get(key, KEY_DEFAULTS.get(key))) for key in keys)))


def merge(live: Any, wanted: Any, names: tuple[str, ...] = (), *, custom: bool) -> Any:
    """`wanted` laid over `live`: maps and keyed lists grow together, all else is replaced."""
    if isinstance(live, Mapping) and isinstance(wanted, Mapping) and not is_atomic_map(names, custom=custom):
        merged = dict(live)
        for name, value in wanted.items():
            merged[name] = merge(live.get(name), value, (*names, name), custom=custom)
        return merged
    keys = list_keys(names, custom=custom) if isinstance(live, list) and isinstance(wanted, list) else None
    if keys is None:
        return deepcopy(wanted)
    if not keys:
        return [*wanted, *(item for item in live if item not in wanted)]
    before = {_key(item, keys): item for item in live}
    result = [merge(before.pop(_key(item, keys), None), item, names, custom=custom) for item in wanted]
    return [*result, *before.values()]


def apply(
    live: Mapping[str, Any] | None, wanted: Mapping[str, Any], writer: Writer, *, force: bool, custom: bool
) -> dict[str, Any]:
    """The object after a server-side apply. Raises ConflictError unless `force`."""
    new = paths_of(wanted, custom=custom)
    before = live or {}
    entries = [entry for entry in (before.get("metadata") or {}).get("managedFields") or () if entry]
    own = next((entry for entry in entries if writer.is_entry(entry)), None)
    old = parse_fields((own or {}).get("fieldsV1") or {})
    others = [entry for entry in entries if entry is not own]
    clashes = _conflicts(before, wanted, new, others, custom=custom)
    if clashes and not force:
        raise ConflictError(_conflict_message(clashes), conflicts=tuple(conflict for _, conflict in clashes))
    taken = {path for path, _ in clashes}
    others = _without(others, taken)
    elsewhere = frozenset().union(*(parse_fields(entry.get("fieldsV1") or {}) for entry in others))
    left = _plain(before)
    _remove(left, old - new - elsewhere, elsewhere | new)
    result = merge(left, _plain(wanted), custom=custom)
    if not new:
        result["metadata"]["managedFields"] = others
        return dict(result)
    entry = _entry(writer, new)
    if own is not None and own.get("fieldsV1") == entry["fieldsV1"] and own.get("apiVersion") == entry["apiVersion"]:
        entry = dict(own)
    result["metadata"]["managedFields"] = [*others, entry]
    return dict(result)


def update(
    before: Mapping[str, Any] | None, after: Mapping[str, Any], writer: Writer, *, custom: bool
) -> dict[str, Any]:
    """The object after a write that is no apply: the writer owns what it changed, nobody owns what it removed."""
    old_body = before or {}
    result = _plain(after)
    for name in ("labels", "annotations"):
        if result["metadata"].get(name) == {}:
            del result["metadata"][name]
    old, new = paths_of(_plain(old_body), custom=custom), paths_of(result, custom=custom)
    changed = {path for path in new if path not in old or _moved(path, old_body, result)}
    entries = [entry for entry in (old_body.get("metadata") or {}).get("managedFields") or () if entry]
    own = next((entry for entry in entries if writer.is_entry(entry)), None)
    kept = parse_fields((own or {}).get("fieldsV1") or {}) & new
    others = _without([entry for entry in entries if entry is not own], {*changed, *(old - new)})
    mine = frozenset(kept | changed)
    if own is not None and mine == kept and not changed:
        others.append(own)
    elif mine:
        others.append(_entry(writer, mine))
    result["metadata"]["managedFields"] = others
    return result


def _moved(path: Path, before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """A value that is another; of an item of a list with keys each field counts for itself, and its place not."""
    return not isinstance(path[-1], Key) and value_at(before, path) != value_at(after, path)


def _plain(body: Mapping[str, Any]) -> dict[str, Any]:
    copy = deepcopy(dict(body))
    copy["metadata"] = {key: value for key, value in (copy.get("metadata") or {}).items() if key != "managedFields"}
    return copy


def _entry(writer: Writer, paths: Iterable[Path]) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "manager": writer.manager,
        "operation": writer.operation,
        "apiVersion": writer.api_version,
        "time": writer.time,
        "fieldsType": "FieldsV1",
        "fieldsV1": render_fields(paths),
    }
    if writer.subresource:
        entry["subresource"] = writer.subresource
    return entry


def _without(entries: list[Mapping[str, Any]], taken: set[Path]) -> list[Mapping[str, Any]]:
    if not taken:
        return list(entries)
    left: list[Mapping[str, Any]] = []
    for entry in entries:
        paths = parse_fields(entry.get("fieldsV1") or {})
        if not paths & taken:
            left.append(entry)
        elif paths - taken:
            left.append({**entry, "fieldsV1": render_fields(paths - taken)})
    return left


def _names(path: Path) -> tuple[str, ...]:
    return tuple(element.name for element in path if isinstance(element, Name))


def _conflicts(
    live: Mapping[str, Any], wanted: Mapping[str, Any], new: Paths, others: list[Mapping[str, Any]], *, custom: bool
) -> list[tuple[Path, FieldConflict]]:
    found: list[tuple[Path, FieldConflict]] = []
    for entry in others:
        for path in parse_fields(entry.get("fieldsV1") or {}) & new:
            old, value = value_at(live, path), value_at(wanted, path)
            if old is ABSENT or isinstance(path[-1], Key | Member) or canonical(old) == canonical(value):
                continue
            if value == {} and isinstance(old, Mapping) and not is_atomic_map(_names(path), custom=custom):
                continue  # an empty map says only that the map is there
            found.append((path, _conflict(path, entry)))
    return sorted(found, key=lambda item: item[1].field)


def _conflict(path: Path, entry: Mapping[str, Any]) -> FieldConflict:
    subresource = entry.get("subresource") or None
    beside = f' with subresource "{subresource}"' if subresource else ""
    using = f" using {entry.get('apiVersion')}" if entry.get("operation") == "Update" else ""
    manager = str(entry.get("manager"))
    return FieldConflict(
        field=render_path(path),
        manager=manager,
        subresource=subresource,
        message=f'conflict with "{manager}"{beside}{using}',
    )


def _conflict_message(clashes: list[tuple[Path, FieldConflict]]) -> str:
    count = "1 conflict" if len(clashes) == 1 else f"{len(clashes)} conflicts"
    fields = ", ".join(f"{conflict.message}: {conflict.field}" for _, conflict in clashes)
    return f"apply failed with {count}: {fields}"


def _remove(body: dict[str, Any], gone: Paths, kept: Paths) -> None:
    # Whole items before what is in them: an item is found by its keys, which are fields of it.
    for path in sorted(gone, key=len):
        if not any(other[: len(path)] == path for other in kept):
            remove(body, path)
