"""ref/unused-external: something declared to exist outside that nothing in the build refers to."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.graph.edges import TABLE
from kixbot.graph.pods import find_pods
from kixbot.graph.rows import POD, Row, read
from kixbot.graph.walk import strings
from kixbot.model.build import External
from kixbot.model.finding import Severity
from kixbot.model.resource import BUILTIN_GROUPS, Ref, Resource

_SOURCES = frozenset(row.source for row in TABLE)


def _find(context: Context) -> Iterator[Hit]:
    externals = context.build.evaluated.externals
    if not externals:
        return
    kinds = {external.kind for external in externals}
    rows = [row for row in TABLE if row.typed or row.target.name in kinds]
    named = {ref for resource in context.resources for ref in _named(resource, rows)}
    for external in externals:
        if not any(_is(external, ref) for ref in named) and not _is_used(external, context):
            where = f"{external.namespace}/" if external.namespace else ""
            yield Hit(
                message=f"external {external.kind} {where}{external.name} is declared, and nothing refers to it",
                hint="remove the declaration, or check the name that was meant",
                location=external.origin,
            )


def _named(resource: Resource, rows: list[Row]) -> Iterator[Ref]:
    pods = find_pods(resource)
    for row in rows:
        if row.source == resource.ref.kind_group:
            yield from (found.target for found in read(row, resource, resource.manifest, ()))
        elif row.source == POD and pods:
            yield from (found.target for found in read(row, resource, pods.spec, pods.spec_at))


def _is(external: External, ref: Ref) -> bool:
    return (
        (external.kind, external.name) == (ref.kind, ref.name)
        and external.namespace in {None, ref.namespace}
        and external.group in {None, ref.group}
    )


def _is_used(external: External, context: Context) -> bool:
    """Whether it is used in a way that no row of the edges table says: by what lies in it, by text, by an operator."""
    match external.kind:
        case "Namespace":
            return any(resource.ref.namespace == external.name for resource in context.resources)
        case "CustomResourceDefinition":
            group = external.name.partition(".")[2]
            return any(resource.ref.group == group for resource in context.resources)
        case "Service":
            return any(
                external.name in text for resource in context.resources for text, _ in strings(resource.manifest)
            )
    foreign = (
        resource
        for resource in context.resources
        if resource.ref.group not in BUILTIN_GROUPS and resource.ref.kind_group not in _SOURCES
    )
    return any(text == external.name for resource in foreign for text, _ in strings(resource.manifest))


CHECK = Check(
    id="ref/unused-external",
    severity=Severity.WARNING,
    title="an external is declared and not used",
    rationale=(
        "Each external is an exception to the rule that everything referred to is in the build. One that nothing "
        "uses hides the next slip of that name."
    ),
    example=Example(
        good='externals = [ (kix.untrackedRef { kind = "Secret"; namespace = "shop"; name = "registry"; }) ];\n'
        "# and a pod of shop names the Secret registry in imagePullSecrets\n",
        bad='externals = [ (kix.untrackedRef { kind = "Secret"; namespace = "shop"; name = "registry"; }) ];\n'
        "# and nothing in shop names it\n",
        language="nix",
    ),
    find=_find,
)
