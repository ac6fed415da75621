"""What the record lists and the build does not: which of it may be deleted, and why the rest stays."""

from collections.abc import Mapping
from dataclasses import dataclass

from kixbot.cluster.faults import NotFoundError, StaleError
from kixbot.cluster.interface import ApiKind, Cluster, Propagation
from kixbot.model.activation import RecordRow
from kixbot.model.build import Build
from kixbot.model.resource import Body, Ref
from kixbot.ops.desired import is_held, other_clusters
from kixbot.ops.observe import Observation, find

NEVER = frozenset({"Namespace", "CustomResourceDefinition"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Leftover:
    """An object that left the build. `kept` says why it stays, None when it may go."""

    ref: Ref
    row: RecordRow
    kind: ApiKind
    live: Body
    kept: str | None


def leftovers(build: Build, seen: Observation) -> tuple[Leftover, ...]:
    """Sorted by object. What is gone already is not listed."""
    wanted = {resource.ref for resource in build.resources}
    uids = {body["metadata"]["uid"] for ref, body in seen.live.items() if ref in wanted}
    found: list[Leftover] = []
    for ref in sorted(seen.rows.keys() - wanted):
        live, kind, row = seen.live.get(ref), seen.kind_of(ref), seen.rows[ref][-1]
        if live is not None and kind is not None:
            kept = why_kept(seen, build.cluster.name, ref, live, uids) or _too_early(seen)
            found.append(Leftover(ref=ref, row=row, kind=kind, live=live, kept=kept))
    return tuple(found)


def _too_early(seen: Observation) -> str | None:
    current = seen.record.current
    full = current is not None and current.activated_at is not None
    return None if full else "nothing is deleted before a first full deploy"


def why_kept(seen: Observation, cluster: str, ref: Ref, live: Body, uids: set[str]) -> str | None:
    """Why an object that is in no build any more stays, None when it may go. `uids` are those of objects that stay."""
    metadata: Mapping[str, object] = live["metadata"]
    recorded = {row.uid for row in seen.rows[ref] if row.uid}
    others = other_clusters(live, cluster)
    if ref.kind in NEVER:
        return f"a {ref.kind} is never deleted with what is in it"
    if not is_held(live, cluster):
        return "kix applies no field of it"
    if _has_controller(live):
        return "another object controls it"
    if str(metadata["uid"]) in uids:
        return "the build holds it under another API group"
    if recorded and str(metadata["uid"]) not in recorded:
        return "made anew by somebody else"
    if others:
        return f"cluster {others[0]} holds it too"
    return None


def _has_controller(live: Body) -> bool:
    owners = live["metadata"].get("ownerReferences") or ()
    return any(owner.get("controller") for owner in owners)


def delete(cluster: Cluster, leftover: Leftover, *, name: str, propagation: Propagation = "Background") -> str | None:
    """Delete exactly what was seen; judged again once when it changed meanwhile. Gives why it was kept, else None.

    `name` is our cluster's.
    """
    ref, live = leftover.ref, leftover.live
    for _ in range(2):
        try:
            cluster.delete(
                leftover.kind,
                ref.name,
                namespace=ref.namespace,
                uid=live["metadata"]["uid"],
                resource_version=live["metadata"]["resourceVersion"],
                propagation=propagation,
            )
        except NotFoundError:
            return None
        except StaleError:
            again = find(cluster, leftover.kind, ref)
            if again is None:
                return None
            if again["metadata"]["uid"] != live["metadata"]["uid"]:
                return "made anew by somebody else"
            if not is_held(again, name) or _has_controller(again):
                return "kix applies no field of it any more"
            live = again
        else:
            return None
    return "it changes all the time"
