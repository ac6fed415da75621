"""ref/backend-port: traffic that is sent to a port which the Service does not have."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.services import backends, has_port, ports_of
from kixbot.checks.shape import at, text
from kixbot.model.finding import Related, Severity
from kixbot.model.resource import Resource


def _find(context: Context) -> Iterator[Hit]:
    for backend in backends(context):
        service = context.find("Service", backend.name, backend.namespace)
        # An ExternalName Service leads to another host, whose ports are not listed.
        if service is None or backend.port is None or at(service.manifest, "spec").get("type") == "ExternalName":
            continue
        if not has_port(service, backend.port):
            near = context.likeness.nearest(str(backend.port), _names(service))
            yield Hit(
                resource=backend.source,
                path=backend.port_path,
                message=f"{backend.source.ref.plain} sends traffic to port {_quoted(backend.port)} of "
                f"{service.ref.plain}, which has no such port\n  declared ports: {_declared(service)}",
                hint=f'did you mean "{near}"?' if near else "name a port of the Service, not one of its pods",
                related=(Related(ref=service.ref, note="ports", location=service.place("$.spec.ports")),),
            )


def _names(service: Resource) -> list[str]:
    return [name for _, port in ports_of(service) if (name := text(port.get("name")))]


def _declared(service: Resource) -> str:
    shown = []
    for _, port in ports_of(service):
        name = text(port.get("name"))
        shown.append(f"{port.get('port')} ({name})" if name else str(port.get("port")))
    return ", ".join(shown) or "(none)"


def _quoted(port: object) -> str:
    return f'"{port}"' if isinstance(port, str) else str(port)


_EXAMPLE = """\
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop}}
spec:
  ports: [{{name: http, port: 80, targetPort: 8080}}]
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: web, namespace: shop}}
spec:
  defaultBackend: {{service: {{name: web, port: {{number: {port}}}}}}}
"""

CHECK = Check(
    id="ref/backend-port",
    severity=Severity.ERROR,
    title="an Ingress, a route or a webhook names a port that its Service does not have",
    rationale=(
        "The controller finds no such port and answers 500 or 503; a webhook or an aggregated API is never reached. "
        "What counts is the port of the Service, not that of its pods. Services of type ExternalName and those that "
        "an operator makes are left alone."
    ),
    example=Example(good=_EXAMPLE.format(port=80), bad=_EXAMPLE.format(port=8080)),
    find=_find,
)
