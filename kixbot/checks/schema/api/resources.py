"""Requests, limits and amounts."""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.checks.quantities import find_amount
from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.rule import (
    Judges,
    table,
)
from kixbot.checks.schema.faults import RESOURCES, dotted, shown_key
from kixbot.checks.schema.node import Fault, Raw
from kixbot.checks.schema.values import shown
from kixbot.checks.shape import mapping

_STANDARD = frozenset({"cpu", "memory", "ephemeral-storage"})


_DIVISORS: Mapping[str, frozenset[str]] = {
    "cpu": frozenset({"1m", "1"}),
    "memory": frozenset({"1", "1k", "1M", "1G", "1T", "1P", "1E", "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"}),
}


def _divisor(value: Any, at: Raw) -> Iterator[Fault]:
    """Resources are shown in whole units: cores or thousandths of them, bytes or a power of them."""
    name = str(value.get("resource")).partition(".")[2]
    divisor = value.get("divisor")
    known = _DIVISORS["cpu" if name == "cpu" else "memory"]
    found = find_amount(divisor)
    if (
        found is not None
        and found.value != 0
        and found.value not in {one.value for one in map(find_amount, known) if one}
    ):
        yield Fault(
            rule=RESOURCES,
            at=(*at, "divisor"),
            text=f"has the divisor {divisor} for {name} in {dotted(at)}",
            hint=f"write one of {', '.join(sorted(known))}",
        )


def resource_field(value: Any, at: Raw) -> Iterator[Fault]:
    resource = value.get("resource") if isinstance(value, dict) else None
    if isinstance(resource, str) and resource:
        kind, _, name = resource.partition(".")
        if kind not in {"limits", "requests"} or not (name in _STANDARD or name.startswith("hugepages-")):
            yield Fault(
                rule="api/format",
                at=(*at, "resource"),
                text=f"has {shown(resource)} in {dotted(at)}.resource, which is no resource of a container",
                hint="write limits.cpu, requests.memory or the like",
            )
        else:
            yield from _divisor(value, at)


def amount(value: Any, at: Raw) -> Iterator[Fault]:
    """An amount that is not below 0."""
    found = find_amount(value)
    if found is not None and found.value < 0:
        yield Fault(rule=RESOURCES, at=at, text=f"has less than 0 in {dotted(at)}", hint="write 0 or more")


def resources(value: Any, at: Raw) -> Iterator[Fault]:
    """Requests and limits: known names, no more requested than the limit."""
    requests, limits = mapping(value.get("requests")), mapping(value.get("limits"))
    for field, amounts in (("requests", requests), ("limits", limits)):
        yield from resource_names(amounts, (*at, field))
    for name, amount in requests.items():
        asked, limit = find_amount(amount), find_amount(limits.get(name))
        if asked is not None and limit is not None and asked.value > limit.value:
            yield Fault(
                rule=RESOURCES,
                at=(*at, "requests", name),
                text=f"requests {amount} of {name}, more than its limit {limits[name]}, in {dotted(at)}",
                hint="raise the limit or lower the request",
            )
        elif asked is not None and _whole_only(name) and (limit is None or asked.value != limit.value):
            yield Fault(
                rule=RESOURCES,
                at=(*at, "requests", name),
                text=f"requests {amount} of {name}, which cannot be shared, with another limit in {dotted(at)}",
                hint=f"set limits.{name} to {amount}",
            )
    for field, amounts in (("requests", requests), ("limits", limits)):
        yield from _whole(amounts, (*at, field))


def resource_names(value: Any, at: Raw) -> Iterator[Fault]:
    """Amounts under names that pods can ask for."""
    for name in value:
        if problem := _resource_name(name):
            yield Fault(
                rule=RESOURCES,
                at=(*at, name),
                text=f'has the resource "{shown_key(name)}" in {dotted(at)}, which {problem}',
                hint="write cpu, memory, ephemeral-storage, or a name with a domain such as example.org/gpu",
            )


def _whole(amounts: Mapping[str, Any], at: Raw) -> Iterator[Fault]:
    for name, amount in amounts.items():
        found = find_amount(amount)
        if found is None:
            continue
        if found.value < 0:
            yield Fault(
                rule=RESOURCES,
                at=(*at, name),
                text=f"has less than 0 of {name} in {dotted(at)}",
                hint="write 0 or more",
            )
        elif _extended(name) and found.value != found.value.to_integral_value():
            yield Fault(
                rule=RESOURCES,
                at=(*at, name),
                text=f"has {amount} of {name}, which comes in whole numbers only, in {dotted(at)}",
                hint="write a whole number",
            )


def _resource_name(name: str) -> str | None:
    if problem := names.qualified(name):
        return problem
    if "/" in name or name in _STANDARD or name.startswith("hugepages-"):
        return None
    return "is neither a standard resource nor one with a domain"


def _whole_only(name: str) -> bool:
    """Whether requests and limits must be equal: what cannot be shared."""
    return _extended(name) or name.startswith("hugepages-")


def _extended(name: str) -> bool:
    return "/" in name and not name.partition("/")[0].endswith("kubernetes.io")


JUDGES: Judges = table(
    {
        "core.v1.Container": {"resources": resources},
        "core.v1.PodSpec": {"resources": resources},
    }
)
