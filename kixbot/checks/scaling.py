"""How many pods a workload has at least and at most: its replicas, or what an autoscaler makes of them."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kixbot.checks.shape import at, text
from kixbot.model.resource import Ref, Resource, split_api_version

SCALED = frozenset({"Deployment", "StatefulSet", "ReplicaSet", "ReplicationController", "Rollout"})
"""Kinds whose `spec.replicas` counts their pods."""
_MAKERS = {"HorizontalPodAutoscaler": "autoscaling", "ScaledObject": "keda.sh"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Scaler:
    """An autoscaler with what it scales; `most` is None where it is not written."""

    resource: Resource
    target: Ref
    least: int
    most: int | None


def is_scaler(resource: Resource) -> bool:
    """Whether the object is a HorizontalPodAutoscaler or what makes KEDA create one."""
    return _MAKERS.get(resource.ref.kind) == resource.ref.group


def find_scalers(resources: Iterable[Resource]) -> Iterator[Scaler]:
    """The autoscalers among `resources`."""
    for resource in resources:
        spec = at(resource.manifest, "spec")
        target = at(spec, "scaleTargetRef")
        if not is_scaler(resource) or not text(target.get("name")):
            continue
        keda = resource.ref.kind == "ScaledObject"
        default = ("apps/v1", "Deployment") if keda else ("", "")
        group, _ = split_api_version(text(target.get("apiVersion")) or default[0])
        least, most = ("minReplicaCount", "maxReplicaCount") if keda else ("minReplicas", "maxReplicas")
        yield Scaler(
            resource=resource,
            target=Ref(text(target.get("kind")) or default[1], group, resource.ref.namespace, text(target.get("name"))),
            least=_count(spec, least, 0 if keda else 1),
            most=_count(spec, most, 100) if keda or most in spec else None,
        )


def replicas_of(resource: Resource) -> int | None:
    """The replicas a workload asks for, 1 where it does not say; None for a kind that has none."""
    if resource.ref.kind not in SCALED:
        return None
    return _count(at(resource.manifest, "spec"), "replicas", 1)


def _count(spec: Mapping[str, Any], field: str, default: int) -> int:
    value = spec.get(field, default)
    return value if isinstance(value, int) and not isinstance(value, bool) else default
