"""Small builds for tests: manifests as text, judged as a whole cluster."""

from collections.abc import Iterable
from dataclasses import replace

from kixbot import identity
from kixbot.graph import components, edges
from kixbot.model.build import (
    ROLES,
    Binding,
    Build,
    ClusterFacts,
    Evaluated,
    External,
    ScorecardSettings,
    SourceInfo,
    Suppression,
)
from kixbot.model.resource import Resource
from kixbot.sources.manifests import File, Loose, evaluate

CLOSED = ClusterFacts(name="shop", roles=dict.fromkeys(ROLES, Binding(kind="absent")))
"""A cluster that has nothing but what is in the build."""

OPEN = ClusterFacts(
    name="",
    roles=dict.fromkeys(ROLES, Binding(kind="external")),
    external_kinds=frozenset({"Namespace", "CustomResourceDefinition", "IngressClass", "StorageClass"}),
    custom_kinds_external=True,
)
"""What a bare path of manifests is judged as."""


def build_of(
    text: str,
    *,
    facts: ClusterFacts = OPEN,
    file: str = "shop.yaml",
    externals: Iterable[External] = (),
    fail: tuple[str, ...] = (),
    ignore: tuple[Suppression, ...] = (),
) -> Build:
    """The build of one file of manifests."""
    settings = Loose(
        cluster=facts,
        source=SourceInfo(kind="manifests", path=file),
        externals=tuple(externals),
        scorecard=ScorecardSettings(fail=fail, ignore=ignore),
    )
    return assemble(evaluate([File(name=file, data=text.encode())], settings))


def assemble(evaluated: Evaluated) -> Build:
    """An evaluated source with its edges and identities."""
    once: dict[object, Resource] = {}
    duplicates = []
    for resource in evaluated.resources:
        if resource.ref in once:
            duplicates.append((once[resource.ref], resource))
        else:
            once[resource.ref] = resource
    resources = tuple(sorted(once.values(), key=lambda one: one.ref.id))
    found, dangling = edges.find(replace(evaluated, resources=resources))
    settled = components.settle(found, marked=evaluated.marked)
    identities = identity.identify(resources, components.hash_references(settled.edges))
    whole = not settled.cycles and all(first.manifest == second.manifest for first, second in duplicates)
    return Build(
        evaluated=evaluated,
        resources=resources,
        edges=settled.edges,
        dangling=dangling,
        identities=identities,
        activation=identity.activation(evaluated.cluster.name, resources, identities) if whole else None,
        cycles=settled.cycles,
        softened=settled.softened,
        duplicates=tuple(duplicates),
    )
