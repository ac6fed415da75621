"""NetworkPolicies: which pods they isolate, whom they select as peers, and whether they let a connection through."""

from collections.abc import Iterator, Mapping
from typing import Any, Literal

from kixbot.checks.context import Context, accepts
from kixbot.checks.pods import Pods
from kixbot.checks.shape import at, keyed, mappings
from kixbot.graph.selectors import matches
from kixbot.model.resource import Resource

Direction = Literal["ingress", "egress"]
DIRECTIONS: tuple[tuple[Direction, str], ...] = (("ingress", "from"), ("egress", "to"))
"""Each direction with the field that holds its peers."""
_GROUP = "networking.k8s.io"
_DNS = 53
NAME_LABEL = "kubernetes.io/metadata.name"
_SYSTEM = ("default", "kube-node-lease", "kube-public", "kube-system")


def policies(context: Context) -> tuple[Resource, ...]:
    """All NetworkPolicies of the build."""
    return context.of_kind("NetworkPolicy", _GROUP)


def isolates(policy: Resource, direction: Direction) -> bool:
    """Whether a policy isolates what it selects: by `policyTypes`, else ingress always and egress if it has rules."""
    spec = at(policy.manifest, "spec")
    types = spec.get("policyTypes")
    if isinstance(types, list) and types:
        return direction.capitalize() in types
    return direction == "ingress" or "egress" in spec


def selector_of(policy: Resource) -> object:
    """The pod selector; an absent one is empty, and selects every pod of the namespace."""
    return at(policy.manifest, "spec").get("podSelector") or {}


def isolating(context: Context, pods: Pods, direction: Direction) -> tuple[Resource, ...]:
    """The policies that isolate these pods in a direction; none where they use the network of their node."""
    if pods.spec.get("hostNetwork") is True:
        return ()
    return tuple(
        policy
        for policy in context.in_namespace(pods.resource.ref.namespace, "NetworkPolicy", _GROUP)
        if isolates(policy, direction) and matches(selector_of(policy), pods.labels)
    )


def peers(policy: Resource) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every peer of a policy with its path."""
    for direction, side in DIRECTIONS:
        for where, rule in keyed("$.spec", at(policy.manifest, "spec"), direction):
            yield from keyed(where, rule, side)


def namespaces_of(context: Context, policy: Resource, peer: Mapping[str, Any]) -> tuple[str, ...]:
    """The namespaces a peer speaks of, as far as the build knows them and those that every cluster has."""
    if "namespaceSelector" not in peer:
        return (policy.ref.namespace,)
    known = sorted({*context.world.namespaces, *_SYSTEM, *(one.ref.name for one in context.of_kind("Namespace"))})
    selector = peer["namespaceSelector"] or {}
    return tuple(
        name for name in known if matches(selector, {**context.world.namespace_labels(name), NAME_LABEL: name})
    )


def is_system(namespace: str) -> bool:
    """Whether a namespace holds pods that no build shows."""
    return namespace in _SYSTEM


def allows(
    context: Context,
    found: tuple[Resource, ...],
    direction: Direction,
    other: Pods,
    ports: frozenset[int],
    server: Pods,
) -> bool:
    """Whether one of the isolating policies lets traffic through to or from `other`.

    `ports` are the numbers any of which will do, none where they are not known; `server` is who listens on them, whose
    port names count. Without a policy there is no isolation, and what comes from a node's own network is the node's.
    """
    if not found or other.spec.get("hostNetwork") is True:
        return True
    side = dict(DIRECTIONS)[direction]
    return any(
        _names_peer(context, policy, rule.get(side), other) and _names_port(rule.get("ports"), ports, server)
        for policy in found
        for rule in mappings(at(policy.manifest, "spec").get(direction))
    )


def _names_peer(context: Context, policy: Resource, entries: object, other: Pods) -> bool:
    if not entries:
        return True
    for peer in mappings(entries):
        # The address of a pod is not known before it runs.
        if "ipBlock" in peer:
            return True
        inside = other.resource.ref.namespace in namespaces_of(context, policy, peer)
        if inside and accepts(peer.get("podSelector") or {}, other):
            return True
    return False


def _names_port(entries: object, ports: frozenset[int], server: Pods) -> bool:
    if not entries:
        return True
    if not ports:
        # Which port is not known; what is open for names alone is open for nothing else.
        return any(entry.get("port") != _DNS for entry in mappings(entries))
    for entry in mappings(entries):
        port, last = entry.get("port"), entry.get("endPort")
        if port is None:
            return True
        if isinstance(port, str):
            numbers = {
                one.get("containerPort")
                for container in server.containers
                for one in mappings(container.body.get("ports"))
                if one.get("name") == port
            }
            if numbers & ports:
                return True
        elif isinstance(port, int) and any(port <= one <= (last if isinstance(last, int) else port) for one in ports):
            return True
    return False


def lets_resolve(found: tuple[Resource, ...]) -> bool:
    """Whether one of the egress policies lets DNS queries leave the namespace."""
    for policy in found:
        for rule in mappings(at(policy.manifest, "spec").get("egress")):
            ports = mappings(rule.get("ports"))
            to = mappings(rule.get("to"))
            if ports and not any(_is_dns(entry) for entry in ports):
                continue
            local = policy.ref.namespace == "kube-system"
            if not to or local or any("namespaceSelector" in peer or "ipBlock" in peer for peer in to):
                return True
    return False


def _is_dns(entry: Mapping[str, Any]) -> bool:
    port, last = entry.get("port"), entry.get("endPort")
    if port is None or isinstance(port, str):
        return True
    return isinstance(port, int) and port <= _DNS <= (last if isinstance(last, int) else port)


def is_judged_elsewhere(context: Context) -> bool:
    """Whether another kind of policy may allow what these do not: Cilium's and Calico's count together with them."""
    kinds = {"CiliumNetworkPolicy", "CiliumClusterwideNetworkPolicy", "GlobalNetworkPolicy", "AdminNetworkPolicy"}
    return any(resource.ref.kind in kinds for resource in context.resources)
