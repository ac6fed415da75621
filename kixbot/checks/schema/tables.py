"""The fields of built-in kinds in each minor version of Kubernetes, out of `builtin.json`.

Reading the whole document takes about 3 ms; types become nodes when a body first has one.
"""

import json
import pkgutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from kixbot.checks.schema.node import Judge, Kind, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Served:
    """A kind: its type, whether it is namespaced (None: unknown), the first and the last version that serve it."""

    type: str
    namespaced: bool | None
    first: str
    last: str


@cache
def _document() -> Mapping[str, Any]:
    found = pkgutil.get_data(__package__, "builtin.json")
    assert found is not None, "builtin.json is part of the package"
    document: Mapping[str, Any] = json.loads(found)
    return document


def versions() -> tuple[str, ...]:
    """The versions that are known, oldest first."""
    return tuple(_document()["versions"])


def nearest(version: str) -> str:
    """The known version that speaks for this one: itself, or the oldest or newest known."""
    known = versions()
    if version in known:
        return version
    major, _, minor = version.partition(".")
    numbers = (int(major), int(minor)) if major.isdigit() and minor.isdigit() else (1, 0)
    return known[0] if numbers < (1, int(known[0].partition(".")[2])) else known[-1]


def find_served(api_version: str, kind: str) -> Served | None:
    """Where a kind was or is served, in whichever version."""
    found = _document()["kinds"].get(api_version, {}).get(kind)
    if found is None:
        return None
    name, namespaced, first, last = found
    known = versions()
    return Served(type=name, namespaced=namespaced, first=known[first], last=known[last])


def api_versions_of(kind: str, version: str) -> tuple[str, ...]:
    """The apiVersions under which a version of Kubernetes serves a kind, stable ones first."""
    at = versions().index(version)
    found = [
        api_version
        for api_version, kinds in _document()["kinds"].items()
        if kind in kinds and kinds[kind][2] <= at <= kinds[kind][3]
    ]
    return tuple(sorted(found, key=lambda name: ("alpha" in name or "beta" in name, name)))


def kinds_in(api_version: str, version: str) -> tuple[str, ...]:
    """The kinds that an apiVersion has in a version of Kubernetes."""
    at = versions().index(version)
    kinds = _document()["kinds"].get(api_version, {})
    return tuple(kind for kind, (_, _, first, last) in kinds.items() if first <= at <= last)


class Tables:
    """The types of one version of Kubernetes. `judges` are the API server's own rules by type and field.

    A rule under (`core.v1.Container`, "") sees the whole object, one under (`core.v1.Container`, `image`) the field.
    """

    def __init__(self, version: str, judges: Mapping[tuple[str, str], tuple[Judge, ...]] | None = None) -> None:
        document = _document()
        self.version = nearest(version)
        self._at = versions().index(self.version)
        self._shapes: list[Mapping[str, Any]] = document["shapes"]
        self._types: Mapping[str, Mapping[str, Any]] = document["types"]
        self._judges = judges or {}
        self._nodes: dict[int, Node] = {}
        self._objects: dict[tuple[str, bool], Node] = {}
        self._fields: dict[str, Mapping[str, Node]] = {}

    def find(self, api_version: str, kind: str) -> Node | None:
        """The node of a kind that this version serves."""
        found = _document()["kinds"].get(api_version, {}).get(kind)
        if found is None or not found[2] <= self._at <= found[3]:
            return None
        return self.type(found[0])

    def type(self, name: str) -> Node:
        """The node of a type by its name, such as `core.v1.PodSpec`."""
        return self._object(name)

    def _object(self, name: str) -> Node:
        known = self._objects.get((name, False))
        if known is None:
            required = tuple(
                field for field, number in self._current(name).items() if "r" in self._shapes[number]
            )  # fmt: skip
            known = self._objects[name, False] = Node(
                kind="object",
                name=name,
                fields=lambda: self._fields_of(name),
                required=tuple(field for field in required if (name, field) not in LENIENT),
                judges=self._judges.get((name, ""), ()),
            )
        return known

    def _current(self, name: str) -> Mapping[str, int]:
        """A type's fields in this version: name to number of shape."""
        found = {}
        for field, number in self._types[name].items():
            if isinstance(number, int):
                found[field] = number
            else:
                for first, last, one in number:
                    if first <= self._at <= last:
                        found[field] = one
        return found

    def _fields_of(self, name: str) -> Mapping[str, Node]:
        known = self._fields.get(name)
        if known is None:
            known = {}
            for field, number in self._current(name).items():
                judges = self._judges.get((name, field), ())
                default = _DEFAULTS.get(field if field == "protocol" else f"{name}.{field}")
                known[field] = (
                    self._special(number, judges, default, place=(name, field))
                    if judges or default is not None or (name, field) in _FREE | BLANK
                    else self._shape(number)
                )
            self._fields[name] = known
        return known

    def _shape(self, number: int) -> Node:
        known = self._nodes.get(number)
        if known is None:
            known = self._nodes[number] = self._special(number, (), None)
        return known

    def _special(
        self, number: int, judges: tuple[Judge, ...], default: Any, *, place: tuple[str, str] = ("", "")
    ) -> Node:
        shape = self._shapes[number]
        kind = shape["t"]
        if kind == "ref":
            node = self._object(shape["n"])
            return _with_judges(node, judges) if judges else node
        item = self._shape(shape["i"]) if "i" in shape else None
        return Node(
            kind=_plain(kind),
            item=item,
            keys=tuple(shape.get("k", ())),
            unique="s" in shape,
            allowed=() if place in _FREE else (*shape.get("e", ()), *[""] * (place in BLANK and "e" in shape)),
            open=kind == "object",
            default=default,
            judges=judges,
        )


_DEFAULTS = {"protocol": "TCP", "core.v1.LocalObjectReference.name": ""}
"""Keys of keyed lists that the API server fills in before it compares items."""


def _plain(kind: Kind) -> Kind:
    return kind


def _with_judges(node: Node, judges: tuple[Judge, ...]) -> Node:
    return Node(
        kind=node.kind, name=node.name, fields=node.fields, required=node.required, judges=(*node.judges, *judges)
    )


_FREE = frozenset({("core.v1.LimitRangeItem", "type")})
"""Fields that take other values too than the published ones."""

BLANK = frozenset(
    {
        ("apps.v1.DaemonSetUpdateStrategy", "type"),
        ("apps.v1.DeploymentStrategy", "type"),
        ("apps.v1.StatefulSetSpec", "podManagementPolicy"),
        ("apps.v1.StatefulSetUpdateStrategy", "type"),
        ("batch.v1.CronJobSpec", "concurrencyPolicy"),
        ("core.v1.Container", "imagePullPolicy"),
        ("core.v1.Container", "terminationMessagePolicy"),
        ("core.v1.ContainerPort", "protocol"),
        ("core.v1.EmptyDirVolumeSource", "medium"),
        ("core.v1.HTTPGetAction", "scheme"),
        ("core.v1.HostPathVolumeSource", "type"),
        ("core.v1.PersistentVolumeSpec", "persistentVolumeReclaimPolicy"),
        ("core.v1.PodSpec", "dnsPolicy"),
        ("core.v1.PodSpec", "restartPolicy"),
        ("core.v1.ServicePort", "protocol"),
        ("core.v1.ServiceSpec", "externalTrafficPolicy"),
        ("core.v1.ServiceSpec", "sessionAffinity"),
        ("core.v1.ServiceSpec", "type"),
        ("core.v1.Toleration", "effect"),
        ("core.v1.Toleration", "operator"),
        ("storage.v1.StorageClass", "reclaimPolicy"),
    }
)
"""Fields of few values in which the empty text reads as absent (seen on 1.34)."""

LENIENT: frozenset[tuple[str, str]] = frozenset(
    {
        ("resource.v1.DeviceClass", "spec"),
        ("resource.v1.ResourceClaim", "spec"),
        ("resource.v1.ResourceClaimTemplate", "spec"),
        ("resource.v1.ResourceClaimTemplateSpec", "spec"),
        ("resource.v1beta1.DeviceClass", "spec"),
        ("resource.v1beta1.ResourceClaim", "spec"),
        ("resource.v1beta1.ResourceClaimTemplate", "spec"),
        ("resource.v1beta1.ResourceClaimTemplateSpec", "spec"),
        ("resource.v1beta2.DeviceClass", "spec"),
        ("resource.v1beta2.ResourceClaim", "spec"),
        ("resource.v1beta2.ResourceClaimTemplate", "spec"),
        ("resource.v1beta2.ResourceClaimTemplateSpec", "spec"),
        ("storage.v1.CSINode", "spec"),
        ("storage.v1.CSINodeSpec", "drivers"),
        ("apps.v1.ControllerRevision", "revision"),
        ("apiextensions.v1.CustomResourceDefinitionVersion", "served"),
        ("batch.v1.PodFailurePolicy", "rules"),
        ("batch.v1.PodFailurePolicyOnPodConditionsPattern", "status"),
        ("batch.v1.PodFailurePolicyRule", "onPodConditions"),
        ("apps.v1.StatefulSetSpec", "serviceName"),
        ("core.v1.HTTPHeader", "value"),
        ("core.v1.LimitRangeSpec", "limits"),
        ("core.v1.PreferredSchedulingTerm", "preference"),
        ("core.v1.SleepAction", "seconds"),
        ("core.v1.Sysctl", "value"),
        ("core.v1.TypedLocalObjectReference", "kind"),
        ("core.v1.TypedLocalObjectReference", "name"),
        ("discovery.v1.EndpointSlice", "endpoints"),
        ("rbac.v1.RoleRef", "apiGroup"),
        ("scheduling.v1.PriorityClass", "value"),
        ("storage.v1.CSIDriver", "spec"),
        ("storage.v1.TokenRequest", "audience"),
    }
)
"""Fields that the published schema requires and the API server does without (seen on 1.34)."""
