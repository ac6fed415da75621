"""rel/no-budget: replicas that a drain may take away all at once."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import at
from kixbot.model.finding import Severity

_KINDS = frozenset({"Deployment", "StatefulSet", "Rollout"})


def _find(context: Context) -> Iterator[Hit]:
    covered = {
        pods.resource.ref
        for budget in context.of_kind("PodDisruptionBudget", "policy")
        for pods in context.selected(budget.ref.namespace, at(budget.manifest, "spec").get("selector"))
    }
    for pods in context.pods:
        workload = pods.resource
        least = context.least_replicas(workload)
        if workload.ref.kind in _KINDS and least is not None and least > 1 and workload.ref not in covered:
            yield Hit(
                resource=workload,
                path="$.spec.replicas",
                message=f"{workload.ref.plain} runs {least} replicas, and no PodDisruptionBudget keeps any of them",
                hint="add a PodDisruptionBudget with maxUnavailable: 1 and the labels of its pods",
                severity=Severity.INFO if pods.is_spread else None,
            )


_WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "ghcr.io/acme/web:1.5.0"}]}
"""
_BUDGET = """\
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: web}}}
"""

CHECK = Check(
    id="rel/no-budget",
    severity=Severity.WARNING,
    title="several replicas without a PodDisruptionBudget",
    rationale=(
        "When nodes are drained for an upgrade, nothing keeps all replicas from being evicted at the same time. A "
        "budget makes the drain wait until others are ready. Where the pods are spread over nodes or zones, one node "
        "takes few of them along, and it is an info."
    ),
    example=Example(good=_WORKLOAD + _BUDGET, bad=_WORKLOAD),
    find=_find,
    on=("Deployment", "StatefulSet"),
)
