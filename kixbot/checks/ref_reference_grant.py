"""ref/reference-grant: a route or a Gateway that reaches into another namespace without being let in."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.gateways import is_granted
from kixbot.checks.services import GATEWAY_GROUP, backends
from kixbot.checks.shape import at, keyed, text
from kixbot.model.finding import Severity
from kixbot.model.resource import Resource


def _find(context: Context) -> Iterator[Hit]:
    for backend in backends(context):
        if backend.source.ref.group == GATEWAY_GROUP:
            yield from _judge(context, backend.source, backend.path, ("Service", backend.name, backend.namespace))
    for gateway in context.of_kind("Gateway", GATEWAY_GROUP):
        for where, listener in keyed("$.spec", at(gateway.manifest, "spec"), "listeners"):
            for path, secret in keyed(f"{where}.tls", at(listener, "tls"), "certificateRefs"):
                namespace = text(secret.get("namespace")) or gateway.ref.namespace
                if secret.get("kind", "Secret") == "Secret" and not secret.get("group"):
                    yield from _judge(context, gateway, path, ("Secret", text(secret.get("name")), namespace))


def _judge(context: Context, source: Resource, path: str, target: tuple[str, str, str]) -> Iterator[Hit]:
    kind, name, namespace = target
    if not is_granted(context, source, kind, name, namespace):
        yield Hit(
            resource=source,
            path=path,
            message=f"{source.ref.plain} refers to {kind} {namespace}/{name}, and no ReferenceGrant in namespace "
            f"{namespace} lets it",
            hint=f"add a ReferenceGrant to namespace {namespace} from {source.ref.kind} in {source.ref.namespace} to "
            f"{kind}",
        )


_ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec:
  rules: [{backendRefs: [{name: api, namespace: backend, port: 80}]}]
"""
_GRANT = """\
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: shop, namespace: backend}
spec:
  from: [{group: gateway.networking.k8s.io, kind: HTTPRoute, namespace: shop}]
  to: [{group: "", kind: Service}]
"""

CHECK = Check(
    id="ref/reference-grant",
    severity=Severity.ERROR,
    title="a route or a Gateway refers to another namespace without a ReferenceGrant",
    rationale=(
        "The Gateway API follows a reference into another namespace only where a ReferenceGrant there allows it. "
        "Without one the route answers 500 and its status says RefNotPermitted."
    ),
    example=Example(good=_ROUTE + _GRANT, bad=_ROUTE),
    find=_find,
)
