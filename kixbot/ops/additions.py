"""Fields that people added by hand to objects of kix, beside those that kix applies."""

from typing import Final

from kixbot.diff.baseline import Baseline, topmost
from kixbot.diff.fields import ABSENT, Key, Name, Path, Paths, parse_fields, value_at
from kixbot.diff.ownership import managed_fields
from kixbot.diff.shown import shown_path
from kixbot.identity import LAST_APPLIED, is_secret
from kixbot.model.activation import RecordRow
from kixbot.model.drift import FieldDrift, Known, ResourceDrift, Unknown
from kixbot.model.resource import Body, Resource

# Managers that write when a person types or clicks. kubectl writes as `kubectl`, `kubectl-edit`, `kubectl-patch`,
# `kubectl-client-side-apply` and so on; the others are consoles.
PEOPLE: Final = ("kubectl", "k9s", "rancher", "lens", "headlamp", "octant", "node-fetch", "mozilla")


def is_person(manager: str) -> bool:
    """Whether the field manager is a tool that people write with by hand."""
    return manager.lower().startswith(PEOPLE)


def has_people(live: Body) -> bool:
    """Whether any tool that people write with holds fields of the object itself."""
    return any(is_person(str(one.get("manager") or "")) for one in managed_fields(live) if not one.get("subresource"))


def additions_of(row: RecordRow, baseline: Baseline, live: Body, resource: Resource | None) -> ResourceDrift | None:
    """What people's tools own in `live` and kix never applied; None when there is nothing."""
    seen: set[str] = set()
    fields: list[FieldDrift] = []
    for entry in managed_fields(live):
        if entry.get("subresource") or not is_person(str(entry.get("manager") or "")):
            continue
        foreign = parse_fields(entry.get("fieldsV1") or {})
        for path in _own(foreign, baseline.paths, resource):
            field = _field(row, path, live, str(entry["manager"]), entry.get("time"))
            if field is not None and field.path not in seen:
                seen.add(field.path)
                fields.append(field)
    if not fields:
        return None
    ordered = tuple(sorted(fields, key=lambda field: field.path))
    return ResourceDrift(ref=row.ref, package=row.package, state="added", fields=ordered)


def _own(foreign: Paths, ours: Paths, resource: Resource | None) -> tuple[Path, ...]:
    """The foreign fields that no field of ours is or stands below: new items of lists whole, of maps each field."""
    left = frozenset(
        path
        for path in foreign
        if not _touches(path, ours) and not _is_note(path) and not _is_generated(path, resource)
    )
    whole = {_item_above(path, left) for path in left}
    leaves = {path for path in whole if not any(other[: len(path)] == path and other != path for other in whole)}
    return topmost(frozenset(path for path in whole if isinstance(path[-1], Key) or path in leaves))


def _item_above(path: Path, paths: Paths) -> Path:
    """A new item of a list is shown as a whole, not each of its fields."""
    above = (path[:depth] for depth in range(1, len(path)))
    return next((one for one in above if isinstance(one[-1], Key) and one in paths), path)


def _touches(path: Path, ours: Paths) -> bool:
    """A field below a leaf of ours is one of ours only where ours is a whole value; an item of a list is its own."""
    return path in ours or any(other[: len(path)] == path for other in ours)


def _is_note(path: Path) -> bool:
    """kubectl's copy of what it applied, and kix's own labels, which it may have carried over."""
    last = path[-1]
    if path[:1] != (Name("metadata"),) or not isinstance(last, Name):
        return False
    return last.name == LAST_APPLIED or last.name.partition("/")[0].endswith("kix.run")


def _is_generated(path: Path, resource: Resource | None) -> bool:
    """A value of a generated Secret that somebody rotated is theirs to rotate."""
    names = () if resource is None else resource.generated
    return len(path) > 1 and path[0] == Name("data") and f"data.{getattr(path[1], 'name', '')}" in names


def _field(row: RecordRow, path: Path, live: Body, manager: str, time: str | None) -> FieldDrift | None:
    value = value_at(live, path)
    if value == {} or (value is ABSENT and not isinstance(path[-1], Key)):
        return None
    secret = is_secret({"apiVersion": row.api_version, "kind": row.ref.kind}) and path[0] == Name("data")
    shown = Unknown.SECRET if secret else Unknown.UNREAD if value is ABSENT else Known(value=value)
    return FieldDrift(path=shown_path(path), kind="added", live=shown, manager=manager, time=time)
