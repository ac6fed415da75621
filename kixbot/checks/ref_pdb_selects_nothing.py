"""ref/pdb-selects-nothing: a PodDisruptionBudget that protects no pod."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.selectors import shown
from kixbot.checks.shape import at, labels
from kixbot.model.finding import Confidence, Related, Severity


def _find(context: Context) -> Iterator[Hit]:
    for budget in context.of_kind("PodDisruptionBudget", "policy"):
        namespace = budget.ref.namespace
        selector = at(budget.manifest, "spec").get("selector")
        if context.selected(namespace, selector):
            continue
        wanted = labels(at(budget.manifest, "spec", "selector").get("matchLabels"))
        near = context.nearest(namespace, wanted) if wanted else None
        unsure = context.may_be_elsewhere(namespace, wanted)
        yield Hit(
            resource=budget,
            path="$.spec.selector",
            message=f"{budget.ref.plain} selector {shown(selector)} matches no workload pod template in namespace "
            f"{namespace}. Check the selector against the intended workload's pod labels",
            hint=f"{near.shown} comes nearest" if near else "use the labels of spec.template.metadata of the workload",
            related=(Related(ref=near.pods.resource.ref, note="nearest", location=near.place),) if near else (),
            severity=Severity.WARNING if unsure else None,
            confidence=Confidence.HINT if unsure else None,
        )


_EXAMPLE = """\
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: web, namespace: shop}}
spec:
  maxUnavailable: 1
  selector: {{matchLabels: {{app: {app}}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]}}
"""

CHECK = Check(
    id="ref/pdb-selects-nothing",
    severity=Severity.ERROR,
    title="a PodDisruptionBudget selects no pod of the build",
    rationale=(
        "The budget is accepted and does nothing: a node drain then evicts all pods of the workload at once. Every "
        "label of the selector must match, and pods are found by the templates of all workloads in the namespace. "
        "Where a custom resource in the namespace is named in the selector, its operator may make the pods; where "
        "a workload is declared external, they may be there: then this is a warning."
    ),
    example=Example(good=_EXAMPLE.format(app="web"), bad=_EXAMPLE.format(app="wbe")),
    find=_find,
)
