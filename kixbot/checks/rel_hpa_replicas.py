"""rel/hpa-replicas: replicas that are written down although an autoscaler sets them."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import at
from kixbot.model.finding import Related, Severity


def _find(context: Context) -> Iterator[Hit]:
    for target, scalers in context.scalers.items():
        workload = context.by_ref.get(target)
        if workload is None or "replicas" not in at(workload.manifest, "spec") or "spec.replicas" in workload.cede:
            continue
        scaler = scalers[0].resource
        yield Hit(
            resource=workload,
            path="$.spec.replicas",
            message=f"{workload.ref.plain} sets replicas, which {scaler.ref.plain} sets too",
            hint="remove spec.replicas, and give the autoscaler the number as its minimum",
            related=(Related(ref=scaler.ref, note="sets them", location=scaler.place("$.spec.scaleTargetRef")),),
        )


_EXAMPLE = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: web, namespace: shop}}
spec: {{minReplicas: 3, maxReplicas: 5, scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
{replicas}  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]}}
"""

CHECK = Check(
    id="rel/hpa-replicas",
    severity=Severity.WARNING,
    title="a workload sets replicas that an autoscaler sets too",
    rationale=(
        "Every deploy puts the written number back and the autoscaler changes it again: under load pods are stopped "
        "by a deploy that changed nothing."
    ),
    example=Example(good=_EXAMPLE.format(replicas=""), bad=_EXAMPLE.format(replicas="  replicas: 3\n")),
    find=_find,
    on=("Deployment", "StatefulSet"),
)
