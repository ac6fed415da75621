"""sel/two-autoscalers: one workload that two autoscalers scale."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import at, mappings, text
from kixbot.model.finding import Related, Severity
from kixbot.model.resource import Ref, Resource, split_api_version

_VPA = "autoscaling.k8s.io"


def _find(context: Context) -> Iterator[Hit]:
    for target, scalers in context.scalers.items():
        for other in scalers[1:]:
            yield _hit(scalers[0].resource, other.resource, target, "both set its replicas", None)
    for vertical in context.of_kind("VerticalPodAutoscaler", _VPA):
        reference = at(vertical.manifest, "spec", "targetRef")
        group, _ = split_api_version(text(reference.get("apiVersion")))
        target = Ref(text(reference.get("kind")), group, vertical.ref.namespace, text(reference.get("name")))
        if at(vertical.manifest, "spec", "updatePolicy").get("updateMode") == "Off":
            continue
        for scaler in context.scalers.get(target, ()):
            if _by_usage(scaler.resource):
                fact = "one changes the requests by which the other counts"
                yield _hit(scaler.resource, vertical, target, fact, Severity.WARNING)


def _by_usage(scaler: Resource) -> bool:
    """Whether it scales by cpu or memory, which is what the vertical autoscaler sets."""
    spec = at(scaler.manifest, "spec")
    metrics = [at(metric, "resource").get("name") for metric in mappings(spec.get("metrics"))]
    triggers = [trigger.get("type") for trigger in mappings(spec.get("triggers"))]
    return "targetCPUUtilizationPercentage" in spec or bool(
        {"cpu", "memory"}.intersection(map(str, metrics + triggers))
    )


def _hit(first: Resource, second: Resource, target: Ref, fact: str, severity: Severity | None) -> Hit:
    return Hit(
        resource=second,
        path="$.spec.targetRef" if second.ref.group == _VPA else "$.spec.scaleTargetRef",
        message=f"{second.ref.plain} and {first.ref.plain} scale the same {target.plain}: {fact}",
        hint="keep one of them, with the metrics of both",
        related=(Related(ref=first.ref, note="scales it too", location=first.place("$.spec.scaleTargetRef")),),
        severity=severity,
    )


_EXAMPLE = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: web, namespace: shop}}
spec: {{maxReplicas: 5, scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}}}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: api, namespace: shop}}
spec: {{maxReplicas: 9, scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {name}}}}}
"""

CHECK = Check(
    id="sel/two-autoscalers",
    severity=Severity.ERROR,
    title="two autoscalers scale one workload",
    rationale=(
        "Each sets the replicas that it wants, and the workload goes up and down between them. A vertical autoscaler "
        "beside a horizontal one by cpu or memory is a warning: the one changes what the other counts by."
    ),
    example=Example(good=_EXAMPLE.format(name="api"), bad=_EXAMPLE.format(name="web")),
    find=_find,
)
