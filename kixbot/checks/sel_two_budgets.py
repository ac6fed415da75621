"""sel/two-budgets: pods that two PodDisruptionBudgets select."""

from collections import defaultdict
from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import at
from kixbot.model.finding import Related, Severity
from kixbot.model.resource import Ref, Resource


def _find(context: Context) -> Iterator[Hit]:
    budgets: defaultdict[Ref, list[Resource]] = defaultdict(list)
    for budget in context.of_kind("PodDisruptionBudget", "policy"):
        for pods in context.selected(budget.ref.namespace, at(budget.manifest, "spec").get("selector")):
            budgets[pods.resource.ref].append(budget)
    for ref, found in budgets.items():
        if len(found) > 1:
            yield Hit(
                resource=context.by_ref[ref],
                message=f"pods of {ref.plain} are in {len(found)} PodDisruptionBudgets: "
                f"{', '.join(one.ref.name for one in found)}; none of them can be evicted",
                hint="keep one budget, or make the selectors of the others narrower",
                related=tuple(
                    Related(ref=one.ref, note="selects them", location=one.place("$.spec.selector")) for one in found
                ),
            )


_EXAMPLE = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: web, namespace: shop}}
spec: {{maxUnavailable: 1, selector: {{matchLabels: {{app: web}}}}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: shop, namespace: shop}}
spec: {{maxUnavailable: 1, selector: {{matchLabels: {{team: {team}}}}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web, team: shop}}}}
    spec: {{containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]}}
"""

CHECK = Check(
    id="sel/two-budgets",
    severity=Severity.ERROR,
    title="pods are selected by two PodDisruptionBudgets",
    rationale=(
        "The eviction API does not support more than one budget for a pod: every eviction of it ends in an error, and "
        "no drain of its node comes to an end."
    ),
    example=Example(good=_EXAMPLE.format(team="base"), bad=_EXAMPLE.format(team="shop")),
    find=_find,
)
