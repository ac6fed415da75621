"""Drift as plain lines, a section of a plan or a report of its own. The caller escapes them."""

from collections.abc import Callable, Iterator
from typing import assert_never

from kixbot.model.drift import Drift, FieldDrift, Known, Order, ResourceDrift, Shown, Unknown
from kixbot.model.resource import Ref
from kixbot.output.plan_values import CHANGED, SECRET, compact, count, cut

_STATES = {
    "deleted": "deleted; will be created",
    "replaced": "deleted and made anew outside kix",
    "disowned": "kix holds no field of it any more",
}
Name = Callable[[Ref], str]


def section(drift: Drift, name: Name) -> Iterator[str]:
    """`Drift: 1 resource changed outside kix` and the resources with their fields; nothing where there is none."""
    if drift.resources:
        yield f"Drift: {count(len(drift.resources), 'resource')} changed outside kix"
        for resource in drift.resources:
            yield from _resource(resource, name, "!")


def additions(drift: Drift, name: Name) -> Iterator[str]:
    """Fields that people added by hand, apart: kix neither made them nor removes them."""
    if drift.additions:
        yield f"Added by hand: fields of {count(len(drift.additions), 'resource')} that kix does not hold"
        for resource in drift.additions:
            yield from _resource(resource, name, "+")


def state(resource: ResourceDrift) -> str:
    """What happened to the object as a whole, "" when only fields changed."""
    return _STATES.get(resource.state, "")


def _resource(resource: ResourceDrift, name: Name, sign: str) -> Iterator[str]:
    whole = state(resource)
    yield f"  {sign} {name(resource.ref)}{f' ({whole})' if whole else ''}"
    for field in resource.fields:
        yield f"      {sign} {field.path}:"
        if field.kind != "added":
            yield f"          applied: {_shown(field.applied)}"
        yield f"          live: {_live(field)}"


def _live(field: FieldDrift) -> str:
    match field.kind:
        case "removed":
            return "removed; manager not recorded"
        case "reordered":
            return f"{_shown(field.live)} (manager not recorded)"
        case "ownership":
            return f"{_value(field)} ({who(field)}), the same value; kix does not hold it any more"
        case "changed" | "added":
            return f"{_value(field)} ({who(field)})"
        case _:
            assert_never(field.kind)


def _value(field: FieldDrift) -> str:
    return CHANGED if field.live is Unknown.SECRET and field.kind == "changed" else _shown(field.live)


def who(field: FieldDrift) -> str:
    """`kubectl, scale, 2026-09-09T10:47:00Z`."""
    told = ", ".join(part for part in (field.manager, field.subresource, field.time) if part)
    return told or "manager not recorded"


def _shown(shown: Shown) -> str:
    match shown:
        case Known(value=value):
            return compact(value)
        case Order(keys=keys):
            return cut(f"order [{','.join(keys)}]")
        case Unknown.SECRET:
            return SECRET
        case Unknown():
            return str(shown.value)
        case _:
            assert_never(shown)


def report(cluster: str, activation: str | None, drift: Drift, name: Name) -> list[str]:
    """What `kix drift` prints."""
    blocks = [list(section(drift, name)), list(additions(drift, name))]
    as_is = f"cluster {cluster} is as {activation} was applied"
    clean = f"Drift: none; {as_is if activation else f'nothing was deployed to cluster {cluster} yet'}"
    lines: list[str] = []
    for block in ([] if drift.resources else [clean], *blocks):
        lines += ["", *block] if block and lines else block
    return lines
