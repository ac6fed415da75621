"""ref/hpa-request: an autoscaler by utilization whose pods request nothing that could be utilized."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.pods import Container
from kixbot.checks.shape import at, keyed, text
from kixbot.model.finding import Related, Severity
from kixbot.model.resource import Resource


def _find(context: Context) -> Iterator[Hit]:
    for target, scalers in context.scalers.items():
        pods = context.pods_of(target)
        if pods is None or pods.is_opaque:
            continue
        for scaler in scalers:
            for path, unit, only in _utilized(scaler.resource):
                lacking = [one for one in pods.containers if one.lasts and only in {"", one.name} and _lacks(one, unit)]
                if lacking and unit not in at(pods.spec, "resources", "requests"):
                    names = ", ".join(f"'{one.name}'" for one in lacking)
                    yield Hit(
                        resource=scaler.resource,
                        path=path,
                        message=f"{scaler.resource.ref.plain} scales {target.plain} by utilization of {unit}, but its "
                        f"container {names} requests no {unit}",
                        hint=f"set resources.requests.{unit} of every container of the workload",
                        related=(
                            Related(ref=target, note="no request", location=pods.resource.place(lacking[0].path)),
                        ),
                    )


def _lacks(container: Container, unit: str) -> bool:
    """Whether neither a request nor a limit, which counts as one, is set."""
    resources = at(container.body, "resources")
    return unit not in at(resources, "requests") and unit not in at(resources, "limits")


def _utilized(scaler: Resource) -> Iterator[tuple[str, str, str]]:
    """Place, resource and container ("" for all) of each metric that is a share of requests."""
    spec = at(scaler.manifest, "spec")
    if "targetCPUUtilizationPercentage" in spec:
        yield "$.spec.targetCPUUtilizationPercentage", "cpu", ""
    for path, metric in keyed("$.spec", spec, "metrics"):
        for field in ("resource", "containerResource"):
            body = at(metric, field)
            if at(body, "target").get("type") == "Utilization":
                yield f"{path}.{field}", text(body.get("name")), text(body.get("container"))
    for path, trigger in keyed("$.spec", spec, "triggers"):
        kind = text(trigger.get("type"))
        share = trigger.get("metricType", at(trigger, "metadata").get("type", "Utilization")) == "Utilization"
        if kind in {"cpu", "memory"} and share:
            yield path, kind, text(at(trigger, "metadata").get("containerName"))


_EXAMPLE = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: web, namespace: shop}}
spec:
  minReplicas: 2
  maxReplicas: 5
  scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: web}}
  metrics: [{{type: Resource, resource: {{name: cpu, target: {{type: Utilization, averageUtilization: 70}}}}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0", resources: {resources}}}]}}
"""

CHECK = Check(
    id="ref/hpa-request",
    severity=Severity.ERROR,
    title="an autoscaler counts by requests that its pods do not have",
    rationale=(
        "Utilization is a share of what the pods request. Where one container has no request, the autoscaler reports "
        "FailedGetResourceMetric and does not scale. A limit counts as request; a sidecar counts as container."
    ),
    example=Example(good=_EXAMPLE.format(resources="{requests: {cpu: 100m}}"), bad=_EXAMPLE.format(resources="{}")),
    find=_find,
)
