"""sel/overlapping-selectors: two workloads that take each other's pods for their own."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.pods import Pods
from kixbot.checks.selectors import compact, shown
from kixbot.checks.shape import at
from kixbot.graph.selectors import matches
from kixbot.model.finding import Confidence, Related, Severity

_KINDS = frozenset({"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Rollout"})


def _find(context: Context) -> Iterator[Hit]:
    for pods in context.pods:
        if pods.resource.ref.kind not in _KINDS:
            continue
        selector = _selector(pods)
        for other in context.selected(pods.resource.ref.namespace, selector):
            if other.resource.ref.kind not in _KINDS or other.resource.ref == pods.resource.ref:
                continue
            mutual = matches(_selector(other), pods.labels)
            if mutual and other.resource.ref < pods.resource.ref:
                continue  # said of the other one
            yield Hit(
                resource=pods.resource,
                path="$.spec.selector",
                message=f"{pods.resource.ref.plain} selector {shown(selector)} matches the pods of "
                f"{other.resource.ref.plain} {compact(other.labels)}" + (", and the other way round" if mutual else ""),
                hint="give each a label of its own in selector and template, for example app.kubernetes.io/component",
                related=(
                    Related(
                        ref=other.resource.ref, note="pod labels", location=other.resource.place(other.labels_path)
                    ),
                ),
                severity=None if mutual else Severity.WARNING,
                confidence=None if mutual else Confidence.LIKELY,
            )


def _selector(pods: Pods) -> object:
    selector = at(pods.resource.manifest, "spec").get("selector")
    return {"matchLabels": selector} if pods.resource.ref.kind == "ReplicationController" else selector


_EXAMPLE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: worker, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: {app}}}}}
  template:
    metadata: {{labels: {{app: {app}}}}}
    spec: {{containers: [{{name: worker, image: "ghcr.io/acme/worker:1.5.0"}}]}}
"""

CHECK = Check(
    id="sel/overlapping-selectors",
    severity=Severity.ERROR,
    title="the selectors of two workloads match each other's pods",
    rationale=(
        "Controllers find their pods by selector. Orphaned pods are adopted by the wrong one, autoscalers and budgets "
        "count both, and `kubectl logs` and `exec` pick either. Where only one of the two matches the other's pods it "
        "is a warning."
    ),
    example=Example(good=_EXAMPLE.format(app="worker"), bad=_EXAMPLE.format(app="web")),
    find=_find,
)
