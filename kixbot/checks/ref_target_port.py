"""ref/target-port: a Service port that leads to no declared port of its pods."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.pods import Pods
from kixbot.checks.services import ports_of, selector_of
from kixbot.model.finding import Confidence, Related, Severity
from kixbot.model.resource import Resource


def _find(context: Context) -> Iterator[Hit]:
    for service in context.of_kind("Service"):
        wanted = selector_of(service)
        selected = context.selected(service.ref.namespace, {"matchLabels": wanted}) if wanted else ()
        shown = [pods for pods in selected if not pods.is_batch and not pods.is_opaque]
        if shown:
            for path, port in ports_of(service):
                yield from _judge(context, service, path, port.get("targetPort", port.get("port")), shown)


def _judge(context: Context, service: Resource, path: str, target: object, shown: list[Pods]) -> Iterator[Hit]:
    if isinstance(target, str):
        lacking = [pods for pods in shown if target not in _names(pods)]
        if len(lacking) == len(shown):
            known = frozenset[str]().union(*map(_names, shown))
            near = context.likeness.nearest(target, known)
            declared = ", ".join(sorted(known)) or "(none)"
            yield Hit(
                resource=service,
                path=f"{path}.targetPort",
                message=f'{service.ref.plain} targets port "{target}", which no container of its pods declares\n'
                f"  declared ports: {declared}",
                hint=f'did you mean "{near}"?' if near else f"name a container port {target}, or target it by number",
                related=tuple(_related(pods) for pods in shown),
            )
        for pods in lacking if len(lacking) < len(shown) else ():
            yield Hit(
                resource=service,
                path=f"{path}.targetPort",
                message=f'{service.ref.plain} targets port "{target}", which {pods.resource.ref.plain} does not '
                "declare; its pods get no traffic on this port",
                hint=f"name a container port {target} in {pods.resource.ref.plain}",
                related=(_related(pods),),
                severity=Severity.WARNING,
            )
    elif isinstance(target, int) and not isinstance(target, bool):
        numbers = frozenset[int]().union(*map(_numbers, shown))
        if numbers and target not in numbers:
            yield Hit(
                resource=service,
                path=f"{path}.targetPort",
                message=f"{service.ref.plain} targets port {target}, which no container of its pods declares",
                hint=f"declared are {', '.join(map(str, sorted(numbers)))}; an undeclared port works where it is open",
                related=tuple(_related(pods) for pods in shown),
                severity=Severity.INFO,
                confidence=Confidence.HINT,
            )


def _names(pods: Pods) -> frozenset[str]:
    return frozenset(name for one in pods.containers if one.lasts for name in one.port_names())


def _numbers(pods: Pods) -> frozenset[int]:
    return frozenset(number for one in pods.containers if one.lasts for number in one.port_numbers())


def _related(pods: Pods) -> Related:
    return Related(ref=pods.resource.ref, note="selected pods", location=pods.resource.place(pods.spec_path))


_EXAMPLE = """\
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{app: web}}
  ports: [{{port: 80, targetPort: {port}}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
        - name: web
          image: ghcr.io/acme/web:1.5.0
          ports: [{{name: http, containerPort: 8080}}]
"""

CHECK = Check(
    id="ref/target-port",
    severity=Severity.ERROR,
    title="a Service targets a port that its pods do not declare",
    rationale=(
        "A named targetPort is looked up in each selected pod; a pod without that name is no endpoint, so the Service "
        "refuses connections. A number works without being declared: it is an info, and only where the pods declare "
        "ports at all."
    ),
    example=Example(good=_EXAMPLE.format(port="http"), bad=_EXAMPLE.format(port="htpp")),
    find=_find,
)
