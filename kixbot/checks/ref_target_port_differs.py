"""ref/target-port-differs: one port name that means another number in each workload."""

from collections import defaultdict
from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.pods import Pods
from kixbot.checks.services import ports_of, selector_of
from kixbot.checks.shape import keyed
from kixbot.model.finding import Confidence, Related, Severity


def _find(context: Context) -> Iterator[Hit]:
    for service in context.of_kind("Service"):
        wanted = selector_of(service)
        selected = context.selected(service.ref.namespace, {"matchLabels": wanted}) if wanted else ()
        lasting = [pods for pods in selected if not pods.is_batch and not pods.is_opaque]
        for path, port in ports_of(service) if len(lasting) > 1 else ():
            target = port.get("targetPort")
            if not isinstance(target, str):
                continue
            numbers: defaultdict[int, list[Pods]] = defaultdict(list)
            for pods in lasting:
                for number in _numbers(pods, target):
                    numbers[number].append(pods)
            if len(numbers) > 1:
                means = ", ".join(f"{number} in {found[0].resource.ref.plain}" for number, found in numbers.items())
                yield Hit(
                    resource=service,
                    path=f"{path}.targetPort",
                    message=f'{service.ref.plain} targets port "{target}", which is {means}',
                    hint="give the port one number in all of them, or the Service a narrower selector",
                    related=tuple(
                        Related(ref=found[0].resource.ref, note="its port", location=found[0].resource.place())
                        for found in numbers.values()
                    ),
                )


def _numbers(pods: Pods, name: str) -> Iterator[int]:
    for container in pods.containers:
        for _, port in keyed("", container.body, "ports") if container.lasts else ():
            if port.get("name") == name and isinstance(number := port.get("containerPort"), int):
                yield number


_EXAMPLE = """\
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{app: web}}
  ports: [{{port: 80, targetPort: http}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: web, track: stable}}}}
  template:
    metadata: {{labels: {{app: web, track: stable}}}}
    spec:
      containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0", ports: [{{name: http, containerPort: 8080}}]}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web-canary, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: web, track: canary}}}}
  template:
    metadata: {{labels: {{app: web, track: canary}}}}
    spec:
      containers: [{{name: web, image: "ghcr.io/acme/web:1.6.0", ports: [{{name: http, containerPort: {port}}}]}}]
"""

CHECK = Check(
    id="ref/target-port-differs",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    title="a named target port has different numbers in the pods of a Service",
    rationale=(
        "The Service follows the name in each pod, so it works; network policies, probes and people that go by the "
        "number reach only a part of the pods."
    ),
    example=Example(good=_EXAMPLE.format(port=8080), bad=_EXAMPLE.format(port=9090)),
    find=_find,
)
