"""What a deploy does to each object: nothing, its bookkeeping, or a write, with what that write would change.

Unchanged objects cost no request. Changed ones are dry-run alone; what would change is the kix-owned projection of
the answer against that of the live object, exact through defaults, quantities, webhooks and atomic lists.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final, Literal

from kixbot.cluster.crds import CRD
from kixbot.cluster.faults import ConflictError, ForbiddenError, NotFoundError, SchemaError
from kixbot.cluster.interface import ApiKind, Cluster
from kixbot.diff.ownership import (
    ABSENT,
    Path,
    is_ceded,
    managed_fields,
    owned_paths,
    parse_fields,
    project,
    render_path,
    value_at,
)
from kixbot.errors import RefusedError
from kixbot.identity import LAST_APPLIED, is_secret
from kixbot.model.activation import FIELD_MANAGER, RecordRow, cluster_label
from kixbot.model.build import Build
from kixbot.model.plan import Conflict
from kixbot.model.resource import Body, Ref, Resource
from kixbot.ops.desired import (
    APPLIED_HASH,
    contents_of,
    find_lead,
    has_plain_values,
    hash_of,
    is_held,
    is_skewed,
    key_prefix,
    leaves_left_out,
    managers_of,
    missing_keys,
    paths_by_text,
    sent_body,
)
from kixbot.ops.drift import is_done_job
from kixbot.ops.observe import Observation

SKEWED: Final = "not simulated: its owners' entries are of another API version; a deploy rewrites them"
StepAction = Literal["create", "change", "adopt", "refresh", "none"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One object's part of a deploy.

    `before` and `after` are what the plan shows; equal when nothing kix owns would change. `moved` tells that the
    identity differs from the record's though the content does not. `note` says why a step is not simulated, or who
    manages an adopted object. `guard` is the resourceVersion of a forced write that takes the fields `taken` back;
    `transfer` are managers whose fields become those of kix first.
    """

    resource: Resource
    kind: ApiKind | None
    action: StepAction
    live: Body | None = None
    row: RecordRow | None = None
    left_out: tuple[Path, ...] = ()
    conflicts: tuple[Conflict, ...] = ()
    before: Body = field(default_factory=dict)
    after: Body = field(default_factory=dict)
    simulated: bool = True
    moved: bool = False
    note: str | None = None
    taken: tuple[str, ...] = ()
    guard: str = ""
    transfer: tuple[str, ...] = ()

    @property
    def ref(self) -> Ref:
        """What it is called."""
        return self.resource.ref


def whole(step: Step, projection: Body) -> Body:
    """A projection names no kind, and a diff has to know a Secret when it sees one."""
    return {**projection, "apiVersion": step.resource.api_version, "kind": step.ref.kind}


def decide(build: Build, resource: Resource, seen: Observation, cluster: Cluster) -> Step:
    """The step of one resource; asks the cluster for a dry-run only where its content is not the recorded one.

    Raises faults of the dry-run (an immutable field, a webhook's refusal), RefusedError for an object that another
    Kix cluster leads.
    """
    live = seen.live.get(resource.ref)
    kind = seen.kind_of(resource.ref, resource.api_version)
    rows = seen.rows.get(resource.ref, ())
    row = next((one for one in reversed(rows) if one.identity), None)
    step = Step(
        resource=resource,
        kind=kind,
        action="none",
        live=live,
        row=row,
        left_out=leaves_left_out(resource, live),
        moved=row is not None and row.identity != build.identities[resource.ref].hash,
    )
    if live is None:
        done = is_done_job(seen, resource.ref, hash_of(resource, seen.record.key))
        return step if done else _absent(build, step, seen, cluster)
    if _is_current(step, rows, seen.record.key):
        return replace(step, action=_upkeep(build, step))
    return simulate(step, seen, cluster, build)


def _is_current(step: Step, rows: tuple[RecordRow, ...], key: bytes | None) -> bool:
    """Content as recorded by every record that counts, and the same object; values of Secrets are always compared."""
    if step.row is None or step.live is None or has_plain_values(step.resource):
        return False
    wanted = hash_of(step.resource, key)
    uid = step.live["metadata"]["uid"]
    if missing_keys(step.resource, step.live):
        return False
    left_out = tuple(render_path(path) for path in step.left_out)
    return (
        all(row.content_hash == wanted for row in rows)
        and any(row.uid == uid for row in rows)
        and left_out == step.row.left_out
    )


def _upkeep(build: Build, step: Step) -> StepAction:
    """Bookkeeping alone is rewritten where somebody brought an old one back; a moved identity is not written at all."""
    metadata = (step.live or {}).get("metadata") or {}
    name = build.cluster.name
    labelled = cluster_label(name) in (metadata.get("labels") or {})
    annotations = metadata.get("annotations") or {}
    prefix = key_prefix(step.live, name)
    applied = annotations.get(f"{prefix}{APPLIED_HASH}")
    return "none" if labelled and step.row is not None and applied == step.row.value_hash else "refresh"


def _absent(build: Build, step: Step, seen: Observation, cluster: Cluster) -> Step:
    created = replace(step, action="create", after=sent_body(step.resource, ()))
    reason = _why_not_simulated(build, step, seen)
    if reason is not None:
        return replace(created, simulated=False, note=f"not simulated: {reason}")
    try:
        dry_run(cluster, created, created.after)
    except ForbiddenError:
        return replace(created, simulated=False, note="not simulated: no right to patch")
    except SchemaError:
        made = made_crd(build, step.ref)
        if made is None:
            raise
        return replace(created, simulated=False, note=f"not simulated: CRD {made} is changed by this deploy")
    return created


def _why_not_simulated(build: Build, step: Step, seen: Observation) -> str | None:
    namespace = step.ref.namespace
    if namespace and namespace not in seen.namespaces:
        return f"Namespace {namespace} is made by this deploy"
    if step.kind is None:
        made = made_crd(build, step.ref)
        return f"CRD {made} is made by this deploy" if made else f"kind {step.ref.kind} is not served"
    return None


def made_crd(build: Build, ref: Ref) -> str | None:
    """The CRD of this build, or of kix, that serves the kind of `ref`."""
    if ref.group == "kix.run":
        return f"{ref.kind.lower()}s.kix.run"
    for resource in build.resources:
        if resource.ref.kind == CRD.kind:
            spec = resource.manifest.get("spec") or {}
            if spec.get("group") == ref.group and (spec.get("names") or {}).get("kind") == ref.kind:
                return resource.ref.name
    return None


def simulate(step: Step, seen: Observation, cluster: Cluster, build: Build) -> Step:
    """The step of a live object as a dry-run of it tells: a change, an adoption, or bookkeeping alone."""
    live = step.live
    if live is None or step.kind is None:
        return step
    if step.ref in seen.partial:
        live = cluster.get(step.kind, step.ref.name, step.ref.namespace)
    lead = find_lead(live, build.cluster.name)
    adopted = not is_held(live, build.cluster.name)
    current = replace(
        step, live=live, action="adopt" if adopted else "change", note=managers_of(live) if adopted else None
    )
    try:
        answered = _dry_run_with_conflicts(cluster, current)
    except ForbiddenError:
        before = project(live, owned_paths(live, FIELD_MANAGER), step.resource.manifest)
        return replace(current, before=before, after=contents_of(step.resource), simulated=False,
                       note="not simulated: no right to patch")  # fmt: skip
    except SchemaError:
        if is_skewed(live, step.kind.api_version):
            return replace(current, after=contents_of(step.resource), simulated=False, note=SKEWED)
        made = made_crd(build, step.ref)
        if made is None:
            raise
        return replace(current, after=contents_of(step.resource), simulated=False,
                       note=f"not simulated: CRD {made} is changed by this deploy")  # fmt: skip
    if lead and answered.before != answered.after:
        raise RefusedError(
            f"{step.ref.plain}: led by cluster {lead}, which alone may change it",
            hint=f"change it there, or remove it from cluster {lead} first",
        )
    return answered


def dry_run(cluster: Cluster, step: Step, body: Mapping[str, Any], *, force: bool = False) -> dict[str, Any]:
    """The object as it would be. Raises faults with the object named."""
    if step.kind is None:
        raise NotFoundError(f"{step.ref.plain}: its kind is not served")
    return cluster.apply(step.kind, body, manager=FIELD_MANAGER, dry_run=True, force=force)


def _dry_run_with_conflicts(cluster: Cluster, step: Step) -> Step:
    body = sent_body(step.resource, step.left_out)
    try:
        after = dry_run(cluster, step, body)
        conflicts: tuple[Conflict, ...] = ()
    except ConflictError as error:
        conflicts = conflicts_of(step, error)
        # A 409 carries no object, so what would change is seen by a forced dry-run.
        after = dry_run(cluster, step, body, force=True)
    live: Body = step.live or {}
    paths = owned_paths(live, FIELD_MANAGER) | owned_paths(after, FIELD_MANAGER)
    made = dict.fromkeys(missing_keys(step.resource, live), "(generated)")
    shown = replace(
        step,
        conflicts=(*_ceded(step), *conflicts),
        before=project(live, paths, step.resource.manifest),
        after={**project(after, paths, step.resource.manifest), **({"data": made} if made else {})},
    )
    untouched = shown.before == shown.after and owned_paths(live, FIELD_MANAGER) == owned_paths(after, FIELD_MANAGER)
    return replace(shown, action="refresh") if untouched and step.action == "change" and not conflicts else shown


def _ceded(step: Step) -> tuple[Conflict, ...]:
    """The forecast's ceded rows: leaves left to others whose value differs."""
    rows: list[Conflict] = []
    for path in step.left_out:
        live, desired = value_at(step.live, path), value_at(step.resource.manifest, path)
        if live is ABSENT or live == desired:
            continue
        holder, subresource = _holder(step.live or {}, path)
        rows.append(_row(step, render_path(path), holder, subresource, live, desired, ceded=True))
    return tuple(rows)


def _holder(live: Body, path: Path) -> tuple[str, str | None]:
    for entry in managed_fields(live):
        if entry.get("manager") != FIELD_MANAGER and path in parse_fields(entry.get("fieldsV1") or {}):
            return str(entry.get("manager")), entry.get("subresource") or None
    return "", None


def conflicts_of(step: Step, error: ConflictError) -> tuple[Conflict, ...]:
    """The conflicts of an apply, each with both values. Values of Secrets are never shown."""
    paths = paths_by_text(step.live)
    rows: list[Conflict] = []
    for one in error.conflicts:
        path = paths.get(one.field)
        live = None if path is None else value_at(step.live, path)
        desired = None if path is None else value_at(step.resource.manifest, path)
        ceded = path is not None and any(is_ceded(path, cede) for cede in step.resource.cede)
        rows.append(_row(step, one.field, one.manager, one.subresource, live, desired, ceded=ceded))
    return tuple(rows)


def _row(
    step: Step, field: str, manager: str, subresource: str | None, live: Any, desired: Any, *, ceded: bool
) -> Conflict:
    hidden = is_secret(step.resource.manifest) and (field.startswith((".data", ".stringData")) or LAST_APPLIED in field)
    return Conflict(
        ref=step.ref,
        path=f"${field}",
        manager=manager,
        subresource=subresource,
        live="(secret)" if hidden else _shown(live),
        desired="(secret)" if hidden else _shown(desired),
        verdict="ceded" if ceded else "conflict",
    )


def _shown(value: Any) -> Any:
    return None if value is ABSENT else value
