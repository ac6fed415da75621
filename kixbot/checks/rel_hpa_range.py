"""rel/hpa-range: an autoscaler that has nothing to choose."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.model.finding import Severity


def _find(context: Context) -> Iterator[Hit]:
    for scalers in context.scalers.values():
        for scaler in scalers:
            if scaler.most == scaler.least:
                keda = scaler.resource.ref.kind == "ScaledObject"
                yield Hit(
                    resource=scaler.resource,
                    path="$.spec.maxReplicaCount" if keda else "$.spec.maxReplicas",
                    message=f"{scaler.resource.ref.plain} has {scaler.least} as least and as most: it never scales",
                    hint="raise the most, or set replicas in the workload and remove the autoscaler",
                )


_EXAMPLE = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: web, namespace: shop}}
spec:
  minReplicas: 2
  maxReplicas: {most}
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}
"""

CHECK = Check(
    id="rel/hpa-range",
    severity=Severity.WARNING,
    title="an autoscaler whose least and most are the same",
    rationale="It holds the workload at one number, whatever the load is, and hides that number from the workload.",
    example=Example(good=_EXAMPLE.format(most=5), bad=_EXAMPLE.format(most=2)),
    find=_find,
    on=("HorizontalPodAutoscaler", "ScaledObject.keda.sh"),
)
