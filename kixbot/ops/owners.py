"""Whose fields an object's are, rewritten: the entries of named managers become those of kix."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from kixbot.cluster.faults import RejectedError, StaleError
from kixbot.cluster.interface import ApiKind, Cluster
from kixbot.diff.fields import Name, Paths, parse_fields, render_fields
from kixbot.diff.ownership import managed_fields, owned_paths
from kixbot.model.activation import FIELD_MANAGER
from kixbot.model.resource import Body, Resource
from kixbot.ops.observe import find

# What the API server says when two managers' items of one list, or two kinds of one handler, come together (1.34.3).
_TWICE: Final = ("Duplicate value", "may not specify more than 1")


def managers_in(live: Body, asked: Iterable[str]) -> tuple[str, ...]:
    """Those of the managers that hold fields of an object itself, not only of a subresource."""
    wanted = set(asked)
    return tuple(sorted({str(entry["manager"]) for entry in managed_fields(live) if _is_theirs(entry, wanted)}))


def _is_theirs(entry: Mapping[str, Any], managers: set[str]) -> bool:
    return str(entry.get("manager")) in managers and not entry.get("subresource")


def transferred(live: Body, managers: Iterable[str], resource: Resource) -> list[dict[str, Any]]:
    """The owners' entries when those managers' fields are kix's. Values that are made at apply stay whose they are."""
    wanted = set(managers)
    mine = owned_paths(live, FIELD_MANAGER)
    left: list[dict[str, Any]] = []
    for entry in managed_fields(live):
        if entry.get("manager") == FIELD_MANAGER and entry.get("operation") == "Apply" and not entry.get("subresource"):
            continue
        if not _is_theirs(entry, wanted):
            left.append(dict(entry))
            continue
        fields = parse_fields(entry.get("fieldsV1") or {})
        kept = _not_ours(fields, resource)
        mine |= fields - kept
        if kept:
            left.append({**entry, "fieldsV1": render_fields(kept)})
    own = {
        "manager": FIELD_MANAGER,
        "operation": "Apply",
        "apiVersion": live["apiVersion"],
        "fieldsType": "FieldsV1",
        "fieldsV1": render_fields(mine),
    }
    return [own, *left]


def _not_ours(fields: Paths, resource: Resource) -> Paths:
    status = frozenset(path for path in fields if path[:1] == (Name("status"),))
    made = frozenset(path for path in fields if resource.generated and path[:1] == (Name("data"),))
    return status | made


def hand_over(cluster: Cluster, kind: ApiKind, resource: Resource, seen: Body, managers: tuple[str, ...]) -> None:
    """Give kix the fields of these managers, of exactly the version that was seen; read again once where it moved.

    Raises StaleError when it moves all the time, faults of the cluster.
    """
    live: Body | None = seen
    ref = resource.ref
    for last in (False, True):
        if live is None or not managers_in(live, managers):
            return
        version = str(live["metadata"]["resourceVersion"])
        entries = transferred(live, managers, resource)
        try:
            cluster.replace_owners(kind, ref.name, entries, namespace=ref.namespace, resource_version=version)
        except StaleError as error:
            if last:
                raise StaleError(f"{ref.plain}: changes all the time", hint="deploy again") from error
            live = find(cluster, kind, ref)
        else:
            return


def explained(error: RejectedError, live: Body | None) -> RejectedError:
    """The fault with what to type, where what another manager left beside our fields makes the object invalid."""
    others = sorted({str(entry.get("manager")) for entry in managed_fields(live or {}) if not entry.get("subresource")})
    named = [name for name in others if name and not name.startswith(FIELD_MANAGER)]
    if named and any(text in error.message for text in _TWICE):
        error.hint = f"fields of {', '.join(named)} stand beside ours; --adopt {named[0]} takes them over"
    return error
