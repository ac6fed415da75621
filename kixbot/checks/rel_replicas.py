"""Rules about how many pods serve, where they run, and how they are replaced."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.pods import Pods
from kixbot.checks.services import backends
from kixbot.checks.shape import at, keyed, text
from kixbot.model.finding import Confidence, Severity
from kixbot.model.resource import Ref

_KINDS = frozenset({"Deployment", "StatefulSet", "Rollout"})
_OPEN = frozenset({"LoadBalancer", "NodePort"})


def _open_services(context: Context) -> frozenset[Ref]:
    """Services that people reach from outside: by an Ingress, a route, a load balancer or a node port."""
    routed = {
        Ref("Service", "", one.namespace, one.name)
        for one in backends(context)
        if one.source.ref.group in {"networking.k8s.io", "gateway.networking.k8s.io"}
    }
    exposed = {one.ref for one in context.of_kind("Service") if text(at(one.manifest, "spec").get("type")) in _OPEN}
    return frozenset(routed | exposed)


def _find_one(context: Context) -> Iterator[Hit]:
    outside = _open_services(context)
    for pods in context.pods:
        if pods.resource.ref.kind not in _KINDS or context.least_replicas(pods.resource) != 1:
            continue
        service = next((one for one in context.services_of(pods) if one.ref in outside), None)
        if service is not None and not _keeps_data(pods):
            yield Hit(
                resource=pods.resource,
                path="$.spec.replicas",
                message=f"{pods.resource.ref.plain} serves {service.ref.plain}, which is reached from outside, with 1 "
                "replica",
                hint="run 2 or more, or give its autoscaler a minimum of 2",
            )


def _keeps_data(pods: Pods) -> bool:
    """Whether the pods hold a claim: more of them are then another program's question."""
    claims = (at(volume, "persistentVolumeClaim") for _, volume in keyed("", pods.spec, "volumes"))
    return any(claims) or pods.resource.ref.kind == "StatefulSet"


def _find_together(context: Context) -> Iterator[Hit]:
    for pods in context.pods:
        least = context.least_replicas(pods.resource)
        if pods.resource.ref.kind in _KINDS and least is not None and least > 1 and not pods.is_spread:
            yield Hit(
                resource=pods.resource,
                path=f"{pods.spec_path}.topologySpreadConstraints",
                message=f"{pods.resource.ref.plain} runs {least} replicas, which may all be put on one node",
                hint="add topologySpreadConstraints over kubernetes.io/hostname or topology.kubernetes.io/zone",
            )


def _find_update(context: Context) -> Iterator[Hit]:
    for pods in context.pods:
        if pods.resource.ref.kind != "Deployment" or not context.services_of(pods) or _keeps_data(pods):
            continue
        strategy = at(pods.resource.manifest, "spec", "strategy")
        least = context.least_replicas(pods.resource) or 0
        if strategy.get("type") == "Recreate" and least > 1:
            yield Hit(
                resource=pods.resource,
                path="$.spec.strategy.type",
                message=f"{pods.resource.ref.plain} stops all of its {least} replicas before it starts new ones",
                hint="use type: RollingUpdate, unless two versions cannot run side by side",
            )


def _find_naked(context: Context) -> Iterator[Hit]:
    for pod in context.of_kind("Pod"):
        if not at(pod.manifest, "metadata").get("ownerReferences"):
            yield Hit(
                resource=pod,
                message=f"{pod.ref.plain} has no controller: when its node goes, nothing starts it again",
                hint="use a Deployment, or a Job for what runs to an end",
            )


_SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {type: LoadBalancer, selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
---
"""
_WORKLOAD = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  replicas: {replicas}
  strategy: {{type: {strategy}}}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
{spread}      containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]
"""
_SPREAD = """\
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector: {matchLabels: {app: web}}
"""


def _workload(replicas: int = 2, strategy: str = "RollingUpdate", spread: str = "") -> str:
    return _SERVICE + _WORKLOAD.format(replicas=replicas, strategy=strategy, spread=spread)


_POD = "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\nspec:\n  containers: [%s]\n"
_ONE = '{name: web, image: "ghcr.io/acme/web:1.5.0"}'

CHECKS: tuple[Check, ...] = (
    Check(
        id="rel/one-replica",
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        title="what people reach from outside has one replica",
        rationale=(
            "While its node is drained, or its one pod restarts, nobody is served. Judged are workloads behind an "
            "Ingress, a route, a load balancer or a node port, which keep no data of their own."
        ),
        example=Example(good=_workload(2), bad=_workload(1)),
        find=_find_one,
        on=("Deployment", "StatefulSet"),
    ),
    Check(
        id="rel/spread",
        severity=Severity.WARNING,
        title="replicas may all run on one node",
        rationale=(
            "The scheduler prefers to spread pods but does not have to: one node may hold all replicas and take them "
            "along when it fails. A topology spread constraint or a pod anti-affinity keeps them apart."
        ),
        example=Example(good=_workload(spread=_SPREAD), bad=_workload()),
        find=_find_together,
        on=("Deployment", "StatefulSet"),
    ),
    Check(
        id="rel/recreate",
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        title="a Deployment behind a Service stops all pods to replace them",
        rationale=(
            "Between the last old pod and the first new one that is ready the Service has no endpoint. It is meant "
            "where pods share a claim, and those are left alone."
        ),
        example=Example(good=_workload(), bad=_workload(strategy="Recreate")),
        find=_find_update,
        on=("Deployment", "StatefulSet"),
    ),
    Check(
        id="rel/naked-pod",
        severity=Severity.WARNING,
        title="a pod without a controller",
        rationale="A Pod object is bound to one node for its life. No controller replaces it, scales it or updates it.",
        example=Example(good=_workload().removeprefix(_SERVICE), bad=_POD % _ONE),
        find=_find_naked,
        on=("Pod",),
    ),
)
