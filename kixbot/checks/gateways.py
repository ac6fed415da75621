"""What rules about the Gateway API share: parents of routes and their listeners, and grants between namespaces."""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.checks.context import Context
from kixbot.checks.services import GATEWAY_GROUP
from kixbot.checks.shape import at, keyed, mappings, text
from kixbot.model.resource import Resource

ROUTES = ("HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute")
# Which routes a listener takes where `allowedRoutes.kinds` is not set.
_KINDS = {
    "HTTP": ("HTTPRoute", "GRPCRoute"),
    "HTTPS": ("HTTPRoute", "GRPCRoute"),
    "TLS": ("TLSRoute", "TCPRoute"),
    "TCP": ("TCPRoute",),
    "UDP": ("UDPRoute",),
}


def parents(context: Context) -> Iterator[tuple[Resource, str, Mapping[str, Any], Resource]]:
    """Every reference of a route to a Gateway of the build: the route, the path, the reference, the Gateway."""
    for kind in ROUTES:
        for route in context.of_kind(kind, GATEWAY_GROUP):
            for path, parent in keyed("$.spec", at(route.manifest, "spec"), "parentRefs"):
                if parent.get("kind", "Gateway") != "Gateway" or parent.get("group", GATEWAY_GROUP) != GATEWAY_GROUP:
                    continue
                namespace = text(parent.get("namespace")) or route.ref.namespace
                gateway = context.find("Gateway", text(parent.get("name")), namespace, GATEWAY_GROUP)
                if gateway is not None:
                    yield route, path, parent, gateway


def listeners(gateway: Resource, parent: Mapping[str, Any]) -> tuple[Mapping[str, Any], ...]:
    """The listeners that a parent reference names; all of them where it names none."""
    found = mappings(at(gateway.manifest, "spec").get("listeners"))
    if "sectionName" in parent:
        found = tuple(one for one in found if one.get("name") == parent["sectionName"])
    if "port" in parent:
        found = tuple(one for one in found if one.get("port") == parent["port"])
    return found


def takes_kind(listener: Mapping[str, Any], kind: str) -> bool:
    """Whether a listener takes routes of this kind; unknown protocols take any."""
    kinds = mappings(at(listener, "allowedRoutes").get("kinds"))
    if kinds:
        return any(one.get("kind") == kind for one in kinds)
    known = _KINDS.get(text(listener.get("protocol")))
    return known is None or kind in known


def is_granted(context: Context, source: Resource, kind: str, name: str, namespace: str) -> bool:
    """Whether a ReferenceGrant in `namespace` lets `source` refer to the object there; in its own it always may."""
    if namespace == source.ref.namespace:
        return True
    for grant in context.of_kind("ReferenceGrant", GATEWAY_GROUP):
        if grant.ref.namespace != namespace:
            continue
        spec = at(grant.manifest, "spec")
        given = any(
            one.get("kind") == source.ref.kind
            and one.get("group") == source.ref.group
            and one.get("namespace") == source.ref.namespace
            for one in mappings(spec.get("from"))
        )
        if given and any(
            one.get("kind") == kind and not one.get("group") and one.get("name", name) == name
            for one in mappings(spec.get("to"))
        ):
            return True
    return False
