"""The plan of a deploy against the live cluster. It only reads, and dry-runs where it may."""

from collections import Counter
from dataclasses import dataclass

from kixbot.cluster.interface import Cluster
from kixbot.errors import RefusedError, SourceError
from kixbot.graph.waves import waves
from kixbot.model.activation import DEFAULT_RECORD_NAMESPACE
from kixbot.model.build import Build
from kixbot.model.plan import Plan, PruneCandidate
from kixbot.model.resource import Ref
from kixbot.ops.desired import has_plain_values
from kixbot.ops.leftovers import Leftover, leftovers
from kixbot.ops.observe import Observation, observe
from kixbot.ops.parallel import each
from kixbot.ops.steps import Step, decide


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
) -> LivePlan:
    """What a deploy of `build` would change in `cluster`.

    Requests: two of discovery, the Lease, the record and its parts, one per namespace, one per kind, one dry-run per
    content change (two on a conflict) and per Secret with values, and one per object the lists lack.
    Raises SourceError for a build without activation, RefusedError for Secret values that are not allowed, faults of
    the cluster.
    """
    if build.activation is None:
        raise SourceError(f"cluster {build.cluster.name}: the build has faults, so it has no activation",
                          hint="kix check lists them")  # fmt: skip
    if not allow_plain_secrets:
        _refuse_plain_secrets(build)
    seen = observe(build, cluster, record_namespace=record_namespace)
    steps = each(lambda resource: decide(build, resource, seen, cluster), build.resources)
    gone = leftovers(build, seen)
    return LivePlan(plan=_plan(build, seen, steps, gone), steps=steps, leftovers=gone, seen=seen)


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
    return Plan(
        cluster=build.cluster.name,
        old_activation=None if current is None else current.name,
        new_activation=None if build.activation is None else build.activation.name,
        conflicts=tuple(conflict for step in steps for conflict in step.conflicts),
        waves=waves(build),
        prune=tuple(PruneCandidate(ref=one.ref, kept=one.kept) for one in gone),
    )
