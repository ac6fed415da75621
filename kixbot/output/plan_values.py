"""What text, Markdown and JSON of a plan share: how many, which name, how a value is written."""

import difflib
import json
from collections import Counter
from collections.abc import Iterator
from typing import Any

from kixbot.model.plan import Added, Changed, FieldChange, PackageChange, Plan, Removed, Reordered, SecretChanged
from kixbot.model.resource import Ref

SECRET = "(secret)"  # noqa: S105  it stands for a value and is none
CHANGED = "(changed)"
LONGEST = 200
"""Longer values are cut, with their length."""

_CONTEXT = 3


def refs_of(plan: Plan) -> Iterator[Ref]:
    """Every resource that the plan's text speaks of."""
    for package in plan.packages:
        yield from (change.ref for change in package.resources)
    yield from (conflict.ref for conflict in plan.conflicts)
    yield from (one.ref for one in (*plan.drift.resources, *plan.drift.additions))


def tally(package: PackageChange) -> Counter[str]:
    """How many resources of a package are `changed`, `added`, `removed`, `dep-affected`; adopted ones are changed."""
    return Counter(
        "dep-affected"
        if change.reason == "dependency"
        else change.action
        if change.action in ("added", "removed")
        else "changed"
        for change in package.resources
    )


def parts(package: PackageChange) -> str:
    """`1 changed, 2 dep-affected`, zero parts left out; of an added or removed package `4 resources`."""
    if package.action != "changed":
        return count(len(package.resources), "resource")
    found = tally(package)
    names = ("changed", "added", "removed", "dep-affected")
    return ", ".join(f"{found[name]} {name}" for name in names if found[name])


def plan_line(plan: Plan) -> str:
    """`Plan: 2 updated, 1 added, 0 removed, 9 unchanged`: the packages."""
    actions = Counter(package.action for package in plan.packages)
    numbers = f"{actions['changed']} updated, {actions['added']} added, {actions['removed']} removed"
    return f"Plan: {numbers}, {plan.unchanged} unchanged"


def resources_line(plan: Plan) -> str:
    """How many resources of changed packages change in what is written, and how many only follow a dependency."""
    tallies = [tally(package) for package in plan.packages if package.action == "changed"]
    content = sum(found["changed"] for found in tallies)
    moved = sum(found["dep-affected"] for found in tallies)
    return f"Resources: {content} with real content changes, {moved} dep-affected (hash bump only)"


def count(number: int, one: str) -> str:
    """`1 resource`, `2 resources`."""
    return f"{number} {one}" if number == 1 else f"{number} {one}s"


def compact(value: Any) -> str:
    """A value as compact JSON with sorted keys, cut where it is long."""
    text = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return cut(text)


def cut(text: str) -> str:
    """At most 200 characters of a text, then how many it has."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}… ({len(text)} characters)"


def sides(change: FieldChange) -> list[tuple[str, str]]:
    """The lines below a field's path: `old` and `new` with what to print."""
    match change:
        case Added(new=new):
            return [("new", compact(new))]
        case Removed(old=old):
            return [("old", compact(old))]
        case Changed(old=old, new=new):
            return [("old", compact(old)), ("new", compact(new))]
        case Reordered(old=old, new=new):
            return [("old", cut(f"order [{','.join(old)}]")), ("new", cut(f"order [{','.join(new)}]"))]
        case SecretChanged(action="added"):
            return [("new", SECRET)]
        case SecretChanged(action="removed"):
            return [("old", SECRET)]
    return [("old", SECRET), ("new", CHANGED)]


def hunk(change: FieldChange) -> list[str] | None:
    """Unified hunks of a string of several lines, three lines of context; None for other changes."""
    if not isinstance(change, Changed) or not isinstance(change.old, str) or not isinstance(change.new, str):
        return None
    if "\n" not in change.old and "\n" not in change.new:
        return None
    old, new = change.old.split("\n"), change.new.split("\n")
    if old[-1] == new[-1] == "":
        # Both end with a newline; the empty line after it is none.
        old, new = old[:-1], new[:-1]
    return [cut(line) for line in list(difflib.unified_diff(old, new, lineterm="", n=_CONTEXT))[2:]]


def sign(change: FieldChange) -> str:
    """`+` for a field that comes, `-` for one that goes, `~` for one that changes."""
    match change:
        case Added() | SecretChanged(action="added"):
            return "+"
        case Removed() | SecretChanged(action="removed"):
            return "-"
    return "~"
