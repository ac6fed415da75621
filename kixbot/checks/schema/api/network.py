"""Services, endpoints, Ingresses and network policies."""

from collections.abc import Iterator
from typing import Any

from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.containers import port_of
from kixbot.checks.schema.api.metadata import labels
from kixbot.checks.schema.api.rule import (
    PORT,
    Judges,
    between,
    conflict,
    each,
    named,
    needs,
    one_of,
    reads,
    table,
    unique,
    unless_empty,
)
from kixbot.checks.schema.faults import FORMAT, UNIQUE, dotted, missing
from kixbot.checks.schema.node import Fault, Raw
from kixbot.checks.schema.values import shown
from kixbot.checks.shape import mappings


def _service(value: Any, at: Raw) -> Iterator[Fault]:
    kind, ports = value.get("type") or "ClusterIP", value.get("ports") or []
    headless = value.get("clusterIP") == "None"
    if kind == "ExternalName":
        if not value.get("externalName"):
            yield missing("externalName", at)
        if value.get("clusterIP"):
            yield conflict(
                (*at, "clusterIP"), f"has clusterIP with type ExternalName in {dotted(at)}", "remove clusterIP"
            )
    elif not ports and not headless:
        yield missing("ports", at)
    if kind == "LoadBalancer" and headless:
        yield conflict(
            (*at, "clusterIP"), f"has clusterIP None with type LoadBalancer in {dotted(at)}", "remove clusterIP"
        )
    if kind == "NodePort" and headless:
        yield conflict((*at, "clusterIP"), f"has clusterIP None with type NodePort in {dotted(at)}", "remove clusterIP")
    for place, port in enumerate(mappings(ports)):
        if not port.get("name") and len(ports) > 1:
            yield missing("name", (*at, "ports", place))
        if port.get("nodePort") and kind in {"ClusterIP", "ExternalName"}:
            yield conflict(
                (*at, "ports", place, "nodePort"),
                f"has nodePort with type {kind} in {dotted(at)}.ports",
                "write type: NodePort, or remove nodePort",
            )
    yield from _only_for(value, at, kind)


def _only_for(value: Any, at: Raw, kind: str) -> Iterator[Fault]:
    """Fields that only some types of Service may have."""
    balancer = ("loadBalancerClass", "allocateLoadBalancerNodePorts")
    for field in (*balancer, "loadBalancerSourceRanges"):
        if value.get(field) not in (None, [], "") and kind != "LoadBalancer":
            yield conflict((*at, field), f"has {field} with type {kind} in {dotted(at)}", f"remove {field}")
    policy, outside = value.get("externalTrafficPolicy"), value.get("externalIPs")
    if policy and kind not in {"LoadBalancer", "NodePort"} and not outside:
        yield conflict(
            (*at, "externalTrafficPolicy"), f"has externalTrafficPolicy with type {kind} in {dotted(at)}", "remove it"
        )
    if value.get("healthCheckNodePort") and not (kind == "LoadBalancer" and policy == "Local"):
        yield conflict(
            (*at, "healthCheckNodePort"),
            f"has healthCheckNodePort in {dotted(at)} without externalTrafficPolicy: Local",
            "remove it",
        )
    if value.get("sessionAffinityConfig") is not None and value.get("sessionAffinity") == "None":
        yield conflict(
            (*at, "sessionAffinityConfig"),
            f"has sessionAffinityConfig in {dotted(at)} without sessionAffinity: ClientIP",
            "write sessionAffinity: ClientIP",
        )


def _target_port(value: Any, at: Raw) -> Iterator[Fault]:
    """0 and the empty name count as absent."""
    if value not in {0, ""}:
        yield from port_of(value, at)


def _range(value: Any, at: Raw) -> Iterator[Fault]:
    if isinstance(value, str):
        yield from reads(names.cidr)(value.strip(), at)


def _cluster_ip(value: Any, at: Raw) -> Iterator[Fault]:
    if value not in {"", "None"}:
        yield from reads(names.ip)(value, at)


def _subset(value: Any, at: Raw) -> Iterator[Fault]:
    if not value.get("addresses") and not value.get("notReadyAddresses"):
        yield missing("addresses", at)
    ports = value.get("ports") or []
    for place, port in enumerate(mappings(ports)):
        if not port.get("name") and len(ports) > 1:
            yield missing("name", (*at, "ports", place))


def _slice(value: Any, at: Raw) -> Iterator[Fault]:
    kind = value.get("addressType")
    for place, endpoint in enumerate(mappings(value.get("endpoints"))):
        addresses = endpoint.get("addresses")
        if addresses == []:
            yield missing("addresses", (*at, "endpoints", place))
        for number, address in enumerate(addresses if isinstance(addresses, list) else ()):
            if not isinstance(address, str):
                continue
            problem = names.dns_subdomain(address) if kind == "FQDN" else names.ip(address)
            if problem or (kind != "FQDN" and (":" in address) != (kind == "IPv6")):
                yield Fault(
                    rule=FORMAT,
                    at=(*at, "endpoints", place, "addresses", number),
                    text=f"has {shown(address)} in endpoints.addresses, which is no {kind} address",
                    hint="write an address of addressType",
                )


def _endpoint_port(value: Any, at: Raw) -> Iterator[Fault]:
    if isinstance(name := value.get("name"), str) and name:
        yield from named(names.dns_label)(name, (*at, "name"))


def _each_once(value: Any, at: Raw) -> Iterator[Fault]:
    if len(set(value)) < len(value):
        yield Fault(rule=UNIQUE, at=at, text=f"has one value twice in {dotted(at)}", hint="write each once")


JUDGES: Judges = table(
    {
        "core.v1.Service": {"": needs("spec")},
        "core.v1.ServiceSpec": {
            "": _service,
            "selector": labels,
            "ports": unique("name"),
            "clusterIP": _cluster_ip,
            "externalName": unless_empty(named(names.dns_subdomain)),
            "externalIPs": each(reads(names.ip)),
            "loadBalancerSourceRanges": each(_range),
            "loadBalancerClass": named(names.qualified),
            "ipFamilies": (each(one_of("IPv4", "IPv6")), _each_once),
        },
        "core.v1.ServicePort": {
            "": needs("port"),
            "name": unless_empty(named(names.dns_label)),
            "port": PORT,
            "targetPort": _target_port,
            "nodePort": between(0, 65535),
            "appProtocol": named(names.qualified),
        },
        "core.v1.ClientIPConfig": {"timeoutSeconds": between(1, 86400)},
        "core.v1.EndpointSubset": {"": _subset},
        "core.v1.EndpointAddress": {"": needs("ip"), "ip": unless_empty(reads(names.ip))},
        "core.v1.EndpointPort": {"": (needs("port"), _endpoint_port), "port": PORT},
        "discovery.v1.EndpointSlice": {"": (needs("addressType"), _slice), "ports": unique("name")},
        "discovery.v1.EndpointPort": {
            "name": unless_empty(named(names.dns_label)),
            "protocol": one_of("TCP", "UDP", "SCTP"),
            "appProtocol": named(names.qualified),
        },
        "discovery.v1.Endpoint": {"hostname": named(names.dns_label)},
    }
)
