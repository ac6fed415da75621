"""Which objects a selector selects. A selector's parts are all required; an empty one selects everything."""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.graph.walk import list_at, map_at
from kixbot.graph.world import World
from kixbot.model.resource import Ref, Resource

# Labels that controllers put on pods themselves; a template cannot show them, so they exclude nothing.
_CONTROLLER_LABELS = frozenset(
    {
        "apps.kubernetes.io/pod-index",
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-completion-index",
        "batch.kubernetes.io/job-name",
        "controller-revision-hash",
        "controller-uid",
        "job-name",
        "pod-template-generation",
        "pod-template-hash",
        "statefulset.kubernetes.io/pod-name",
    }
)


def equal_labels(selector: Mapping[str, Any], labels: Mapping[str, str]) -> bool:
    """Whether a plain map of labels, as a Service has it, is found in `labels`. An empty map is in every map."""
    return all(labels.get(key) == value for key, value in selector.items() if key not in _CONTROLLER_LABELS)


def matches(selector: Any, labels: Mapping[str, str]) -> bool:
    """Whether a LabelSelector (`matchLabels`, `matchExpressions`) selects `labels`; one that is no map selects none."""
    if not isinstance(selector, Mapping):
        return False
    wanted = selector.get("matchLabels") or {}
    expressions = selector.get("matchExpressions") or []
    if not isinstance(wanted, Mapping) or not isinstance(expressions, list):
        return False
    return equal_labels(wanted, labels) and all(_holds(expression, labels) for expression in expressions)


def _holds(expression: Any, labels: Mapping[str, str]) -> bool:
    if not isinstance(expression, Mapping):
        return False
    key, values = str(expression.get("key")), list_at(expression, "values")
    if key in _CONTROLLER_LABELS:
        return True
    match expression.get("operator"):
        case "In":
            return labels.get(key) in values
        case "NotIn":
            return labels.get(key) not in values
        case "Exists":
            return key in labels
        case "DoesNotExist":
            return key not in labels
    return False


def service_selects(service: Resource, labels: Mapping[str, str]) -> bool:
    """Whether a Service routes to pods with these labels; one without a selector routes to none."""
    selector = map_at(service.manifest, "spec", "selector")
    return bool(selector) and equal_labels(selector, labels)


def selected(source: Resource, world: World) -> Iterator[tuple[Ref, str]]:
    """What the selectors of `source` select, with the selector's written path. A workload's own is no reference."""
    spec = source.manifest.get("spec")
    if not isinstance(spec, Mapping):
        return
    kind = source.ref.kind_group
    if kind == "Service":
        for ref, pods in world.candidates(source.ref.namespace, _plain(spec.get("selector"))):
            if service_selects(source, pods.labels):
                yield ref, "$.spec.selector"
    elif kind == "PodDisruptionBudget":
        yield from _matching(world, spec.get("selector"), source.ref.namespace, "$.spec.selector")
    elif kind == "NetworkPolicy":
        yield from _policy(spec, source.ref.namespace, world)
    elif kind == "PodMonitor.monitoring.coreos.com":
        for namespace in _monitored(spec, source.ref.namespace, world):
            yield from _matching(world, spec.get("selector"), namespace, "$.spec.selector")
    elif kind == "ServiceMonitor.monitoring.coreos.com":
        for namespace in _monitored(spec, source.ref.namespace, world):
            for service in world.of_kind("Service", namespace):
                if matches(spec.get("selector"), service.labels):
                    yield service.ref, "$.spec.selector"


def _matching(world: World, selector: Any, namespace: str, path: str) -> Iterator[tuple[Ref, str]]:
    wanted = _plain(selector.get("matchLabels")) if isinstance(selector, Mapping) else {}
    for ref, pods in world.candidates(namespace, wanted):
        if matches(selector, pods.labels):
            yield ref, path


def _plain(labels: Any) -> Mapping[str, Any]:
    """The labels a pod must show in its template: those that controllers put on later narrow nothing."""
    if not isinstance(labels, Mapping):
        return {}
    return {key: value for key, value in labels.items() if key not in _CONTROLLER_LABELS}


def _policy(spec: Mapping[str, Any], namespace: str, world: World) -> Iterator[tuple[Ref, str]]:
    yield from _matching(world, spec.get("podSelector", {}), namespace, "$.spec.podSelector")
    for direction, side in (("ingress", "from"), ("egress", "to")):
        for at, rule in enumerate(list_at(spec, direction)):
            for place, peer in enumerate(list_at(rule, side)):
                # A peer with a namespaceSelector alone names namespaces, not workloads.
                if isinstance(peer, Mapping) and "podSelector" in peer:
                    path = f"$.spec.{direction}[{at}].{side}[{place}].podSelector"
                    for other in _peer_namespaces(peer, namespace, world):
                        yield from _matching(world, peer["podSelector"], other, path)


def _peer_namespaces(peer: Mapping[str, Any], namespace: str, world: World) -> Iterator[str]:
    if "namespaceSelector" not in peer:
        yield namespace
        return
    for one in world.namespaces:
        labels = {**world.namespace_labels(one), "kubernetes.io/metadata.name": one}
        if matches(peer["namespaceSelector"], labels):
            yield one


def _monitored(spec: Mapping[str, Any], namespace: str, world: World) -> Iterator[str]:
    selector = map_at(spec, "namespaceSelector")
    if selector.get("any") is True:
        yield from world.namespaces
    elif "matchNames" in selector:
        yield from (one for one in list_at(selector, "matchNames") if isinstance(one, str))
    else:
        yield namespace
