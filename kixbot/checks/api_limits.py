"""api/limit-range and api/quota: pods that the limits of their own namespace refuse."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from decimal import Decimal
from typing import Any

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.pods import Container, Pods
from kixbot.checks.quantities import find_amount
from kixbot.checks.shape import at, mappings
from kixbot.model.finding import Related, Severity
from kixbot.model.resource import Resource

Amounts = dict[str, Decimal]
_BARE = {"cpu": "requests.cpu", "memory": "requests.memory", "ephemeral-storage": "requests.ephemeral-storage"}
_UNITS = ("cpu", "memory", "ephemeral-storage")


def _amounts(body: Mapping[str, Any], field: str) -> Amounts:
    found = ((unit, find_amount(value)) for unit, value in at(body, field).items())
    return {unit: amount.value for unit, amount in found if amount is not None}


def _effective(container: Container, limits: tuple[Resource, ...]) -> tuple[Amounts, Amounts]:
    """Requests and limits after the defaults of LimitRanges; a limit is a request where there is none."""
    own = at(container.body, "resources")
    requests, most = _amounts(own, "requests"), _amounts(own, "limits")
    for entry in (entry for one in limits for entry in _entries(one) if entry.get("type") == "Container"):
        default = _amounts(entry, "default") or _amounts(entry, "max")
        most = {**default, **most}
        requests = {**_amounts(entry, "defaultRequest"), **requests}
    return {**most, **requests}, most


def _entries(limits: Resource) -> tuple[Mapping[str, Any], ...]:
    return mappings(at(limits.manifest, "spec").get("limits"))


def _ranges(context: Context, namespace: str) -> tuple[Resource, ...]:
    return context.in_namespace(namespace, "LimitRange")


def _find_range(context: Context) -> Iterator[Hit]:
    for limits in context.of_kind("LimitRange"):
        for entry in _entries(limits):
            if entry.get("type") == "Container":
                least, most = _amounts(entry, "min"), _amounts(entry, "max")
                for pods in context.pods_in(limits.ref.namespace):
                    for container in pods.containers:
                        for fact in _outside(container, least, most):
                            yield Hit(
                                resource=pods.resource,
                                path=f"{container.path}.resources",
                                message=f"{pods.resource.ref.plain} container '{container.name}' {fact} of "
                                f"{limits.ref.plain}",
                                hint="keep to the limits of the namespace, or change them",
                                related=(Related(ref=limits.ref, note="limits", location=limits.place("$.spec")),),
                            )


def _outside(container: Container, least: Amounts, most: Amounts) -> Iterator[str]:
    own = at(container.body, "resources")
    for field in ("requests", "limits"):
        for unit, value in _amounts(own, field).items():
            shown = at(own, field)[unit]
            if unit in most and value > most[unit]:
                yield f"has {field}.{unit} {shown}, above the most"
            elif unit in least and value < least[unit]:
                yield f"has {field}.{unit} {shown}, below the least"


def _find_quota(context: Context) -> Iterator[Hit]:
    for quota in context.of_kind("ResourceQuota"):
        spec = at(quota.manifest, "spec")
        if spec.get("scopes") or spec.get("scopeSelector"):
            continue  # counts some pods only
        hard = {_BARE.get(name, name): (name, find_amount(value)) for name, value in at(spec, "hard").items()}
        ranges = _ranges(context, quota.ref.namespace)
        used: defaultdict[str, Decimal] = defaultdict(Decimal)
        for pods in context.pods_in(quota.ref.namespace):
            yield from _unset(quota, pods, hard, ranges)
            for name, amount in _asked(pods, ranges).items():
                used[name] += amount * (context.least_replicas(pods.resource) or 0)
        for name, (written, allowed) in hard.items():
            if allowed is not None and used[name] > allowed.value:
                yield Hit(
                    resource=quota,
                    path=f'$.spec.hard."{written}"' if "." in written else f"$.spec.hard.{written}",
                    message=f"the workloads of namespace {quota.ref.namespace} ask for {_shown(used[name])} of "
                    f"{written}, and {quota.ref.plain} allows {at(spec, 'hard')[written]}",
                    hint="raise the quota, or ask for less",
                )


def _unset(quota: Resource, pods: Pods, hard: Mapping[str, Any], ranges: tuple[Resource, ...]) -> Iterator[Hit]:
    """A quota of an amount makes every container say it."""
    wanted = [name for name in hard if name.partition(".")[0] in {"requests", "limits"}]
    wanted = [name for name in wanted if name.partition(".")[2] in _UNITS]
    for container in pods.containers if not pods.is_opaque else ():
        if container.role == "ephemeralContainers":
            continue
        requests, limits = _effective(container, ranges)
        lacking = [name for name in wanted if name.partition(".")[2] not in (requests if name[0] == "r" else limits)]
        if lacking:
            yield Hit(
                resource=pods.resource,
                path=f"{container.path}.resources",
                message=f"{pods.resource.ref.plain} container '{container.name}' does not set {', '.join(lacking)}, "
                f"which {quota.ref.plain} counts; its pods are refused",
                hint="set them, or give the namespace a LimitRange with defaults",
                related=(Related(ref=quota.ref, note="counts them", location=quota.place("$.spec.hard")),),
            )


def _asked(pods: Pods, ranges: tuple[Resource, ...]) -> Amounts:
    """What one pod asks for: its lasting containers together. Init containers come before and share it."""
    total: defaultdict[str, Decimal] = defaultdict(Decimal)
    for container in pods.containers:
        if container.lasts:
            for field, amounts in zip(("requests", "limits"), _effective(container, ranges), strict=True):
                for unit, amount in amounts.items():
                    total[f"{field}.{unit}"] += amount
    total["pods"] += 1
    return dict(total)


def _shown(amount: Decimal) -> str:
    for suffix, factor in (("Gi", 2**30), ("Mi", 2**20)):
        if amount >= factor and amount % 2**20 == 0:
            return f"{(amount / factor).normalize():f}{suffix}"
    return f"{amount.normalize():f}"


_LIMITS = """\
apiVersion: v1
kind: LimitRange
metadata: {{name: limits, namespace: shop}}
spec: {{limits: [{{type: Container, max: {{memory: 1Gi}}}}]}}
---
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0", resources: {{limits: {{memory: {memory}}}}}}}]
"""
_QUOTA = """\
apiVersion: v1
kind: ResourceQuota
metadata: {{name: quota, namespace: shop}}
spec: {{hard: {{limits.memory: 4Gi}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0", resources: {resources}}}]
"""

CHECKS: tuple[Check, ...] = (
    Check(
        id="api/limit-range",
        severity=Severity.ERROR,
        title="a container is outside the LimitRange of its namespace",
        rationale="The API server takes the workload and refuses each of its pods; the rollout never begins.",
        example=Example(good=_LIMITS.format(memory="512Mi"), bad=_LIMITS.format(memory="2Gi")),
        find=_find_range,
    ),
    Check(
        id="api/quota",
        severity=Severity.ERROR,
        title="the workloads of a namespace do not fit its ResourceQuota",
        rationale=(
            "A quota of requests or limits makes every container set them, by itself or by the defaults of a "
            "LimitRange; pods without are refused. Counted are the replicas that the build asks for; while a rolling "
            "update runs there are more. Quotas with scopes are left alone."
        ),
        example=Example(good=_QUOTA.format(resources="{limits: {memory: 512Mi}}"), bad=_QUOTA.format(resources="{}")),
        find=_find_quota,
    ),
)
