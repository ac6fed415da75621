"""`--adopt`: fields of a named manager become those of kix, by a rewrite of the owners' entries, guarded.

A forced apply alone takes fields but leaves what the other applied and kix does not: a key that left the manifest
stays for ever, a probe gets two handlers, a Service two ports of one name. When its entries become kix's own, the next
apply removes what the manifest lacks.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from kixbot.cluster.faults import ConflictError, ForbiddenError, ImmutableError, RejectedError
from kixbot.cluster.interface import Cluster
from kixbot.diff.ownership import owned_paths, project
from kixbot.errors import UsageError
from kixbot.model.activation import FIELD_MANAGER, record_manager
from kixbot.model.resource import Body, Resource
from kixbot.ops.desired import contents_of, leaves_left_out, sent_body
from kixbot.ops.observe import Observation
from kixbot.ops.owners import managers_in, transferred
from kixbot.ops.parallel import each
from kixbot.ops.steps import Step, conflicts_of, dry_run


@dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """Whose fields: everywhere in the build, in one namespace, or of one package (its id, `namespace/name`)."""

    manager: str
    namespace: str | None = None
    package: str | None = None

    def holds_for(self, resource: Resource, group: str | None) -> bool:
        """Whether it speaks of this resource, which is shown under the package `group`."""
        if self.package is not None:
            return self.package in (resource.package, group)
        return self.namespace is None or resource.ref.namespace == self.namespace


def parse(text: str) -> Adoption:
    """`helm`, `helm@shop` (a namespace), `helm@shop/web` (a package). Raises UsageError."""
    manager, at, where = text.partition("@")
    namespace, slash, package = where.partition("/")
    if not manager or (at and not namespace) or (slash and not package):
        raise UsageError(f"--adopt {text}: no manager", hint="MANAGER, MANAGER@NAMESPACE or MANAGER@NAMESPACE/PACKAGE")
    if manager == FIELD_MANAGER or manager.startswith(record_manager("")):
        raise UsageError(f"--adopt {text}: that is kix itself")
    return Adoption(manager=manager, namespace=namespace or None, package=where if slash else None)


def take_over(
    steps: tuple[Step, ...],
    seen: Observation,
    cluster: Cluster,
    adoptions: tuple[Adoption, ...],
    groups: Mapping[Any, str],
) -> tuple[Step, ...]:
    """The steps with those of objects that a named manager holds fields of turned into adoptions.

    A dry-run each, a second where fields clash. Raises faults of dry-runs.
    """

    def decide(step: Step) -> Step:
        asked = {one.manager for one in adoptions if one.holds_for(step.resource, groups.get(step.ref))}
        if step.live is None or step.kind is None or not managers_in(step.live, asked):
            return step
        live = step.live
        if step.ref in seen.partial:
            live = cluster.get(step.kind, step.ref.name, step.ref.namespace)
        return _adopted(replace(step, live=live), cluster, managers_in(live, asked))

    return each(decide, steps)


def undecided(resource: Resource, seen: Observation, adoptions: tuple[Adoption, ...]) -> Step | None:
    """The bare step of an object that one of these managers holds fields of, None of others."""
    live = seen.live.get(resource.ref)
    if live is None or not managers_in(live, {one.manager for one in adoptions}):
        return None
    rows = [row for row in seen.rows.get(resource.ref, ()) if row.identity]
    kind = seen.kind_of(resource.ref, resource.api_version)
    return Step(resource=resource, kind=kind, action="change", live=live, row=rows[-1] if rows else None)


def _adopted(step: Step, cluster: Cluster, managers: tuple[str, ...]) -> Step:
    live = step.live or {}
    entries = transferred(live, managers, step.resource)
    after_transfer = {**live, "metadata": {**live["metadata"], "managedFields": entries}}
    asked = replace(
        step,
        action="adopt",
        transfer=managers,
        left_out=leaves_left_out(step.resource, after_transfer),
        conflicts=(),
        note=f"takes over from {', '.join(managers)}",
    )
    before = project(live, owned_paths(after_transfer, FIELD_MANAGER), step.resource.manifest)
    body = sent_body(step.resource, asked.left_out)
    try:
        answer = dry_run(cluster, asked, body)
    except ConflictError as error:
        others = tuple(one for one in conflicts_of(asked, error) if one.manager not in managers)
        asked = replace(asked, conflicts=others)
        try:
            answer = dry_run(cluster, asked, body, force=True)
        except (RejectedError, ImmutableError):
            return _blind(asked, before, "the API server takes it only after the take-over")
    except (RejectedError, ImmutableError):
        return _blind(asked, before, "the API server takes it only after the take-over")
    except ForbiddenError:
        return _blind(asked, before, "no right to patch")
    after = project(answer, owned_paths(answer, FIELD_MANAGER), step.resource.manifest)
    return replace(asked, before=before, after=after)


def _blind(step: Step, before: Body, why: str) -> Step:
    return replace(
        step,
        before=before,
        after=contents_of(step.resource),
        simulated=False,
        note=f"not simulated: {why}; {step.note}",
    )
