"""ref/monitor-selects-nothing and ref/monitor-port: what a ServiceMonitor or PodMonitor asks for is not there."""

from collections.abc import Iterator
from itertools import chain
from typing import Any

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.selectors import shown
from kixbot.checks.services import ports_of
from kixbot.checks.shape import at, keyed, text
from kixbot.graph.selectors import matches
from kixbot.model.finding import Confidence, Related, Severity
from kixbot.model.resource import Resource

_GROUP = "monitoring.coreos.com"
_ENDPOINTS = {"ServiceMonitor": "endpoints", "PodMonitor": "podMetricsEndpoints"}


def _find_nothing(context: Context) -> Iterator[Hit]:
    for monitor in _monitors(context):
        # An operator labels what it makes as it likes: what is watched may be one of those.
        if not _watched(context, monitor) and not _may_be_made(context, monitor):
            kind = "Service" if monitor.ref.kind == "ServiceMonitor" else "pod"
            yield Hit(
                resource=monitor,
                path="$.spec.selector",
                message=f"{monitor.ref.plain} selector {shown(_selector(monitor))} matches no {kind} in "
                f"{_scope(monitor)}",
                hint=f"use the labels of the {kind} itself"
                + ("; a ServiceMonitor does not look at pods" if kind == "Service" else ""),
            )


def _find_port(context: Context) -> Iterator[Hit]:
    for monitor in _monitors(context):
        watched = _watched(context, monitor)
        for path, endpoint in keyed("$.spec", at(monitor.manifest, "spec"), _ENDPOINTS[monitor.ref.kind]):
            port = text(endpoint.get("port"))
            names = {name for one in watched for name in _port_names(context, one)}
            if port and watched and port not in names:
                near = context.likeness.nearest(port, names)
                yield Hit(
                    resource=monitor,
                    path=f"{path}.port",
                    message=f'{monitor.ref.plain} scrapes port "{port}", which nothing it selects declares\n'
                    f"  declared ports: {', '.join(sorted(names)) or '(none)'}",
                    hint=f'did you mean "{near}"?' if near else f"name a port {port}",
                    related=tuple(Related(ref=one.ref, note="selected", location=one.place()) for one in watched),
                )


def _monitors(context: Context) -> Iterator[Resource]:
    for kind in _ENDPOINTS:
        yield from context.of_kind(kind, _GROUP)


def _selector(monitor: Resource) -> Any:
    return at(monitor.manifest, "spec").get("selector")


def _watched(context: Context, monitor: Resource) -> list[Resource]:
    namespaces = _namespaces(monitor)
    if monitor.ref.kind == "ServiceMonitor":
        places = (context.in_namespace(one, "Service") for one in sorted(namespaces or ()))
        services = context.of_kind("Service") if namespaces is None else chain.from_iterable(places)
        return [one for one in services if matches(_selector(monitor), one.labels)]
    known = sorted({pods.resource.ref.namespace for pods in context.pods})
    found = [
        pods
        for one in known
        if namespaces is None or one in namespaces
        for pods in context.selected(one, _selector(monitor))
    ]
    return [pods.resource for pods in found]


def _namespaces(monitor: Resource) -> frozenset[str] | None:
    """Where it looks; None is everywhere."""
    selector = at(monitor.manifest, "spec", "namespaceSelector")
    if selector.get("any") is True:
        return None
    names = selector.get("matchNames")
    return frozenset(map(str, names)) if isinstance(names, list) and names else frozenset({monitor.ref.namespace})


def _scope(monitor: Resource) -> str:
    namespaces = _namespaces(monitor)
    if namespaces is None:
        return "any namespace"
    return f"namespace {', '.join(sorted(namespaces))}"


def _may_be_made(context: Context, monitor: Resource) -> bool:
    namespaces = _namespaces(monitor)
    wanted = {key: str(value) for key, value in at(monitor.manifest, "spec", "selector", "matchLabels").items()}
    where = sorted(namespaces) if namespaces is not None else sorted(context.world.namespaces)
    outside = [one for one in where if one not in context.world.namespaces]
    return bool(outside) or any(context.may_be_elsewhere(one, wanted) for one in where)


def _port_names(context: Context, resource: Resource) -> Iterator[str]:
    if resource.ref.kind == "Service":
        yield from (name for _, port in ports_of(resource) if (name := text(port.get("name"))))
    elif pods := context.pods_of(resource.ref):
        for container in pods.containers:
            yield from container.port_names()


_EXAMPLE = """\
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop, labels: {{app: web}}}}
spec: {{ports: [{{name: metrics, port: 9090}}]}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: {app}}}}}
  endpoints: [{{port: {port}}}]
"""

CHECKS: tuple[Check, ...] = (
    Check(
        id="ref/monitor-selects-nothing",
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        title="a ServiceMonitor or PodMonitor selects nothing",
        rationale=(
            "Prometheus gets no target and says nothing: alerts that compare a missing series never fire. A "
            "ServiceMonitor selects by the labels of Services, not by those of pods."
        ),
        example=Example(
            good=_EXAMPLE.format(app="web", port="metrics"), bad=_EXAMPLE.format(app="wbe", port="metrics")
        ),
        find=_find_nothing,
    ),
    Check(
        id="ref/monitor-port",
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        title="a ServiceMonitor or PodMonitor scrapes a port that is not declared",
        rationale="Ports are found by name. One that no selected Service or container names is no target.",
        example=Example(
            good=_EXAMPLE.format(app="web", port="metrics"), bad=_EXAMPLE.format(app="web", port="http-metrics")
        ),
        find=_find_port,
    ),
)
