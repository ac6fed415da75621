"""ref/probe-port: a probe or lifecycle hook that asks for a port its container does not declare."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.pods import Container, Pods
from kixbot.checks.shape import at
from kixbot.model.finding import Confidence, Severity

# Handlers with a port that may be a name; gRPC probes take numbers only, and the declaration adds nothing to them.
_CALLERS = (
    ("livenessProbe",),
    ("readinessProbe",),
    ("startupProbe",),
    ("lifecycle", "postStart"),
    ("lifecycle", "preStop"),
)
_HANDLERS = ("httpGet", "tcpSocket")


def _find(context: Context) -> Iterator[Hit]:
    for pods in context.pods:
        for container in pods.containers:
            for caller in _CALLERS:
                for handler in _HANDLERS:
                    port = at(container.body, *caller, handler).get("port")
                    yield from _judge(context, pods, container, f"{'.'.join(caller)}.{handler}.port", port)


def _judge(context: Context, pods: Pods, container: Container, field: str, port: object) -> Iterator[Hit]:
    who = f"{pods.resource.ref.plain} container '{container.name}'"
    if isinstance(port, str) and port not in container.port_names():
        near = context.likeness.nearest(port, container.port_names())
        yield Hit(
            resource=pods.resource,
            path=f"{container.path}.{field}",
            message=f'{who} has a {field.partition(".")[0]} on port "{port}", which it does not declare\n'
            f"  declared ports: {', '.join(sorted(container.port_names())) or '(none)'}",
            hint=f'did you mean "{near}"?' if near else f"name a port of this container {port}, or give the number",
        )
    elif isinstance(port, int) and not isinstance(port, bool):
        numbers = container.port_numbers()
        if numbers and port not in numbers:
            yield Hit(
                resource=pods.resource,
                path=f"{container.path}.{field}",
                message=f"{who} has a {field.partition('.')[0]} on port {port}, which it does not declare",
                hint=f"declared are {', '.join(map(str, sorted(numbers)))}; an undeclared port works where it is open",
                severity=Severity.INFO,
                confidence=Confidence.HINT,
            )


_EXAMPLE = """\
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  containers:
    - name: web
      image: ghcr.io/acme/web:1.5.0
      ports: [{{name: http, containerPort: 8080}}]
      readinessProbe: {{httpGet: {{path: /ready, port: {port}}}}}
"""

CHECK = Check(
    id="ref/probe-port",
    severity=Severity.ERROR,
    title="a probe asks for a port that its container does not declare",
    rationale=(
        "A port name is looked up in the same container. Where it is missing, the probe fails every time: the "
        "container is restarted again and again, or never becomes ready. A number works without being declared: it "
        "is an info, and only where the container declares ports at all."
    ),
    example=Example(good=_EXAMPLE.format(port="http"), bad=_EXAMPLE.format(port="web")),
    find=_find,
)
