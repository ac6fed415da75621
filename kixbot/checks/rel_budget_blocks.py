"""rel/budget-blocks: a PodDisruptionBudget that lets no pod go."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.budgets import find_allowed
from kixbot.checks.context import Context
from kixbot.checks.shape import at
from kixbot.model.finding import Related, Severity


def _find(context: Context) -> Iterator[Hit]:
    for budget in context.of_kind("PodDisruptionBudget", "policy"):
        allowed = find_allowed(context, budget)
        if allowed is None or allowed.healthy < allowed.expected:
            continue
        never = allowed.healthy > allowed.expected
        pods = "1 pod" if allowed.expected == 1 else f"{allowed.expected} pods"
        value = at(budget.manifest, "spec")[allowed.field]
        yield Hit(
            resource=budget,
            path=f"$.spec.{allowed.field}",
            message=f"{budget.ref.plain} has {allowed.field} {value} for {pods}: it "
            + ("can never be met" if never else "lets none of them be evicted"),
            hint="use maxUnavailable: 1, or run more replicas",
            related=tuple(
                Related(ref=one.resource.ref, note="its pods", location=one.resource.place("$.spec.replicas"))
                for one in context.selected(budget.ref.namespace, at(budget.manifest, "spec").get("selector"))
            ),
            severity=Severity.ERROR if never else None,
        )


_EXAMPLE = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: web, namespace: shop}}
spec:
  {rule}
  selector: {{matchLabels: {{app: web}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  replicas: 2
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]}}
"""

CHECK = Check(
    id="rel/budget-blocks",
    severity=Severity.WARNING,
    title="a PodDisruptionBudget lets no pod be evicted",
    rationale=(
        "A node with such a pod cannot be drained: upgrades of the cluster wait until somebody deletes the pod by "
        "hand. Counted are the replicas, or the least of an autoscaler; percentages are rounded up, as the API does. "
        "A budget that asks for more pods than there are is an error."
    ),
    example=Example(good=_EXAMPLE.format(rule="minAvailable: 1"), bad=_EXAMPLE.format(rule="minAvailable: 60%")),
    find=_find,
    on=("PodDisruptionBudget",),
)
