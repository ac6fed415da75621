"""What rules look things up in: indexes over one build, made once."""

from collections import defaultdict
from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from datetime import date
from functools import cached_property

from kixbot.checks.likeness import Likeness
from kixbot.checks.pods import Pods, find_pods
from kixbot.checks.scaling import Scaler, find_scalers, replicas_of
from kixbot.checks.selectors import compact, differences
from kixbot.checks.shape import labels, mapping, mappings, text
from kixbot.graph.creators import created
from kixbot.graph.selectors import equal_labels, matches
from kixbot.graph.world import World
from kixbot.model.activation import GROUP as KIX_GROUP
from kixbot.model.build import Build, External, Suppression
from kixbot.model.pin import Pin, Pins
from kixbot.model.resource import BUILTIN_GROUPS, Location, Ref, Resource

WORKLOADS = frozenset(
    {"Deployment", "StatefulSet", "DaemonSet", "ReplicaSet", "ReplicationController", "Job", "Pod", "Rollout"}
)
INSTANCE_LABEL = "app.kubernetes.io/instance"


@dataclass(frozen=True, slots=True, kw_only=True)
class Near:
    """Pods that a selector misses narrowly."""

    pods: Pods
    differing: int

    @property
    def shown(self) -> str:
        """`Deployment shop/web {"app":"web"}`."""
        return f"{self.pods.resource.ref.plain} {compact(self.pods.labels)}"

    @property
    def place(self) -> Location | None:
        """Where the labels of these pods were written."""
        return self.pods.resource.place(self.pods.labels_path)


class Context:
    """A build with its indexes, the pins it was built with and the day on which it is judged.

    `today` is None where no day is known: then no suppression is expired.
    """

    def __init__(self, build: Build, *, pins: Pins | None = None, today: date | None = None) -> None:
        self.build = build
        self.cluster = build.cluster
        self.resources = build.resources
        self.by_ref: Mapping[Ref, Resource] = build.by_ref
        self.world = World(build.evaluated)
        self.likeness = Likeness()
        self.today = today
        self.unused_suppressions: tuple[Suppression, ...] = ()
        self._by_kind: defaultdict[tuple[str, str], list[Resource]] = defaultdict(list)
        self._by_place: defaultdict[tuple[str, str, str], list[Resource]] = defaultdict(list)
        for resource in build.resources:
            self._by_kind[resource.ref.group, resource.ref.kind].append(resource)
            self._by_place[resource.ref.group, resource.ref.kind, resource.ref.namespace].append(resource)
        self.pods = tuple(pods for resource in build.resources if (pods := find_pods(resource)))
        self._pods_by_ref = {pods.resource.ref: pods for pods in self.pods}
        self._names: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
        self._namespaces: defaultdict[tuple[str, str, str], list[str]] = defaultdict(list)
        self._custom: defaultdict[str, set[str]] = defaultdict(set)
        self._all_custom: defaultdict[str, set[str]] = defaultdict(set)
        for resource in build.resources:
            self._name(resource)
        self._pods_by_namespace: defaultdict[str, list[Pods]] = defaultdict(list)
        self._pods_by_label: defaultdict[tuple[str, str, str], list[Pods]] = defaultdict(list)
        for pods in self.pods:
            self._pods_by_namespace[pods.resource.ref.namespace].append(pods)
            for key, value in pods.labels.items():
                self._pods_by_label[pods.resource.ref.namespace, key, value].append(pods)
        self._operated = {pods.resource.ref.namespace for pods in self.pods if pods.generated}
        self._pin_by_digest: dict[str, Pin] = {pin.digest: pin for pin in (pins or Pins()).pins.values()}

    def _name(self, resource: Resource) -> None:
        ref = resource.ref
        self._namespaces[ref.group, ref.kind, ref.name].append(ref.namespace)
        for one in (ref, *(made.ref for made in created(resource))):
            self._names[one.group, one.kind, one.namespace].add(one.name)
        if ref.group not in BUILTIN_GROUPS and ref.group != KIX_GROUP:
            self._all_custom[ref.namespace].add(ref.name)
            if ref not in self._pods_by_ref:
                self._custom[ref.namespace].add(ref.name)

    def after(self, unused: tuple[Suppression, ...]) -> "Context":
        """The same context for rules that judge suppressions, with those that silenced nothing."""
        later = copy(self)
        later.unused_suppressions = unused
        return later

    def of_kind(self, kind: str, group: str = "") -> tuple[Resource, ...]:
        """All resources of a kind, in the build's order."""
        return tuple(self._by_kind.get((group, kind), ()))

    def in_namespace(self, namespace: str, kind: str, group: str = "") -> tuple[Resource, ...]:
        """All resources of a kind in one namespace."""
        return tuple(self._by_place.get((group, kind, namespace), ()))

    def begins_custom(self, namespace: str, name: str) -> bool:
        """Whether `name` begins like a custom resource of the namespace, whose operator may make it."""
        custom = self._all_custom.get(namespace, set())
        return any(name[:length] in custom for length in range(1, len(name) + 1)) if custom else False

    def find(self, kind: str, name: str, namespace: str = "", group: str = "") -> Resource | None:
        """One resource by what it is called."""
        return self.by_ref.get(Ref(kind, group, namespace, name))

    def find_external(self, ref: Ref) -> External | None:
        """The declaration that `ref` exists outside the build. One without a namespace speaks for all of them."""
        for one in self.build.evaluated.externals:
            named = (one.kind, one.name) == (ref.kind, ref.name)
            if named and one.namespace in {None, ref.namespace} and one.group in {None, ref.group}:
                return one
        return None

    def names_of(self, ref: Ref) -> tuple[str, ...]:
        """Names of the kind and namespace of `ref` that exist: what a misspelt reference may have meant.

        Besides the build's own these are what operators will create and what the cluster brings.
        """
        facts = {
            "StorageClass": self.cluster.storage_classes,
            "IngressClass": self.cluster.ingress_classes,
            "PriorityClass": self.cluster.priority_classes,
            "RuntimeClass": self.cluster.runtime_classes,
        }
        names = self._names.get((ref.group, ref.kind, ref.namespace), set())
        return tuple(sorted({*names, *facts.get(ref.kind, ())}))

    def namespaces_with(self, ref: Ref) -> tuple[str, ...]:
        """Other namespaces that hold an object of this kind and name."""
        there = self._namespaces.get((ref.group, ref.kind, ref.name), ())
        return tuple(namespace for namespace in there if namespace != ref.namespace)

    def pods_of(self, ref: Ref) -> Pods | None:
        """The pods that one object makes."""
        return self._pods_by_ref.get(ref)

    def pods_in(self, namespace: str) -> tuple[Pods, ...]:
        """All pods of a namespace."""
        return tuple(self._pods_by_namespace.get(namespace, ()))

    def selected(self, namespace: str, selector: object) -> tuple[Pods, ...]:
        """The pods of a namespace that a `LabelSelector` accepts, in the build's order; none for an absent one."""
        wanted = labels(mapping(selector).get("matchLabels"))
        # What the controller adds itself is in no template, and so in no index.
        fixed = [item for item in wanted.items() if not equal_labels(dict([item]), {})]
        candidates = self._pods_by_namespace.get(namespace, [])
        if fixed and namespace not in self._operated:
            candidates = min((self._pods_by_label.get((namespace, *item), []) for item in fixed), key=len)
        return tuple(pods for pods in candidates if accepts(selector, pods))

    def selected_elsewhere(self, namespace: str, selector: object) -> Pods | None:
        """Pods that the selector would accept if they were not in another namespace; the first in order."""
        others = (other for other in sorted(self._pods_by_namespace) if other != namespace)
        return next((pods for other in others for pods in self.selected(other, selector)), None)

    @cached_property
    def definition(self) -> Location | None:
        """The file of a Nix definition: where to look for what stands in no file of the tree, a library object say."""
        source = self.build.evaluated.source
        return Location(file=source.path) if source.kind == "nix" and source.path else None

    @cached_property
    def scalers(self) -> Mapping[Ref, tuple[Scaler, ...]]:
        """Autoscalers by what they scale."""
        found: defaultdict[Ref, list[Scaler]] = defaultdict(list)
        for scaler in find_scalers(self.resources):
            found[scaler.target].append(scaler)
        return {target: tuple(scalers) for target, scalers in found.items()}

    def least_replicas(self, workload: Resource) -> int | None:
        """How many pods a workload has at least, with its autoscaler; None for a kind without a count."""
        scalers = self.scalers.get(workload.ref, ())
        return min(scaler.least for scaler in scalers) if scalers else replicas_of(workload)

    @cached_property
    def _services(self) -> Mapping[Ref, tuple[Resource, ...]]:
        found: defaultdict[Ref, list[Resource]] = defaultdict(list)
        for service in self.of_kind("Service"):
            spec = mapping(service.manifest.get("spec"))
            wanted = {} if spec.get("type") == "ExternalName" else labels(spec.get("selector"))
            for pods in self.selected(service.ref.namespace, {"matchLabels": wanted}) if wanted else ():
                found[pods.resource.ref].append(service)
        return {ref: tuple(services) for ref, services in found.items()}

    def services_of(self, pods: Pods) -> tuple[Resource, ...]:
        """The Services that send traffic to these pods."""
        return self._services.get(pods.resource.ref, ())

    def nearest(self, namespace: str, labels: Mapping[str, str]) -> Near | None:
        """The lasting pods that miss these labels most narrowly, None where none is near."""
        best: Near | None = None
        for pods in self._pods_by_namespace.get(namespace, ()):
            if not self.likeness.may_look():
                break
            count = None if pods.is_batch else differences(labels, pods.labels, self.likeness)
            if count is not None and (best is None or count < best.differing):
                best = Near(pods=pods, differing=count)
        return best

    def may_be_elsewhere(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Whether the pods meant may come from elsewhere.

        An operator may make them, where a custom resource is called like one of the labels; or a workload of this
        namespace is declared to exist outside.
        """
        if any(one.kind in WORKLOADS and one.namespace in {None, namespace} for one in self.build.evaluated.externals):
            return True
        return not self._custom.get(namespace, set()).isdisjoint(labels.values())

    def find_pin(self, image: str) -> Pin | None:
        """The pin that an image reference comes from, by its digest."""
        return self._pin_by_digest.get(image.partition("@")[2])


def package_of(resource: Resource) -> str | None:
    """`namespace/name` of the package instance, else of the instance label; None for a loose resource."""
    if resource.package:
        return resource.package
    instance = text(mapping(resource.labels).get(INSTANCE_LABEL))
    return f"{resource.ref.namespace or '(cluster)'}/{instance}" if instance else None


def prefix_of(resource: Resource) -> str:
    """`[web]`: the package instance, else the resource's name."""
    package = package_of(resource)
    return f"[{package.rpartition('/')[2] if package else resource.ref.name}]"


def accepts(selector: object, pods: Pods) -> bool:
    """Whether pods are selected; labels that an operator adds to them have values that nobody knows beforehand."""
    if pods.generated and isinstance(selector, Mapping):
        wanted = {key: value for key, value in labels(selector.get("matchLabels")).items() if key not in pods.generated}
        rules = [rule for rule in mappings(selector.get("matchExpressions")) if rule.get("key") not in pods.generated]
        selector = {"matchLabels": wanted, "matchExpressions": rules}
    return matches(selector, pods.labels)
