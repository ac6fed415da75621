"""What rules about Services share: their selector, their ports, and who refers to a port of one."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kixbot.checks.context import Context
from kixbot.checks.shape import at, keyed, labels, mapping, mappings, text
from kixbot.model.resource import Resource

_ROUTES = ("HTTPRoute", "GRPCRoute", "TLSRoute", "TCPRoute", "UDPRoute")
GATEWAY_GROUP = "gateway.networking.k8s.io"
_ALB = "alb.ingress.kubernetes.io/actions."


@dataclass(frozen=True, slots=True, kw_only=True)
class Backend:
    """A field that sends traffic to a port of a Service; `port` is a number, a name, or None where any will do."""

    source: Resource
    path: str
    name: str
    namespace: str
    port: object
    port_path: str


def selector_of(service: Resource) -> dict[str, str]:
    """The labels a Service selects; empty where it selects nothing by itself (no selector, or an ExternalName)."""
    spec = at(service.manifest, "spec")
    return {} if spec.get("type") == "ExternalName" else labels(spec.get("selector"))


def ports_of(service: Resource) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Each port of a Service with its path."""
    yield from keyed("$.spec", mapping(service.manifest.get("spec")), "ports")


def backends(context: Context) -> Iterator[Backend]:
    """Every backend of Ingresses and routes, and every Service that the API server itself calls."""
    for ingress in context.of_kind("Ingress", "networking.k8s.io"):
        yield from _ingress(ingress)
    for kind in _ROUTES:
        for route in context.of_kind(kind, GATEWAY_GROUP):
            yield from _route(route)
    for kind in ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"):
        for configuration in context.of_kind(kind, "admissionregistration.k8s.io"):
            for path, webhook in keyed("$", configuration.manifest, "webhooks"):
                service = at(webhook, "clientConfig", "service")
                yield from _called(configuration, f"{path}.clientConfig.service", service)
    for api in context.of_kind("APIService", "apiregistration.k8s.io"):
        yield from _called(api, "$.spec.service", at(api.manifest, "spec", "service"))


def routed_hosts(ingress: Resource) -> Iterator[tuple[str, str, str, str]]:
    """Host, path, path type and place of each path of an Ingress."""
    for where, rule in keyed("$.spec", at(ingress.manifest, "spec"), "rules"):
        for path, entry in keyed(f"{where}.http", at(rule, "http"), "paths"):
            yield text(rule.get("host")), text(entry.get("path")) or "/", text(entry.get("pathType")), path


def _ingress(ingress: Resource) -> Iterator[Backend]:
    spec = at(ingress.manifest, "spec")
    found = [("$.spec.defaultBackend", at(spec, "defaultBackend"))]
    for where, rule in keyed("$.spec", spec, "rules"):
        paths = keyed(f"{where}.http", at(rule, "http"), "paths")
        found += [(f"{path}.backend", at(entry, "backend")) for path, entry in paths]
    for path, backend in found:
        service = at(backend, "service")
        name = text(service.get("name"))
        # The ALB controller reads such a backend from an annotation, not from a Service.
        if name and f"{_ALB}{name}" not in ingress.annotations:
            port = at(service, "port")
            field = "name" if "name" in port else "number"
            yield Backend(
                source=ingress,
                path=f"{path}.service",
                name=name,
                namespace=ingress.ref.namespace,
                port=port.get(field),
                port_path=f"{path}.service.port.{field}",
            )


def _route(route: Resource) -> Iterator[Backend]:
    for where, rule in keyed("$.spec", at(route.manifest, "spec"), "rules"):
        for path, backend in keyed(where, rule, "backendRefs"):
            if backend.get("kind", "Service") == "Service" and not backend.get("group"):
                yield Backend(
                    source=route,
                    path=path,
                    name=text(backend.get("name")),
                    namespace=text(backend.get("namespace")) or route.ref.namespace,
                    port=backend.get("port"),
                    port_path=f"{path}.port",
                )


def _called(source: Resource, path: str, service: Mapping[str, Any]) -> Iterator[Backend]:
    if name := text(service.get("name")):
        yield Backend(
            source=source,
            path=path,
            name=name,
            namespace=text(service.get("namespace")),
            port=service.get("port", 443),
            port_path=f"{path}.port" if "port" in service else path,
        )


def has_port(service: Resource, port: object) -> bool:
    """Whether a Service has the port of that number or name."""
    field = "name" if isinstance(port, str) else "port"
    return any(entry.get(field) == port for entry in mappings(at(service.manifest, "spec").get("ports")))
