"""The CRDs of a build: which kinds they define, and what each version of a kind may hold."""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.checks.schema.api.metadata import judge_name
from kixbot.checks.schema.faults import UNKNOWN_KIND
from kixbot.checks.schema.node import Fault, Node
from kixbot.checks.schema.structural import root, with_defaults
from kixbot.checks.schema.walk import walk
from kixbot.checks.shape import at, mapping, mappings, text
from kixbot.model.resource import Resource, split_api_version


class Crds:
    """The kinds that a build defines itself. `metadata` is the node of every object's metadata."""

    def __init__(self, resources: tuple[Resource, ...], metadata: Node) -> None:
        self._metadata = metadata
        self._kinds: dict[tuple[str, str], Mapping[str, Mapping[str, Any]]] = {}
        self._nodes: dict[tuple[str, str, str], Node | None] = {}
        for resource in resources:
            spec = mapping(resource.manifest.get("spec"))
            kind = text(mapping(spec.get("names")).get("kind"))
            versions = {text(version.get("name")): version for version in mappings(spec.get("versions"))}
            self._kinds[text(spec.get("group")), kind] = versions

    def judge(self, resource: Resource) -> Iterator[Fault]:
        """The faults of a custom resource; none where its CRD is not in the build."""
        versions = self._kinds.get((resource.ref.group, resource.ref.kind))
        if versions is None:
            return
        _, version = split_api_version(resource.api_version)
        served = sorted(name for name, one in versions.items() if one.get("served") is True)
        if version not in served:
            yield Fault(
                rule=UNKNOWN_KIND,
                at=("apiVersion",),
                text=f"has apiVersion {resource.api_version}, which its CRD does not serve",
                hint=f"write apiVersion: {resource.ref.group}/{served[-1]}" if served else "serve a version in the CRD",
            )
            return
        body = dict(resource.manifest)
        node = self._node(resource, version, versions[version])
        if node is not None:
            yield from walk(with_defaults(body, node), node)
        yield from judge_name("", body)

    def _node(self, resource: Resource, version: str, body: Mapping[str, Any]) -> Node | None:
        place = (resource.ref.group, resource.ref.kind, version)
        if place not in self._nodes:
            schema = at(body, "schema", "openAPIV3Schema")
            self._nodes[place] = root(schema, self._metadata) if schema else None
        return self._nodes[place]
