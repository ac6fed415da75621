"""ref/listener: a route that no listener of its Gateway takes."""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.gateways import listeners, parents, takes_kind
from kixbot.checks.shape import at, mappings, text
from kixbot.graph.selectors import matches
from kixbot.model.finding import Related, Severity
from kixbot.model.resource import Resource


def _find(context: Context) -> Iterator[Hit]:
    for route, path, parent, gateway in parents(context):
        named = listeners(gateway, parent)
        if not named:
            fact, hint = _unnamed(context, gateway, parent)
        elif not any(_lets_in(context, route, gateway, one) for one in named):
            fact = f"whose listeners take no route from namespace {route.ref.namespace}"
            hint = "set allowedRoutes.namespaces of a listener, or label the Namespace as its selector asks"
        elif not any(takes_kind(one, route.ref.kind) for one in named):
            fact = f"whose listeners take no {route.ref.kind}"
            hint = "use the kind of route that the listener's protocol takes, or name another listener"
        else:
            continue
        yield Hit(
            resource=route,
            path=path,
            message=f"{route.ref.plain} is attached to {gateway.ref.plain}, {fact}",
            hint=hint,
            related=(Related(ref=gateway.ref, note="listeners", location=gateway.place("$.spec.listeners")),),
        )


def _unnamed(context: Context, gateway: Resource, parent: Mapping[str, Any]) -> tuple[str, str]:
    names = [text(one.get("name")) for one in mappings(at(gateway.manifest, "spec").get("listeners"))]
    wanted = text(parent.get("sectionName"))
    near = context.likeness.nearest(wanted, names) if wanted else None
    what = f'listener "{wanted}"' if wanted else f"listener on port {parent.get('port')}"
    declared = ", ".join(sorted(names)) or "(none)"
    return f"which has no {what}\n  declared listeners: {declared}", (
        f'did you mean "{near}"?' if near else "name a listener of the Gateway, or leave sectionName and port out"
    )


def _lets_in(context: Context, route: Resource, gateway: Resource, listener: Mapping[str, Any]) -> bool:
    allowed = at(listener, "allowedRoutes", "namespaces")
    match allowed.get("from", "Same"):
        case "Same":
            return route.ref.namespace == gateway.ref.namespace
        case "Selector":
            namespace = context.find("Namespace", route.ref.namespace)
            if namespace is None:
                return True  # its labels are not known here
            labels = {**namespace.labels, "kubernetes.io/metadata.name": route.ref.namespace}
            return matches(allowed.get("selector"), labels)
        case "None":
            return False
        case _:
            return True


_EXAMPLE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {{name: edge, namespace: shop}}
spec:
  gatewayClassName: envoy
  listeners: [{{name: http, port: 80, protocol: HTTP}}]
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {{name: web, namespace: shop}}
spec:
  parentRefs: [{{name: edge, sectionName: {listener}}}]
  rules: [{{backendRefs: [{{name: web, port: 80}}]}}]
"""

CHECK = Check(
    id="ref/listener",
    severity=Severity.ERROR,
    title="a route is attached to no listener of its Gateway",
    rationale=(
        "A route names a Gateway and maybe one of its listeners; the listener says from which namespaces and of which "
        "kinds it takes routes, and by default only from its own namespace. A route that no listener takes gets no "
        "traffic: its status says NoMatchingParent or NotAllowedByListeners."
    ),
    example=Example(good=_EXAMPLE.format(listener="http"), bad=_EXAMPLE.format(listener="https")),
    find=_find,
)
