"""Which package a resource is shown under."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from kixbot.model.build import Build
from kixbot.model.resource import Ref, Resource

CLUSTER = "(cluster)"
MANIFESTS = "(manifests)"
RESOURCES = "(resources)"

_INSTANCE = "app.kubernetes.io/instance"
_VERSION = "app.kubernetes.io/version"


@dataclass(frozen=True, slots=True, order=True)
class Group:
    """A package, or what stands in for one: loose objects go by instance label, else by where they come from."""

    namespace: str
    name: str

    @property
    def id(self) -> str:
        """`namespace/name`."""
        return f"{self.namespace}/{self.name}"


def group_of(resource: Resource, *, marked: bool) -> Group:
    """The group of a resource; `marked`: its build is a definition, whose raw resources are `(resources)`."""
    if resource.package is not None:
        namespace, _, name = resource.package.partition("/")
        return Group(namespace, name)
    namespace = resource.ref.namespace or CLUSTER
    instance = resource.labels.get(_INSTANCE)
    if isinstance(instance, str) and instance:
        return Group(namespace, instance)
    written_in_nix = resource.origin is None or resource.origin.file.endswith(".nix")
    return Group(namespace, RESOURCES if marked and written_in_nix else MANIFESTS)


def groups_of(build: Build | None) -> dict[Ref, Group]:
    """The group of every resource of a build; none for no build."""
    if build is None:
        return {}
    return {one.ref: group_of(one, marked=build.evaluated.marked) for one in build.resources}


def versions_of(build: Build | None) -> Mapping[Group, str]:
    """The version of each group that has one: the package's, else the one its objects' version labels agree on."""
    if build is None:
        return {}
    found = {Group(one.namespace, one.name): one.version for one in build.evaluated.packages if one.version is not None}
    labels: dict[Group, set[str]] = defaultdict(set)
    for resource, group in _loose(build.resources, marked=build.evaluated.marked):
        version = resource.labels.get(_VERSION)
        if group.name not in (MANIFESTS, RESOURCES) and isinstance(version, str):
            labels[group].add(version)
    agreed = {group: next(iter(versions)) for group, versions in labels.items() if len(versions) == 1}
    return {**agreed, **found}


def _loose(resources: Iterable[Resource], *, marked: bool) -> Iterable[tuple[Resource, Group]]:
    return ((one, group_of(one, marked=marked)) for one in resources if one.package is None)
