"""A plan as plain lines: what changes, grouped by package. Every line is safe on a terminal.

Waves, conflicts and what else a deploy would do are `deploy_text`'s.
"""

from collections import Counter
from collections.abc import Callable, Iterator
from itertools import groupby

from kixbot.model.plan import FieldChange, PackageChange, Plan, ResourceChange
from kixbot.model.resource import Ref
from kixbot.output import drift_text
from kixbot.output.plan_values import count, hunk, parts, refs_of, sides, sign
from kixbot.output.ref_names import short_names
from kixbot.output.terminal import escape

_SIGNS = {"added": "+", "removed": "-"}
_Name = Callable[[Ref], str]


def text(plan: Plan) -> str:
    """What `kix diff` prints: packages, their changed resources and fields, drift, the activation."""
    name = short_names(refs_of(plan))
    blocks = [
        [_headline(plan)],
        list(_packages(plan, name)),
        list(drift_text.section(plan.drift, name)),
        list(drift_text.additions(plan.drift, name)),
        [activation_line(plan)],
    ]
    return "\n\n".join("\n".join(map(escape, block)) for block in blocks if block) + "\n"


def activation_line(plan: Plan) -> str:
    """`Activation: A -> B`, and what it means when both are equal."""
    old, new = plan.old_activation, plan.new_activation
    if old != new or new is None:
        return f"Activation: {old or '(none)'} -> {new or '(none)'}"
    if plan.same_name_secrets:
        return f"Activation: {new} (unchanged name: only Secret values differ)"
    return f"Activation: {new} (unchanged name)" if plan.packages else f"Activation: {new} (unchanged)"


def resource_lines(change: ResourceChange, name: _Name) -> Iterator[str]:
    """One resource with its fields, from column 0."""
    yield f"{_SIGNS.get(change.action, '~')} {name(change.ref)}{_remark(change)}"
    for field in change.changes:
        yield from (f"    {line}" for line in field_lines(field))


def field_lines(change: FieldChange) -> Iterator[str]:
    """One field, from column 0: its path, then old and new, or hunks for a string of several lines."""
    yield f"{sign(change)} {change.path}:"
    lines = hunk(change)
    if lines is None:
        lines = [f"{side}: {text}" for side, text in sides(change)]
    yield from (f"    {line}" for line in lines)


def _headline(plan: Plan) -> str:
    actions = Counter(package.action for package in plan.packages)
    total = count(plan.unchanged + len(plan.packages), "package")
    rest = ", ".join(f"{actions[action]} {action}" for action in ("changed", "added", "removed"))
    return f"{total}: {plan.unchanged} unchanged, {rest}"


def _packages(plan: Plan, name: _Name) -> Iterator[str]:
    for namespace, packages in groupby(plan.packages, key=lambda package: package.namespace):
        yield namespace
        for package in packages:
            yield f"  {_SIGNS.get(package.action, '~')} {package.name}{version(package, '->')} ({parts(package)})"
            if package.action == "changed":
                for change in package.resources:
                    yield from (f"      {line}" for line in resource_lines(change, name))


def version(package: PackageChange, arrow: str) -> str:
    """` 1.4.2 -> 1.5.0`, or the one version there is, or nothing."""
    old, new = package.old_version, package.new_version
    if old and new and old != new:
        return f" {old} {arrow} {new}"
    return f" {new or old}" if new or old else ""


def _remark(change: ResourceChange) -> str:
    if change.reason == "dependency":
        return " (via dependency)"
    remarks: list[str] = [change.action] if change.action in ("adopted", "recreated") else []
    if not change.simulated:
        remarks.append("not simulated")
    told = ", ".join(remarks)
    if change.note:
        told = f"{told}: {change.note}" if told else change.note
    return f" ({told})" if told else ""
