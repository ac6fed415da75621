"""Going back to an earlier activation: which one, from which commit, and the proof that it is there again."""

import re

from kixbot.cluster.faults import ForbiddenError, ImmutableError, RejectedError
from kixbot.cluster.interface import Cluster
from kixbot.cluster.records import Record, Records
from kixbot.diff.tree import diff
from kixbot.errors import RefusedError
from kixbot.model.activation import DEFAULT_RECORD_NAMESPACE, Activation
from kixbot.model.build import Build
from kixbot.model.plan import ResourceChange
from kixbot.model.resource import Resource
from kixbot.ops.desired import hash_of, leaves_left_out
from kixbot.ops.drift import is_done_job
from kixbot.ops.observe import Observation, observe
from kixbot.ops.parallel import each
from kixbot.ops.steps import Step, simulate, whole

_COMMIT = re.compile(r"[0-9a-f]{40}")


def read_record(cluster: Cluster, name: str, *, record_namespace: str = DEFAULT_RECORD_NAMESPACE) -> Record:
    """The record of a cluster. Raises faults."""
    return Records(cluster, cluster=name, namespace=record_namespace).read()


def target_of(record: Record, cluster: str, name: str | None) -> Activation:
    """The activation to go back to: the named one, else the one that was current before. Raises RefusedError."""
    current = record.current
    if current is None:
        raise RefusedError(f"cluster {cluster}: nothing was deployed yet", hint=f"kix deploy {cluster}")
    earlier = sorted(
        (one for one in record.activations if one.activated_at and one.name != current.name),
        key=lambda one: one.activated_at or "",
        reverse=True,
    )
    known = ", ".join(one.name for one in earlier) or "none"
    if name is None:
        if not earlier:
            raise RefusedError(f"cluster {cluster}: there is no earlier activation to go back to")
        return earlier[0]
    found = next((one for one in (current, *earlier) if one.name == name), None)
    if found is None:
        raise RefusedError(f"cluster {cluster}: no activation {name} was ever active", hint=f"earlier ones: {known}")
    return found


def commit_of(target: Activation) -> str:
    """The commit that an activation was built from. Raises RefusedError when the record names none."""
    commit = (target.receipt.commit if target.receipt else None) or target.commit
    if commit is None:
        raise RefusedError(
            f"{target.name}: was deployed from a working tree with changes that no commit has",
            hint="deploy a commit that says the same",
        )
    if not _COMMIT.fullmatch(commit):
        raise RefusedError(f"{target.name}: its record names no commit of 40 hex digits")
    return commit


def require_same_build(build: Build, target: Activation) -> None:
    """Raises RefusedError when the build of the commit is not the recorded one: its path is what it is."""
    path = None if build.activation is None else build.activation.path
    if path != target.source_path:
        made = "nothing that can be deployed" if build.activation is None else build.activation.name
        raise RefusedError(
            f"{target.name}: its commit builds {made} today, not what was deployed",
            hint="another version of kix may have made it; deploy the commit as a change of its own",
        )


def unproven(
    build: Build, cluster: Cluster, *, record_namespace: str = DEFAULT_RECORD_NAMESPACE
) -> tuple[ResourceChange, ...]:
    """What does not stand in the cluster as `build` says, field by field; nothing when all of it does.

    One dry-run an object, a forced one more where other managers hold fields. Fields left to others do not count.
    Raises faults of the cluster.
    """
    seen = observe(build, cluster, record_namespace=record_namespace)
    found = each(lambda resource: _missing(build, seen, cluster, resource), build.resources)
    return tuple(change for change in found if change is not None)


def _missing(build: Build, seen: Observation, cluster: Cluster, resource: Resource) -> ResourceChange | None:
    live = seen.live.get(resource.ref)
    if live is None:
        done = is_done_job(seen, resource.ref, hash_of(resource, seen.record.key))
        return None if done else ResourceChange(ref=resource.ref, action="added", note="not there")
    step = Step(
        resource=resource,
        kind=seen.kind_of(resource.ref, resource.api_version),
        action="none",
        live=live,
        left_out=leaves_left_out(resource, live),
    )
    try:
        step = simulate(step, seen, cluster, build)
    except (ImmutableError, RejectedError, ForbiddenError, RefusedError) as error:
        return ResourceChange(ref=resource.ref, action="changed", note=error.message)
    changes = diff(whole(step, step.before), whole(step, step.after))
    return ResourceChange(ref=resource.ref, action="changed", changes=changes) if changes else None
