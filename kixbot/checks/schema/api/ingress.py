"""Ingresses and network policies."""

from collections.abc import Iterator
from ipaddress import ip_network
from typing import Any

from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.containers import port_of
from kixbot.checks.schema.api.rule import (
    PORT,
    Judges,
    between,
    conflict,
    each,
    exactly_one,
    named,
    needs,
    one_of,
    reads,
    segments,
    table,
    unless_empty,
)
from kixbot.checks.schema.faults import FORMAT, dotted, missing
from kixbot.checks.schema.node import Fault, Raw
from kixbot.checks.schema.values import shown


def _ingress(value: Any, at: Raw) -> Iterator[Fault]:
    if not value.get("rules") and value.get("defaultBackend") is None:
        yield missing("rules or defaultBackend", at)


def _ingress_path(value: Any, at: Raw) -> Iterator[Fault]:
    kind, path = value.get("pathType"), value.get("path")
    if kind in {"Exact", "Prefix"}:
        if not isinstance(path, str) or not path.startswith("/"):
            yield Fault(
                rule=FORMAT,
                at=(*at, "path"),
                text=f"has {shown(path or '')} as path in {dotted(at)}; with pathType {kind} it begins with '/'",
                hint="write a path such as /",
            )
        else:
            for part in ("//", "/./", "/../", "%2f", "%2F"):
                if part in path:
                    yield _path_part(path, part, at)
            for end in ("/..", "/."):
                if path.endswith(end):
                    yield _path_part(path, end, at)
    elif isinstance(path, str) and path and not path.startswith("/"):
        yield from reads(names.absolute_path)(path, (*at, "path"))


def _path_part(path: str, part: str, at: Raw) -> Fault:
    return Fault(
        rule=FORMAT,
        at=(*at, "path"),
        text=f"has {shown(path)} as path in {dotted(at)}, with {part}",
        hint=f"remove {part}",
    )


def _backend_port(value: Any, at: Raw) -> Iterator[Fault]:
    name, number = value.get("name"), value.get("number")
    if name and number:
        yield conflict(at, f"has name and number in {dotted(at)}", "keep one of them")
    elif not name and not number:
        yield missing("number or name", at)


def _ingress_service(value: Any, at: Raw) -> Iterator[Fault]:
    yield from needs("name", "port")(value, at)


def _resource(value: Any, at: Raw) -> Iterator[Fault]:
    if isinstance(target := value.get("resource"), dict):
        where = (*at, "resource")
        yield from needs("kind", "name")(target, where)
        yield from segments(target, where, "kind", "name")
        if isinstance(group := target.get("apiGroup"), str):
            yield from named(names.dns_subdomain)(group, (*where, "apiGroup"))


def _class_parameters(value: Any, at: Raw) -> Iterator[Fault]:
    yield from needs("kind", "name")(value, at)
    yield from segments(value, at, "kind", "name")
    if isinstance(group := value.get("apiGroup"), str):
        yield from named(names.dns_subdomain)(group, (*at, "apiGroup"))
    if isinstance(namespace := value.get("namespace"), str) and namespace:
        yield from named(names.dns_label)(namespace, (*at, "namespace"))
    scope = value.get("scope", "Cluster")
    if scope == "Namespace" and not value.get("namespace"):
        yield missing("namespace", at)
    if scope == "Cluster" and value.get("namespace"):
        yield conflict(
            (*at, "namespace"), f"has a namespace with scope Cluster in {dotted(at)}", "write scope: Namespace"
        )


def _policy_port(value: Any, at: Raw) -> Iterator[Fault]:
    port, end = value.get("port"), value.get("endPort")
    if end is not None:
        if not isinstance(port, int):
            yield conflict(
                (*at, "endPort"), f"has endPort in {dotted(at)} without a port number", "write port as a number"
            )
        elif isinstance(end, int) and end < port:
            yield conflict((*at, "endPort"), f"has endPort {end} below port {port} in {dotted(at)}", "raise endPort")


def _peer(value: Any, at: Raw) -> Iterator[Fault]:
    there = [one for one in ("ipBlock", "podSelector", "namespaceSelector") if value.get(one) is not None]
    if not there:
        yield missing("podSelector, namespaceSelector or ipBlock", at)
    elif "ipBlock" in there and len(there) > 1:
        yield conflict(at, f"has ipBlock and {there[1]} in {dotted(at)}", "write two peers")


def _block(value: Any, at: Raw) -> Iterator[Fault]:
    outer = value.get("cidr")
    if not isinstance(outer, str) or names.cidr(outer):
        return
    for place, inner in enumerate(value.get("except") or ()):
        if not isinstance(inner, str) or names.cidr(inner):
            continue
        one, other = ip_network(outer, strict=False), ip_network(inner, strict=False)
        if one.version != other.version or one == other or not other.subnet_of(one):  # type: ignore[arg-type]
            yield conflict(
                (*at, "except", place), f"has {inner} in {dotted(at)}.except, outside {outer}", "write a part"
            )


def _policy_types(value: Any, at: Raw) -> Iterator[Fault]:
    if len(value) > 2:
        yield conflict(at, f"has {len(value)} types in {dotted(at)}, which takes two", "write each once")


JUDGES: Judges = table(
    {
        "networking.v1.Ingress": {"": needs("spec")},
        "networking.v1.IngressSpec": {"": _ingress, "ingressClassName": named(names.dns_subdomain)},
        "networking.v1.IngressRule": {"host": unless_empty(named(names.wildcard_or_subdomain))},
        "networking.v1.IngressTLS": {
            "hosts": each(named(names.wildcard_or_subdomain)),
            "secretName": unless_empty(named(names.dns_subdomain)),
        },
        "networking.v1.HTTPIngressRuleValue": {"": needs("paths")},
        "networking.v1.HTTPIngressPath": {"": (needs("pathType"), _ingress_path)},
        "networking.v1.IngressBackend": {"": (exactly_one("service", "resource"), _resource)},
        "networking.v1.IngressServiceBackend": {"": _ingress_service, "name": named(names.dns_1035_label)},
        "networking.v1.ServiceBackendPort": {
            "": _backend_port,
            "number": between(0, 65535),
            "name": unless_empty(named(names.port_name)),
        },
        "networking.v1.IngressClass": {"": needs("spec")},
        "networking.v1.IngressClassSpec": {"": needs("controller"), "controller": named(names.domain_path)},
        "networking.v1.IngressClassParametersReference": {
            "": _class_parameters,
            "scope": one_of("Cluster", "Namespace"),
        },
        "networking.v1.NetworkPolicySpec": {"policyTypes": (each(one_of("Ingress", "Egress")), _policy_types)},
        "networking.v1.NetworkPolicyPort": {
            "": _policy_port,
            "protocol": one_of("TCP", "UDP", "SCTP"),
            "port": port_of,
            "endPort": PORT,
        },
        "networking.v1.NetworkPolicyPeer": {"": _peer},
        "networking.v1.IPBlock": {
            "": (needs("cidr"), _block),
            "cidr": reads(names.cidr),
            "except": each(reads(names.cidr)),
        },
    }
)
