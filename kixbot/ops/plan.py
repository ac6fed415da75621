"""The plan of a deploy against the live cluster. It only reads, and dry-runs where it may."""

import hashlib
from collections import Counter
from dataclasses import dataclass, replace

from kixbot.cluster.crds import PACKAGE_INSTANCE
from kixbot.cluster.faults import ImmutableError, RejectedError
from kixbot.cluster.interface import Cluster
from kixbot.diff.groups import groups_of
from kixbot.diff.planner import pack, reviewed_hash
from kixbot.diff.tree import diff
from kixbot.errors import RefusedError, SourceError
from kixbot.graph.waves import is_package_instance, waves
from kixbot.model.activation import DEFAULT_RECORD_NAMESPACE
from kixbot.model.build import Build
from kixbot.model.plan import Action, PackageChange, Plan, PruneCandidate, ResourceChange, SecretChanged
from kixbot.model.resource import Ref, Resource
from kixbot.ops.desired import has_plain_values
from kixbot.ops.drift import find_drift
from kixbot.ops.externals import require_imports
from kixbot.ops.leftovers import Leftover, leftovers
from kixbot.ops.observe import Observation, observe
from kixbot.ops.owners import explained
from kixbot.ops.parallel import each
from kixbot.ops.reconcile import put_back
from kixbot.ops.steps import Step, decide, whole
from kixbot.ops.takeover import Adoption, take_over, undecided
from kixbot.ops.trackers import trackers


@dataclass(frozen=True, slots=True, kw_only=True)
class LivePlan:
    """A plan with what a deploy needs beside it: a step per resource, what left the build, what was seen."""

    plan: Plan
    steps: tuple[Step, ...]
    leftovers: tuple[Leftover, ...]
    seen: Observation

    @property
    def by_ref(self) -> dict[Ref, Step]:
        """Steps by object."""
        return {step.ref: step for step in self.steps}

    @property
    def has_changes(self) -> bool:
        """Whether a deploy would write any object."""
        return any(step.action != "none" for step in self.steps)

    @property
    def counts(self) -> dict[str, int]:
        """Objects by what happens to them."""
        names = {"create": "created", "change": "changed", "adopt": "adopted", "refresh": "unchanged"}
        found = Counter(names.get(step.action, "unchanged") for step in self.steps)
        return {name: found[name] for name in ("created", "changed", "adopted", "unchanged") if found[name]}


def live_plan(
    build: Build,
    cluster: Cluster,
    *,
    record_namespace: str = DEFAULT_RECORD_NAMESPACE,
    allow_plain_secrets: bool = False,
    reconcile: bool = False,
    adopt: tuple[Adoption, ...] = (),
) -> LivePlan:
    """What a deploy of `build` would change in `cluster`.

    Requests: two of discovery, the Lease, the record and its parts, one per namespace, one per kind, one dry-run per
    content change (two on a conflict) and per Secret with values, one per import and object the lists lack, and one
    per owner of another tool that marks its objects.
    Raises SourceError for a build without activation, RefusedError for Secret values that are not allowed and for
    imports that are not there, faults of the cluster.
    """
    if build.activation is None:
        raise SourceError(f"cluster {build.cluster.name}: the build has faults, so it has no activation",
                          hint="kix check lists them")  # fmt: skip
    if not allow_plain_secrets:
        _refuse_plain_secrets(build)
    seen = observe(build, cluster, record_namespace=record_namespace)
    require_imports(build, cluster, seen.discovery)
    steps = each(lambda resource: _decided(build, resource, seen, cluster, adopt), build.resources)
    if reconcile:
        steps = put_back(build, steps, seen, find_drift(seen, (build,)), cluster)
    if adopt:
        groups = {ref: group.id for ref, group in groups_of(build).items()}
        steps = take_over(steps, seen, cluster, adopt, groups)
    gone = leftovers(build, seen)
    found = replace(_plan(build, seen, steps, gone), trackers=trackers(build, seen, cluster))
    return LivePlan(plan=found, steps=steps, leftovers=gone, seen=seen)


def _decided(
    build: Build, resource: Resource, seen: Observation, cluster: Cluster, adopt: tuple[Adoption, ...]
) -> Step:
    """What the API server refuses as it is may pass once other owners' fields are taken over."""
    try:
        return decide(build, resource, seen, cluster)
    except (RejectedError, ImmutableError) as error:
        step = undecided(resource, seen, adopt)
        if step is not None:
            return step
        if isinstance(error, RejectedError):
            raise explained(error, seen.live.get(resource.ref)) from error
        raise


def _refuse_plain_secrets(build: Build) -> None:
    found = [resource.ref for resource in build.resources if has_plain_values(resource)]
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        raise RefusedError(
            f"{found[0].plain}{more}: holds its values in plain text",
            hint="declare it with scope.mkSecret or as external, or set allow-plain-secrets = true for this cluster",
        )


def _plan(build: Build, seen: Observation, steps: tuple[Step, ...], gone: tuple[Leftover, ...]) -> Plan:
    current = seen.record.current
    changes = tuple(change for step in steps if (change := _change(step)) is not None)
    removed = tuple(ResourceChange(ref=one.ref, action="removed") for one in gone)
    recorded = {row.ref: row.package for rows in seen.rows.values() for row in rows}
    packages, unchanged = pack((*changes, *removed), old=None, new=build, recorded=recorded)
    before = None if current is None else current.name
    after = None if build.activation is None else build.activation.name
    secret = any(isinstance(field, SecretChanged) for change in changes for field in change.changes)
    return Plan(
        cluster=build.cluster.name,
        old_activation=before,
        new_activation=after,
        packages=tuple(_with_old_version(package, seen) for package in packages),
        unchanged=unchanged,
        same_name_secrets=before is not None and before == after and secret,
        conflicts=tuple(conflict for step in steps for conflict in step.conflicts),
        waves=waves(build),
        prune=tuple(PruneCandidate(ref=one.ref, kept=one.kept) for one in gone),
        drift=find_drift(seen, (build,)),
        hash=_hash(build, changes, gone),
    )


def _change(step: Step) -> ResourceChange | None:
    match step.action:
        case "create":
            return ResourceChange(ref=step.ref, action="added", simulated=step.simulated, note=step.note)
        case "change" | "adopt":
            changes = diff(whole(step, step.before), whole(step, step.after))
            action: Action = "adopted" if step.action == "adopt" else "changed"
            if action == "changed" and is_package_instance(step.ref):
                return ResourceChange(ref=step.ref, action="changed", reason="dependency")
            return ResourceChange(
                ref=step.ref, action=action, changes=changes, simulated=step.simulated, note=step.note
            )
        case "refresh" | "none":
            return ResourceChange(ref=step.ref, action="changed", reason="dependency") if step.moved else None


def _with_old_version(package: PackageChange, seen: Observation) -> PackageChange:
    """The version that runs now, from the live PackageInstance."""
    live = seen.live.get(Ref(PACKAGE_INSTANCE.kind, PACKAGE_INSTANCE.group, package.namespace, package.name))
    version = ((live or {}).get("spec") or {}).get("version")
    return replace(package, old_version=str(version)) if version and package.action == "changed" else package


def _hash(build: Build, changes: tuple[ResourceChange, ...], gone: tuple[Leftover, ...]) -> str:
    """One hash over every content change, to compare two plans of one build by."""
    known = reviewed_hash([change for change in changes if change.action != "removed"], old=None, new=build)
    ids = "".join(f" {one.ref.id}" for one in gone)
    return hashlib.sha256(f"{known}{ids}".encode()).hexdigest()
