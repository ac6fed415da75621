"""What all rules about missing objects share: from the references of a build to hits, with the nearest name."""

from collections import defaultdict
from collections.abc import Callable, Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.model.build import DanglingReference
from kixbot.model.finding import Related, Severity
from kixbot.model.resource import Ref

_MOST_NAMES = 5  # that a hint lists


def rule(
    rule_id: str, *, kinds: frozenset[str] | None, title: str, rationale: str, example: Example, others: frozenset[str]
) -> Check:
    """A rule about references to objects of `kinds`; None: of every kind but `others`."""

    def speaks_of(ref: Ref) -> bool:
        return ref.kind in kinds if kinds is not None else ref.kind not in others

    return Check(
        id=rule_id,
        severity=Severity.ERROR,
        title=title,
        rationale=rationale,
        example=example,
        find=lambda context: _hits(context, speaks_of),
    )


def required(context: Context, speaks_of: Callable[[Ref], bool]) -> Iterator[DanglingReference]:
    """The references to missing objects that a rule speaks of, without optional ones."""
    for dangling in context.build.dangling:
        if not dangling.optional and speaks_of(dangling.target):
            yield dangling


def _hits(context: Context, speaks_of: Callable[[Ref], bool]) -> Iterator[Hit]:
    """One hit for an object and what it misses; further fields that name the same are related places."""
    fields: defaultdict[tuple[Ref, Ref], list[str]] = defaultdict(list)
    for dangling in required(context, speaks_of):
        fields[dangling.source, dangling.target].append(dangling.path)
    for (source, target), paths in fields.items():
        resource = context.by_ref.get(source)
        if resource is not None:
            first, *further = sorted(paths)
            yield Hit(
                resource=resource,
                path=first,
                message=f"{source.plain} refers to {named(target)}, which no resource in this cluster creates",
                hint=hint_for(context, target),
                cause=f"missing {target.id}",
                related=tuple(
                    Related(ref=source, note=f"also {path}", location=resource.place(path)) for path in further
                ),
            )


def named(ref: Ref) -> str:
    """`Secret shop/db`, the group added for kinds that are not built in."""
    where = f"{ref.namespace}/" if ref.namespace else ""
    return f"{ref.kind_group} {where}{ref.name}"


def hint_for(context: Context, target: Ref) -> str:
    """The nearest name that exists; else where else the name exists; else how to declare it."""
    names = context.names_of(target)
    if near := context.likeness.nearest(target.name, names):
        return f'did you mean "{near}"?'
    if elsewhere := context.namespaces_with(target):
        return f"{target.kind} {target.name} exists in namespace {elsewhere[0]}; it cannot be used from another one"
    declare = f"add {target.kind} {target.name}, or declare it as external with an import or kix.untrackedRef"
    if 0 < len(names) <= _MOST_NAMES:
        return f"{declare}; there are {', '.join(names)}"
    return declare
