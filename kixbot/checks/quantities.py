"""Kubernetes quantities: which texts are one, what they amount to, and where they stand.

Grammar: `k8s.io/apimachinery/pkg/api/resource`, a decimal number with a binary (Ki … Ei), decimal (n, u, m, k … E)
or exponent (e3, E3) suffix.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from kixbot.checks.context import Context
from kixbot.checks.pods import Pods
from kixbot.checks.shape import at, keyed, mapping
from kixbot.model.path import member
from kixbot.model.resource import Resource

_QUANTITY = re.compile(
    r"(?P<number>[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))(?:(?P<suffix>[KMGTPE]i|[numkMGTPE])|[eE](?P<exponent>[+-]?[0-9]+))?"
)
_LONGEST = 64  # characters; more is no amount of anything, and exponents stay small
_BINARY = {suffix: Decimal(1024) ** (at + 1) for at, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"))}
_DECIMAL = {suffix: Decimal(1000) ** (at - 3) for at, suffix in enumerate(("n", "u", "m", "", *"kMGTPE"))}
FACTORS: Mapping[str, Decimal] = _BINARY | _DECIMAL


@dataclass(frozen=True, slots=True, kw_only=True)
class Amount:
    """A quantity read: its value in the base unit, and the suffix as written (empty for exponents too)."""

    value: Decimal
    suffix: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One field that holds a quantity. `unit` is the resource counted (`cpu`, `memory`), empty where unknown."""

    resource: Resource
    path: str
    unit: str
    value: object


def find_amount(value: object) -> Amount | None:
    """What a quantity amounts to, None where the value is none. Numbers count as their decimal text."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    text = str(value)
    found = _QUANTITY.fullmatch(text) if len(text) <= _LONGEST else None
    if found is None or len(found["exponent"] or "") > 3:
        return None
    suffix = found["suffix"] or ""
    number = Decimal(found["number"]) * FACTORS[suffix]
    return Amount(value=number.scaleb(int(found["exponent"] or 0)), suffix=suffix)


def places(context: Context) -> Iterator[Place]:
    """Every field of built-in kinds that holds a quantity."""
    for pods in context.pods:
        yield from _of_pods(pods)
    for claim in context.of_kind("PersistentVolumeClaim"):
        yield from _resources(claim, "$.spec", mapping(claim.manifest.get("spec")))
    for workload in context.of_kind("StatefulSet", "apps"):
        for path, body in keyed("$.spec", mapping(workload.manifest.get("spec")), "volumeClaimTemplates"):
            yield from _resources(workload, f"{path}.spec", at(body, "spec"))
    for volume in context.of_kind("PersistentVolume"):
        yield from _amounts(volume, "$.spec.capacity", at(volume.manifest, "spec", "capacity"))
    for quota in context.of_kind("ResourceQuota"):
        yield from _amounts(quota, "$.spec.hard", at(quota.manifest, "spec", "hard"))
    for limits in context.of_kind("LimitRange"):
        for path, body in keyed("$.spec", mapping(limits.manifest.get("spec")), "limits"):
            for field in ("default", "defaultRequest", "max", "min"):
                yield from _amounts(limits, f"{path}.{field}", mapping(body.get(field)))
            for place in _amounts(limits, f"{path}.maxLimitRequestRatio", at(body, "maxLimitRequestRatio")):
                yield replace(place, unit="")  # a ratio counts nothing


def _of_pods(pods: Pods) -> Iterator[Place]:
    yield from _resources(pods.resource, pods.spec_path, pods.spec)
    for container in pods.containers:
        yield from _resources(pods.resource, container.path, container.body)
    for path, volume in keyed(pods.spec_path, pods.spec, "volumes"):
        size = at(volume, "emptyDir").get("sizeLimit")
        if size is not None:
            yield Place(resource=pods.resource, path=f"{path}.emptyDir.sizeLimit", unit="storage", value=size)
        claim = at(volume, "ephemeral", "volumeClaimTemplate", "spec")
        yield from _resources(pods.resource, f"{path}.ephemeral.volumeClaimTemplate.spec", claim)


def _resources(resource: Resource, path: str, owner: Mapping[str, Any]) -> Iterator[Place]:
    for field in ("requests", "limits"):
        yield from _amounts(resource, f"{path}.resources.{field}", at(owner, "resources", field))


def _amounts(resource: Resource, path: str, amounts: Mapping[str, Any]) -> Iterator[Place]:
    for name, value in amounts.items():
        unit = name.removeprefix("requests.").removeprefix("limits.")
        yield Place(resource=resource, path=member(path, name), unit=unit, value=value)
