"""What exists, as far as a build can know: its objects, what operators will make of them, and what is outside."""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.graph.creators import Created, created
from kixbot.graph.pods import Pods, find_pods
from kixbot.graph.walk import list_at, map_at
from kixbot.model.activation import GROUP as KIX_GROUP
from kixbot.model.build import Evaluated
from kixbot.model.resource import BUILTIN_GROUPS, Ref, Resource

CRD = "CustomResourceDefinition"

# What a bare control plane has from the start; names end with `*` where a prefix counts, namespace None is any.
_ALWAYS: tuple[tuple[str, str | None, tuple[str, ...]], ...] = (
    ("Namespace", "", ("default", "kube-system", "kube-public", "kube-node-lease")),
    ("ServiceAccount", None, ("default",)),
    ("ConfigMap", None, ("kube-root-ca.crt",)),
    ("ConfigMap", "kube-system", ("extension-apiserver-authentication",)),
    ("Service", "default", ("kubernetes",)),
    ("PriorityClass", "", ("system-cluster-critical", "system-node-critical")),
    ("ClusterRole", "", ("cluster-admin", "admin", "edit", "view", "system:*")),
    ("Role", "kube-system", ("extension-apiserver-authentication-reader", "system:*")),
    ("Role", "kube-public", ("system:*",)),
    (
        "PriorityLevelConfiguration",
        "",
        ("catch-all", "exempt", "global-default", "leader-election", "node-high", "system", "workload-*"),
    ),
)

# Kinds that fill a role: where the role is external, which of them exist is not known here.
_ROLE_OF_KIND = {"StorageClass": "storage", "IngressClass": "ingress", "GatewayClass": "gateway"}


class World:
    """An index over an evaluated source; built once, then only read."""

    def __init__(self, evaluated: Evaluated) -> None:
        self._evaluated = evaluated
        self._by_ref = {resource.ref: resource for resource in evaluated.resources}
        self._by_kind: dict[tuple[str, str], list[Resource]] = {}
        self._workloads: dict[str, list[tuple[Ref, Pods]]] = {}
        self._labelled: dict[tuple[str, str, str], list[tuple[Ref, Pods]]] = {}
        self._created: dict[Ref, tuple[Resource, Created]] = {}
        self._crds: dict[tuple[str, str], Resource] = {}
        self._static_classes: set[str] = set()
        for resource in evaluated.resources:
            self._index(resource)
        self.namespaces = tuple(sorted({resource.ref.namespace for resource in evaluated.resources} - {""}))

    def _index(self, resource: Resource) -> None:
        self._by_kind.setdefault((resource.ref.kind_group, resource.ref.namespace), []).append(resource)
        if pods := find_pods(resource):
            self._workloads.setdefault(resource.ref.namespace, []).append((resource.ref, pods))
            for key, value in pods.labels.items():
                label = (resource.ref.namespace, str(key), str(value))
                self._labelled.setdefault(label, []).append((resource.ref, pods))
        for made in created(resource):
            self._created.setdefault(made.ref, (resource, made))
        spec = map_at(resource.manifest, "spec")
        if resource.ref.kind_group == CRD:
            self._crds[(str(map_at(spec, "names").get("kind")), str(spec.get("group")))] = resource
        if resource.ref.kind_group == "PersistentVolume":
            self._static_classes.add(str(spec.get("storageClassName")))

    def find(self, ref: Ref) -> Resource | None:
        """The object of the build that is called so."""
        return self._by_ref.get(ref)

    def find_creator(self, ref: Ref) -> tuple[Resource, Created] | None:
        """The object of the build that makes an operator create `ref`, and what is known of it."""
        return self._created.get(ref)

    def find_service(self, name: str, namespace: str, port: int | None = None) -> Ref | None:
        """What brings up the Service of this name: itself or the object whose operator creates it.

        With `port` only a Service that has it; of one that an operator creates the ports are not known.
        """
        ref = Ref(kind="Service", group="", namespace=namespace, name=name)
        if (service := self._by_ref.get(ref)) is not None:
            named = any(map_at(one).get("port") == port for one in list_at(service.manifest, "spec", "ports"))
            return ref if port is None or named else None
        maker = self._created.get(ref)
        return maker[0].ref if maker else None

    def find_crd(self, kind: str, group: str) -> Resource | None:
        """The CRD of the build that serves a custom kind."""
        return self._crds.get((kind, group))

    def of_kind(self, kind_group: str, namespace: str) -> list[Resource]:
        """The objects of a kind (`Kind` or `Kind.group`) in a namespace, "" for cluster-scoped ones."""
        return self._by_kind.get((kind_group, namespace), [])

    def workloads(self, namespace: str) -> Iterator[tuple[Ref, Pods]]:
        """Everything in a namespace that carries pods."""
        yield from self._workloads.get(namespace, ())

    def candidates(self, namespace: str, labels: Mapping[str, Any]) -> Iterator[tuple[Ref, Pods]]:
        """The workloads of a namespace that carry the rarest of `labels`: all that a selector of them can select.

        Without labels all of them. This is what keeps many Services of one namespace from costing their square.
        """
        if not labels:
            yield from self.workloads(namespace)
            return
        held = (self._labelled.get((namespace, str(key), str(value)), []) for key, value in labels.items())
        yield from min(held, key=len)

    def namespace_labels(self, namespace: str) -> Mapping[str, str]:
        """The labels of a Namespace object of the build, empty when there is none."""
        found = self._by_ref.get(Ref(kind="Namespace", group="", namespace="", name=namespace))
        return found.labels if found else {}

    def scoped(self, ref: Ref) -> Ref:
        """`ref` without its namespace where the CRD of its kind says cluster-scoped."""
        crd = self._crds.get((ref.kind, ref.group))
        if crd is not None and map_at(crd.manifest, "spec").get("scope") == "Cluster":
            return Ref(kind=ref.kind, group=ref.group, namespace="", name=ref.name)
        return ref

    def is_outside(self, ref: Ref) -> bool:
        """Whether `ref`, which is not in the build, exists or may exist outside: then nothing can be said of it."""
        facts = self._evaluated.cluster
        if ref.kind in facts.external_kinds or ref.group == KIX_GROUP:
            return True
        if facts.custom_kinds_external and self._is_foreign(ref):
            return True
        role = facts.roles.get(_ROLE_OF_KIND.get(ref.kind, ""))
        if role is not None and role.kind == "external":
            return True
        listed = {
            "StorageClass": facts.storage_classes,
            "IngressClass": facts.ingress_classes,
            "PriorityClass": facts.priority_classes,
            "RuntimeClass": facts.runtime_classes,
        }.get(ref.kind, ())
        # A claim may bind to a PersistentVolume by a class name that no StorageClass has.
        static = ref.kind == "StorageClass" and ref.name in self._static_classes
        return ref.name in listed or static or _always(ref) or self._declared(ref)

    def _is_foreign(self, ref: Ref) -> bool:
        return ref.group not in BUILTIN_GROUPS and (ref.kind, ref.group) not in self._crds

    def _declared(self, ref: Ref) -> bool:
        return any(
            one.kind == ref.kind
            and one.name == ref.name
            and one.group in (None, ref.group)
            and one.namespace in (None, ref.namespace)
            for one in self._evaluated.externals
        )

    def is_served(self, group: str) -> bool:
        """Whether kinds of a custom group are served without a CRD in the build."""
        facts = self._evaluated.cluster
        if facts.custom_kinds_external or CRD in facts.external_kinds or group == KIX_GROUP:
            return True
        if any(one.kind == CRD and one.name.partition(".")[2] == group for one in self._evaluated.externals):
            return True
        services = self.of_kind("APIService", "")
        return any(map_at(one.manifest, "spec").get("group") == group for one in services)


def _always(ref: Ref) -> bool:
    if ref.group not in BUILTIN_GROUPS:
        return False
    return any(
        kind == ref.kind and namespace in (None, ref.namespace) and any(_named(ref.name, one) for one in names)
        for kind, namespace, names in _ALWAYS
    )


def _named(name: str, pattern: str) -> bool:
    return name.startswith(pattern[:-1]) if pattern.endswith("*") else name == pattern
