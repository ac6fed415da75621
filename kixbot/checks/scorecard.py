"""The score: of all rules that apply to an object, how many it keeps; by category and by package.

A pair of one rule and one object counts once, however many places of the object break the rule. Infos and suppressed
findings break nothing. A rule to which no object of the build applies is not counted as kept, but listed apart.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from kixbot.checks.base import Check
from kixbot.checks.context import Context, package_of
from kixbot.model.finding import Finding, Score, Scores, Severity
from kixbot.model.resource import Ref, Resource

SCORED = ("security", "reliability", "governance")
_LOOSE = "(no package)"


def scores(context: Context, checks: Sequence[Check], findings: Iterable[Finding]) -> Scores:
    """The scores of a build whose `findings` neither infos nor what is suppressed count in."""
    broken = {(one.rule, one.ref) for one in findings if one.severity is not Severity.INFO}
    categories: defaultdict[str, list[bool]] = defaultdict(list)
    packages: defaultdict[tuple[str, str], list[bool]] = defaultdict(list)
    idle = []
    for check in checks:
        if check.category not in SCORED or not check.on:
            continue
        subjects = list(_subjects(context, check))
        if not subjects:
            idle.append(check.id)
        for subject in subjects:
            kept = (check.id, subject.ref) not in broken
            categories[check.category].append(kept)
            packages[package_of(subject) or _LOOSE, check.category].append(kept)
    named = sorted({package for package, _ in packages})
    return Scores(
        categories={one: _score(categories[one]) for one in SCORED},
        packages={name: {one: _score(packages[name, one]) for one in SCORED} for name in named},
        not_applicable=tuple(sorted(idle)),
    )


def _subjects(context: Context, check: Check) -> Iterator[Resource]:
    """The objects a rule may speak of, each once."""
    seen = set[Ref]()
    for kind in check.on:
        found = (pods.resource for pods in context.pods if not pods.is_opaque) if kind == "pods" else _of(context, kind)
        for resource in found:
            if resource.ref not in seen:
                seen.add(resource.ref)
                yield resource


def _of(context: Context, kind: str) -> Iterator[Resource]:
    return (resource for resource in context.resources if resource.ref.kind_group == kind)


def _score(kept: Sequence[bool]) -> Score:
    return Score(kept=sum(kept), total=len(kept))
