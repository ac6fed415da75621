"""In which order a build is applied: levels of what must come first.

Wave 0 holds what everything else takes for granted; PackageInstances close their package; neither shifts the numbers
of the rest. Within a wave kinds stand in Helm's install order.
"""

from collections.abc import Iterable, Mapping

from kixbot.graph.components import component_of, links
from kixbot.graph.pods import find_pods
from kixbot.model.activation import GROUP as KIX_GROUP
from kixbot.model.build import Build, Edge, EdgeKind
from kixbot.model.plan import Wave
from kixbot.model.resource import BUILTIN_GROUPS, Ref

# Helm 3.19's install order (pkg/releaseutil, InstallOrder).
INSTALL_ORDER = (
    "PriorityClass", "Namespace", "NetworkPolicy", "ResourceQuota", "LimitRange", "PodSecurityPolicy",
    "PodDisruptionBudget", "ServiceAccount", "Secret", "SecretList", "ConfigMap", "StorageClass", "PersistentVolume",
    "PersistentVolumeClaim", "CustomResourceDefinition", "ClusterRole", "ClusterRoleList", "ClusterRoleBinding",
    "ClusterRoleBindingList", "Role", "RoleList", "RoleBinding", "RoleBindingList", "Service", "DaemonSet", "Pod",
    "ReplicationController", "ReplicaSet", "Deployment", "HorizontalPodAutoscaler", "StatefulSet", "Job", "CronJob",
    "IngressClass", "Ingress", "APIService", "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration",
)  # fmt: skip
_PLACE = {kind: at for at, kind in enumerate(INSTALL_ORDER)}
_UNKNOWN, _LAST = len(INSTALL_ORDER), len(INSTALL_ORDER) + 1
_BASE_KINDS = frozenset({"CustomResourceDefinition", "Namespace"})

# Where something stands: the wave's number and the level inside it; only wave 0 has more than one level.
_Place = tuple[int, int]


def waves(build: Build) -> tuple[Wave, ...]:
    """The waves of a build, in the order they are applied.

    Wave 0 may come in several entries, its levels: Namespaces and CRDs, then what operators need, then the operators.
    """
    refs = [resource.ref for resource in build.resources]
    closing = {ref for ref in refs if is_package_instance(ref)}
    early = _early(build) - closing
    # Namespaces and CRDs have no levels: what a CRD refers to (a conversion webhook) never orders.
    places: dict[Ref, _Place] = {ref: (0, 0) for ref in early if is_base(ref)}
    places |= {ref: (0, level + 1) for ref, level in _levels(early - places.keys(), build).items()}
    places |= {ref: (level + 1, 0) for ref, level in _levels(set(refs) - early - closing, build).items()}
    for ref in closing:
        places[ref] = _closing_place(ref, build.edges, places)
    by_place: dict[_Place, list[Ref]] = {}
    for ref, place in places.items():
        by_place.setdefault(place, []).append(ref)
    return tuple(
        Wave(number=place[0], refs=tuple(sorted(by_place[place], key=install_key))) for place in sorted(by_place)
    )


def install_key(ref: Ref) -> tuple[int, str, str, str, str]:
    """Sorts within a wave: Helm's order of kinds, unknown kinds after, PackageInstances last; then namespace, name."""
    if is_package_instance(ref):
        place = _LAST
    else:
        place = _PLACE.get(ref.kind, _UNKNOWN) if ref.group in BUILTIN_GROUPS else _UNKNOWN
    return (place, ref.kind, ref.group, ref.namespace, ref.name)


def is_package_instance(ref: Ref) -> bool:
    """Whether this is the object that stands for a package."""
    return ref.kind == "PackageInstance" and ref.group == KIX_GROUP


def is_base(ref: Ref) -> bool:
    """Whether this is a Namespace or a CRD."""
    return ref.kind in _BASE_KINDS and ref.group in BUILTIN_GROUPS


def _early(build: Build) -> set[Ref]:
    """What stands in wave 0: Namespaces, CRDs, and in marked builds packages that bring a CRD with all they need."""
    found = {resource.ref for resource in build.resources if is_base(resource.ref)}
    if not build.evaluated.marked:
        return found
    bringing = {package.id for package in build.evaluated.packages if package.brings_crds}
    needed = links(edge for edge in build.edges if edge.kind is EdgeKind.HARD)
    waiting = [one.ref for one in build.resources if one.package in bringing and not is_package_instance(one.ref)]
    while waiting:
        ref = waiting.pop()
        if ref not in found:
            found.add(ref)
            waiting.extend(needed.get(ref, ()))
    return found


def _closing_place(ref: Ref, edges: Iterable[Edge], places: Mapping[Ref, _Place]) -> _Place:
    """Where the last resource of the package stands."""
    return max((places[edge.target] for edge in edges if edge.source == ref and edge.target in places), default=(1, 0))


def _levels(members: set[Ref], build: Build) -> dict[Ref, int]:
    """The level of each member by the edges among members, from 0. What refers to others only stands in level 0."""
    among = [edge for edge in build.edges if edge.source in members and edge.target in members]
    first = _without_cycles(among)
    workloads = {one.ref for one in build.resources if one.ref in members and find_pods(one)}
    placing = [
        edge
        for edge in among
        if edge.kind is EdgeKind.SOFT and edge.source.kind_group == "Service" and edge.target in workloads
    ]
    component = component_of(links([*first, *placing]))
    placing = [edge for edge in placing if component[edge.source] != component[edge.target]]
    steps: dict[Ref, dict[Ref, int]] = {ref: {} for ref in members}
    for edge in placing:
        steps[edge.source][edge.target] = 0
    for edge in first:
        steps[edge.source][edge.target] = 1
    return _longest(steps)


def _without_cycles(edges: list[Edge]) -> list[Edge]:
    """The edges that order, without those that close a cycle: hard ones first, then the order-only ones."""
    ordering = [edge for edge in edges if edge.kind is not EdgeKind.SOFT]
    hard = [edge for edge in ordering if edge.kind is EdgeKind.HARD]
    component = component_of(links(hard))
    hard = [edge for edge in hard if component[edge.source] != component[edge.target]]
    weak = [edge for edge in ordering if edge.kind is EdgeKind.ORDER]
    component = component_of(links([*hard, *weak]))
    return hard + [edge for edge in weak if component[edge.source] != component[edge.target]]


def _longest(steps: Mapping[Ref, Mapping[Ref, int]]) -> dict[Ref, int]:
    """The longest way down from each node of an acyclic graph."""
    users: dict[Ref, list[Ref]] = {ref: [] for ref in steps}
    waiting = {ref: len(targets) for ref, targets in steps.items()}
    for ref, targets in steps.items():
        for target in targets:
            users[target].append(ref)
    level = dict.fromkeys(steps, 0)
    ready = [ref for ref, count in waiting.items() if count == 0]
    while ready:
        ref = ready.pop()
        for user in users[ref]:
            level[user] = max(level[user], level[ref] + steps[user][ref])
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    return level
