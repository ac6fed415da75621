"""Build: open a source, find who needs whom, and name everything by its hash. Needs no cluster and no client."""

from dataclasses import dataclass, replace

from kixbot import identity
from kixbot.graph import components, edges
from kixbot.model.build import Build, Evaluated
from kixbot.model.pin import Pins
from kixbot.model.resource import Ref, Resource
from kixbot.settings import Settings
from kixbot.sources import opening
from kixbot.sources.opening import BuildRequest, Found, Opened, opened

__all__ = ["BuildRequest", "Built", "Opened", "assemble", "build", "build_cluster", "opened"]

_BARE_NAME = "manifests"  # what a build of bare paths is called, which belongs to no cluster


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """A build with the settings and pins it was made by; bare paths have no pins."""

    build: Build
    settings: Settings
    pins: Pins | None = None


def build(request: BuildRequest) -> Built:
    """Open and build what the request names.

    Raises UsageError for an unknown target, SettingsError for a broken kix.toml, SourceError for a source that does
    not build, GitError and NixError for what is missing on this machine.
    """
    return _built(opening.evaluate(request))


def build_cluster(source: Opened, name: str) -> Built:
    """Build one cluster of a tree that is already open: several of them cost one export."""
    return _built(opening.evaluate_cluster(source, name))


def _built(found: Found) -> Built:
    return Built(build=assemble(found.evaluated), settings=found.settings, pins=found.pins)


def assemble(evaluated: Evaluated) -> Build:
    """The build of an evaluated source: duplicates judged, edges settled, identities computed.

    There is no activation where two differing objects share an id, or where a definition has a hard cycle.
    """
    resources, duplicates = _once(evaluated.resources)
    evaluated = replace(evaluated, resources=resources)
    found, dangling = edges.find(evaluated)
    settled = components.settle(found, marked=evaluated.marked)
    identities = identity.identify(resources, components.hash_references(settled.edges))
    is_whole = not settled.cycles and all(_is_equal(first, second) for first, second in duplicates)
    name = evaluated.cluster.name or _BARE_NAME
    return Build(
        evaluated=evaluated,
        resources=resources,
        edges=settled.edges,
        dangling=dangling,
        identities=identities,
        activation=identity.activation(name, resources, identities) if is_whole else None,
        cycles=settled.cycles,
        softened=settled.softened,
        duplicates=duplicates,
    )


def _once(
    resources: tuple[Resource, ...],
) -> tuple[tuple[Resource, ...], tuple[tuple[Resource, Resource], ...]]:
    """Each id once, sorted by id, and the later ones beside the first that had their id."""
    first: dict[Ref, Resource] = {}
    duplicates = []
    for resource in resources:
        earlier = first.setdefault(resource.ref, resource)
        if earlier is not resource:
            duplicates.append((earlier, resource))
    return tuple(sorted(first.values(), key=lambda resource: resource.ref.id)), tuple(duplicates)


def _is_equal(first: Resource, second: Resource) -> bool:
    return (first.api_version, first.manifest, first.cede) == (second.api_version, second.manifest, second.cede)
