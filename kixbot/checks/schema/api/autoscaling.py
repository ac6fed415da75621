"""Autoscalers and disruption budgets."""

from collections.abc import Iterator
from typing import Any

from kixbot.checks.quantities import find_amount
from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.resources import resource_names
from kixbot.checks.schema.api.rule import (
    POSITIVE,
    Judges,
    between,
    conflict,
    named,
    needs,
    one_of,
    segments,
    table,
)
from kixbot.checks.schema.api.workloads import at_most_all
from kixbot.checks.schema.faults import dotted, missing, not_allowed
from kixbot.checks.schema.node import Fault, Judge, Raw
from kixbot.checks.shape import mapping


def _described(value: Any, at: Raw) -> Iterator[Fault]:
    if isinstance(version := value.get("apiVersion"), str) and version.count("/") > 1:
        yield conflict(
            (*at, "apiVersion"), f"has an apiVersion in {dotted(at)} that is not GROUP/VERSION", "write apps/v1"
        )
    yield from segments(value, at, "kind", "name")


def _scaled(value: Any, at: Raw) -> Iterator[Fault]:
    """The target of an autoscaler; only ReplicationControllers have no API group."""
    yield from needs("kind", "name")(value, at)
    version = value.get("apiVersion") or ""
    yield from segments(value, at, "kind", "name")
    group, slash, rest = version.partition("/")
    if slash and (not group or not rest or "/" in rest):
        yield conflict(
            (*at, "apiVersion"), f"has an apiVersion in {dotted(at)} that is not GROUP/VERSION", "write apps/v1"
        )
    elif "/" not in version and value.get("kind") != "ReplicationController":
        yield missing("apiVersion with a group", at)


def _autoscaler(value: Any, at: Raw) -> Iterator[Fault]:
    low, high = value.get("minReplicas"), value.get("maxReplicas")
    if isinstance(low, int) and isinstance(high, int) and low > high > 0:
        yield conflict(
            (*at, "maxReplicas"), f"has minReplicas {low} above maxReplicas {high} in {dotted(at)}", "raise it"
        )


_METRICS = {
    "Object": "object", "Pods": "pods", "Resource": "resource", "ContainerResource": "containerResource",
    "External": "external",
}  # fmt: skip


def _metric(value: Any, at: Raw) -> Iterator[Fault]:
    kind = value.get("type")
    if isinstance(kind, str) and kind not in _METRICS:
        yield not_allowed(kind, tuple(_METRICS), (*at, "type"))
        return
    there = [field for field in _METRICS.values() if value.get(field) is not None]
    if kind in _METRICS and there != [_METRICS[kind]]:
        yield conflict(
            at, f"has the type {kind} and {' and '.join(there) or 'nothing'} in {dotted(at)}", f"write {_METRICS[kind]}"
        )


def _target(*kinds: str) -> Judge:
    """The target of a metric: one number, of a kind that the metric can be compared with."""

    def judge(value: Any, at: Raw) -> Iterator[Fault]:
        target = mapping(value.get("target"))
        where = (*at, "target")
        fields = ("value", "averageValue", "averageUtilization")
        if isinstance(kind := target.get("type"), str) and kind not in {"Utilization", "Value", "AverageValue"}:
            yield not_allowed(kind, ("Utilization", "Value", "AverageValue"), (*where, "type"))
        usable = [field for field in fields if field in kinds]
        if target and not any(target.get(field) is not None for field in usable):
            yield missing(" or ".join(usable), where)
        elif len(there := [field for field in usable if target.get(field) is not None]) > 1:
            yield conflict(where, f"has {' and '.join(there)} in {dotted(where)}", f"keep {there[0]}")

    return judge


def _resource(value: Any, at: Raw) -> Iterator[Fault]:
    if isinstance(value, str) and value:
        yield from resource_names({value: None}, at[:-1])


def _positive(value: Any, at: Raw) -> Iterator[Fault]:
    found = find_amount(value)
    if found is not None and found.value <= 0:
        yield Fault(
            rule="api/range",
            at=at,
            text=f"has {value} in {dotted(at)}, which must be more than 0",
            hint="write more than 0",
        )


def _policies(value: Any, at: Raw) -> Iterator[Fault]:
    if value.get("policies") == []:
        yield missing("policies", at)


def _disruption(value: Any, at: Raw) -> Iterator[Fault]:
    if value.get("minAvailable") is not None and value.get("maxUnavailable") is not None:
        yield conflict(at, f"has minAvailable and maxUnavailable in {dotted(at)}", "keep one of them")


JUDGES: Judges = table(
    {
        "autoscaling.v2.HorizontalPodAutoscalerSpec": {
            "": _autoscaler,
            "scaleTargetRef": _scaled,
            "minReplicas": POSITIVE,
            "maxReplicas": POSITIVE,
        },
        "autoscaling.v1.HorizontalPodAutoscalerSpec": {
            "": _autoscaler,
            "scaleTargetRef": _scaled,
            "minReplicas": POSITIVE,
            "maxReplicas": POSITIVE,
            "targetCPUUtilizationPercentage": POSITIVE,
        },
        "autoscaling.v1.CrossVersionObjectReference": {"": needs("kind", "name")},
        "autoscaling.v2.CrossVersionObjectReference": {"": (needs("kind", "name"), _described)},
        "autoscaling.v2.MetricSpec": {"": _metric},
        "autoscaling.v2.MetricIdentifier": {"": needs("name"), "name": named(names.path_segment)},
        "autoscaling.v2.ResourceMetricSource": {
            "": (needs("name"), _target("averageUtilization", "averageValue")),
        },
        "autoscaling.v2.ContainerResourceMetricSource": {
            "name": _resource,
            "container": named(names.dns_label),
            "": (needs("name", "container"), _target("averageUtilization", "averageValue")),
        },
        "autoscaling.v2.PodsMetricSource": {"": _target("averageValue")},
        "autoscaling.v2.ObjectMetricSource": {"": _target("value", "averageValue")},
        "autoscaling.v2.ExternalMetricSource": {"": _target("value", "averageValue")},
        "autoscaling.v2.MetricTarget": {"averageUtilization": POSITIVE, "value": _positive, "averageValue": _positive},
        "autoscaling.v2.HPAScalingRules": {
            "": _policies,
            "selectPolicy": one_of("Max", "Min", "Disabled"),
            "stabilizationWindowSeconds": between(0, 3600),
        },
        "autoscaling.v2.HPAScalingPolicy": {
            "type": one_of("Pods", "Percent"),
            "value": POSITIVE,
            "periodSeconds": between(1, 1800),
        },
        "policy.v1.PodDisruptionBudgetSpec": {
            "": _disruption,
            "minAvailable": at_most_all,
            "maxUnavailable": at_most_all,
        },
    }
)
