"""What is true of a kind of cluster, for sources that need no Nix: the facts of `nix/flavors`, held equal by a test."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Literal

from kixbot.errors import SettingsError
from kixbot.model.build import ROLES, Binding, ClusterFacts

_SYSTEM_CLASSES = ("system-cluster-critical", "system-node-critical")

# A bare path is one closed cluster, but for what hardly anybody keeps beside their objects.
OUTSIDE_OF_PATHS = frozenset({"Namespace", "CustomResourceDefinition", "IngressClass", "StorageClass"})


def _roles(
    other: Literal["absent", "external"], **said: Literal["builtin", "absent", "external"]
) -> Mapping[str, Binding]:
    return {role: Binding(kind=said.get(role, other)) for role in ROLES}


FLAVORS: Mapping[str, ClusterFacts] = {
    "generic": ClusterFacts(name="", roles=_roles("external"), priority_classes=_SYSTEM_CLASSES),
    "kind": ClusterFacts(
        name="",
        flavor="kind",
        nodes=1,
        roles=_roles("absent", cni="builtin", dns="builtin", policy="builtin", storage="builtin"),
        storage_classes=("standard",),
        priority_classes=_SYSTEM_CLASSES,
    ),
    "eks": ClusterFacts(
        name="",
        flavor="eks",
        availability="zone",
        roles=_roles("absent", cni="builtin", dns="builtin", loadBalancer="builtin", storage="external"),
        storage_classes=("gp2",),
        priority_classes=_SYSTEM_CLASSES,
    ),
}


def facts(name: str, flavor: str) -> ClusterFacts:
    """The facts of a flavor for a cluster of that name. Raises SettingsError for an unknown flavor."""
    if flavor not in FLAVORS:
        raise SettingsError(f"flavor {flavor[:80]!r} is not known here", hint=f"flavors are {', '.join(FLAVORS)}")
    return replace(FLAVORS[flavor], name=name)


def of_path() -> ClusterFacts:
    """The facts that a bare path is judged by."""
    return replace(FLAVORS["generic"], external_kinds=OUTSIDE_OF_PATHS, custom_kinds_external=True)
