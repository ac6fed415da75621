"""Pods that a build makes: of every object that carries a pod template, and of operators' resources by their labels."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kixbot.checks.shape import NOTHING, at, keyed, labels, text
from kixbot.graph import pods as carried
from kixbot.graph.walk import written
from kixbot.model.resource import Resource

BATCH_KINDS = frozenset({("batch", "Job"), ("batch", "CronJob")})


Role = Literal["initContainers", "containers", "ephemeralContainers"]
_ROLES: tuple[Role, ...] = ("initContainers", "containers", "ephemeralContainers")


@dataclass(frozen=True, slots=True, kw_only=True)
class Container:
    """One container of a pod template. `path` ends in `containers[web]`; `role` tells which list it stands in."""

    name: str
    body: Mapping[str, Any]
    path: str
    role: Role

    @property
    def lasts(self) -> bool:
        """Whether it runs while the pod does: an ordinary container, or a sidecar among the init containers."""
        return self.role == "containers" or self.body.get("restartPolicy") == "Always"

    def port_names(self) -> frozenset[str]:
        """Names of its declared ports."""
        return frozenset(text(port.get("name")) for _, port in keyed("", self.body, "ports")) - {""}

    def number_of(self, name: str) -> int | None:
        """The number of its port of that name."""
        found = (port.get("containerPort") for _, port in keyed("", self.body, "ports") if port.get("name") == name)
        return next((number for number in found if isinstance(number, int)), None)

    def port_numbers(self) -> frozenset[int]:
        """Numbers of its declared ports."""
        numbers = (port.get("containerPort") for _, port in keyed("", self.body, "ports"))
        return frozenset(number for number in numbers if isinstance(number, int))


@dataclass(frozen=True, slots=True, kw_only=True)
class Pods:
    """The pods of one object: labels that all of them carry, and the pod spec where the object holds one.

    `path` is that of the template (`$.spec.template`, `$` for a Pod). `spec` is empty for an operator's pods, of which
    only the labels are known; `generated` are label keys whose values the operator sets at run time. `containers` are
    init, ordinary and ephemeral ones.
    """

    resource: Resource
    path: str
    labels: Mapping[str, str]
    generated: frozenset[str] = frozenset()
    spec: Mapping[str, Any]
    containers: tuple[Container, ...] = ()

    @property
    def spec_path(self) -> str:
        """Where the pod spec stands."""
        return f"{self.path}.spec"

    @property
    def labels_path(self) -> str:
        """Where the pod labels stand."""
        return f"{self.path}.metadata.labels"

    @property
    def is_batch(self) -> bool:
        """Whether the pods run to an end: those of Jobs and CronJobs."""
        return (self.resource.ref.group, self.resource.ref.kind) in BATCH_KINDS

    @property
    def is_opaque(self) -> bool:
        """Whether only the operator knows the pod spec."""
        return not self.spec

    @property
    def is_spread(self) -> bool:
        """Whether the pods are kept apart: over nodes or zones, wanted or demanded."""
        apart = at(self.spec, "affinity", "podAntiAffinity")
        return bool(self.spec.get("topologySpreadConstraints")) or any(apart.values())


def _cnpg_cluster(body: Mapping[str, Any], name: str) -> tuple[dict[str, str], frozenset[str]]:
    # https://cloudnative-pg.io/documentation/current/labels_annotations/
    fixed = {"cnpg.io/cluster": name} | labels(at(body, "spec", "inheritedMetadata").get("labels"))
    return fixed, frozenset({"cnpg.io/podRole", "cnpg.io/instanceName", "cnpg.io/instanceRole", "role"})


def _cnpg_pooler(body: Mapping[str, Any], name: str) -> tuple[dict[str, str], frozenset[str]]:
    return {"cnpg.io/poolerName": name} | labels(at(body, "spec", "template", "metadata").get("labels")), frozenset()


def _monitoring(body: Mapping[str, Any], name: str) -> tuple[dict[str, str], frozenset[str]]:
    # The labels of prometheus-operator's stateful sets: kind in lower case, and the recommended ones.
    kind = text(body.get("kind")).lower()
    fixed = {
        kind: name,
        "app.kubernetes.io/name": kind,
        "app.kubernetes.io/instance": name,
        "app.kubernetes.io/managed-by": "prometheus-operator",
    }
    extra = labels(at(body, "spec", "podMetadata").get("labels"))
    return extra | fixed, frozenset({"operator.prometheus.io/name", "operator.prometheus.io/shard"})


_Labels = Callable[[Mapping[str, Any], str], tuple[dict[str, str], frozenset[str]]]

_OPERATORS: dict[str, _Labels] = {
    "Alertmanager.monitoring.coreos.com": _monitoring,
    "Cluster.postgresql.cnpg.io": _cnpg_cluster,
    "Pooler.postgresql.cnpg.io": _cnpg_pooler,
    "Prometheus.monitoring.coreos.com": _monitoring,
}
"""Custom resources whose operator makes pods without showing their template: how those pods are labelled."""


def find_pods(resource: Resource) -> Pods | None:
    """The pods an object makes, None where it makes none."""
    if operator := _OPERATORS.get(resource.ref.kind_group):
        fixed, generated = operator(resource.manifest, resource.ref.name)
        return Pods(resource=resource, path="$", labels=fixed, generated=generated, spec=NOTHING)
    found = carried.find_pods(resource)
    if found is None:
        return None
    path = written(resource.manifest, found.at)
    return Pods(
        resource=resource,
        path=path,
        labels=labels(found.labels),
        spec=found.spec,
        containers=tuple(_containers(f"{path}.spec", found.spec)),
    )


def _containers(path: str, spec: Mapping[str, Any]) -> Iterator[Container]:
    for role in _ROLES:
        for where, body in keyed(path, spec, role):
            yield Container(name=text(body.get("name")), body=body, path=where, role=role)
