"""The document that a definition evaluates to, decoded: the same `Evaluated` that plain manifests give.

What it says is believed no more than any other input: a definition is free to return anything. Its schema is
`docs/evaluation.md`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from kixbot import identity
from kixbot.errors import SourceError
from kixbot.model.build import (
    Assertion,
    Binding,
    ClusterFacts,
    CollectedFault,
    Evaluated,
    External,
    Package,
    PinUse,
    ScorecardSettings,
    SourceInfo,
    Suppression,
)
from kixbot.model.resource import Location, Ref, Resource, split_api_version
from kixbot.sources import files, leaves, manifests, names, reserved, steering
from kixbot.sources.quoting import reading, unquoted
from kixbot.sources.scopes import is_cluster_scoped, scopes_of
from kixbot.sources.shape import Shape
from kixbot.sources.tree import Tree

SCHEMA = 1
_PACKAGE_INSTANCE = "PackageInstance"


def decode(value: Any, *, tree: Tree, tree_name: str, source: SourceInfo) -> Evaluated:
    """Decode the document. Raises SourceError where it is malformed or says what a definition may not say."""
    document = Shape(value, "document")
    if document.get("schema") != SCHEMA:
        raise SourceError(
            f"{source.path}: not the result of kix.buildCluster", hint="let the function return kix.buildCluster { … }"
        )
    places = _Origins(tree_name)
    packages = tuple(_package(shape, places) for shape in document.maps("packages"))
    loaded = _Resources(document, packages, places).load()
    plain = _plain_manifests(document, tree, tree_name, loaded.resources)
    scorecard = _scorecard(document.inner("scorecard"))
    return Evaluated(
        cluster=_cluster(document.inner("cluster")),
        source=source,
        resources=(*loaded.resources, *plain.resources),
        packages=packages,
        externals=tuple(_external(shape, places) for shape in document.maps("externals")),
        assertions=(
            *(_assertion(shape, loaded.refs, places) for shape in document.maps("assertions")),
            *plain.assertions,
        ),
        faults=loaded.faults,
        scorecard=replace(scorecard, ignore=(*scorecard.ignore, *loaded.suppressions, *plain.suppressions)),
        pins_used=tuple(
            PinUse(key=pin.text("key"), reference=pin.text("reference"), pinned=pin.truth("pinned"))
            for pin in document.maps("pins")
        ),
        marked=True,
    )


@dataclass(frozen=True, slots=True)
class _Origins:
    """Turns places of the evaluation into places of the tree; a place in kix's own library is none."""

    tree_name: str

    def find(self, shape: Shape) -> Location | None:
        origin = shape.get("origin")
        if origin is None:
            return None
        place = Shape(origin, "origin")
        inside = self.relative(place.text("file"))
        return Location(file=inside, line=place.find_number("line")) if inside else None

    def relative(self, path: str) -> str | None:
        _, marker, inside = path.partition(f"/nix/store/{self.tree_name}/")
        return inside if marker and inside else None


@dataclass(slots=True)
class _Loaded:
    resources: tuple[Resource, ...]
    refs: Mapping[str, Ref]
    faults: tuple[CollectedFault, ...]
    suppressions: tuple[Suppression, ...]


class _Resources:
    """Decodes the list of resources, whose references go by id."""

    def __init__(self, document: Shape, packages: tuple[Package, ...], places: _Origins) -> None:
        self._shapes = document.maps("resources")
        self._packages = {package.id: package for package in packages}
        self._places = places

    def load(self) -> _Loaded:
        read = [leaves.read(shape.inner("manifest").mapping, self._places.tree_name) for shape in self._shapes]
        scopes = scopes_of(entry.manifest for entry in read)
        refs = {
            shape.text("id"): _ref(shape, entry.manifest, scopes)
            for shape, entry in zip(self._shapes, read, strict=True)
        }
        resources: list[Resource] = []
        faults: list[CollectedFault] = []
        suppressions: list[Suppression] = []
        for shape, entry in zip(self._shapes, read, strict=True):
            resource = self._resource(shape, entry, refs)
            resources.append(resource)
            faults.extend(leaves.collected(entry, resource.ref, resource.package))
            suppressions.extend(steering.suppressions(entry.manifest, resource))
        return _Loaded(tuple(resources), refs, tuple(faults), tuple(suppressions))

    def _resource(self, shape: Shape, entry: leaves.Leaves, refs: Mapping[str, Ref]) -> Resource:
        ref = refs[shape.text("id")]
        package = shape.find_text("package")
        instance = self._packages.get(package) if package else None
        origin = self._places.find(shape) or (instance.origin if instance else None)
        error = _error_at(ref, origin)
        own = ref.kind == _PACKAGE_INSTANCE and instance is not None and package == f"{ref.namespace}/{ref.name}"
        reserved.check(entry.manifest, error, own=own)
        for word, pattern, path in (
            (ref.kind, names.KIND, "$.kind"),
            (str(entry.manifest["apiVersion"]), names.API_VERSION, "$.apiVersion"),
            (ref.name, names.NAME, "$.metadata.name"),
            (ref.namespace or "x", names.NAMESPACE, "$.metadata.namespace"),
        ):
            if not pattern.match(word):
                raise error(f"{word[:80]!r} is no name", path)
        for path in entry.source_paths:
            raise error("holds the path of the source folder, which differs from machine to machine", path)
        for path, found in unquoted(entry.manifest):
            raise error(f"{path} is {reading(found)}, where text belongs", path)
        return Resource(
            ref=ref,
            api_version=str(entry.manifest["apiVersion"]),
            manifest=_normal(entry.manifest, ref, error),
            package=package,
            origin=origin,
            hard=_known(shape, "hard", refs, error),
            soft=_known(shape, "soft", refs, error),
            after=_known(shape, "after", refs, error),
            cede=tuple(sorted({*shape.texts("cede"), *steering.ceded(entry.manifest, error)})),
            ready=shape.find_text("ready"),
            generated=shape.texts("generated"),
        )


def _error_at(ref: Ref, origin: Location | None) -> Callable[[str, str], SourceError]:
    def error(message: str, path: str) -> SourceError:
        place = "" if path in message else f" at {path}" if path else ""
        return SourceError(
            f"{ref.id}{place}: {message}",
            file=origin.file if origin else None,
            line=origin.line if origin else None,
        )

    return error


def _ref(shape: Shape, manifest: Mapping[str, Any], scopes: Mapping[tuple[str, str], bool]) -> Ref:
    body = Shape(manifest, shape.text("id"))
    kind, api_version = body.text("kind"), body.text("apiVersion")
    metadata = body.inner("metadata")
    namespace = metadata.find_text("namespace") or ""
    if is_cluster_scoped(api_version, kind, scopes):
        namespace = ""
    return Ref(kind, split_api_version(api_version)[0], namespace, metadata.text("name"))


def _normal(manifest: Mapping[str, Any], ref: Ref, error: Callable[[str, str], SourceError]) -> dict[str, Any]:
    body = manifest
    if not ref.namespace:
        metadata = {key: value for key, value in manifest["metadata"].items() if key != "namespace"}
        body = {**manifest, "metadata": metadata}
    try:
        return identity.normalize(body, namespace=ref.namespace)
    except SourceError as err:
        raise error(err.message, "") from err


def _known(
    shape: Shape, key: str, refs: Mapping[str, Ref], error: Callable[[str, str], SourceError]
) -> tuple[Ref, ...]:
    found = []
    for target in shape.texts(key):
        if target not in refs:
            raise error(f"refers to {target}, which the build does not hold", "")
        found.append(refs[target])
    return tuple(found)


def _plain_manifests(document: Shape, tree: Tree, tree_name: str, resources: tuple[Resource, ...]) -> manifests.Loaded:
    """The files of YAML and JSON that the definition names: opened here, inside the tree only."""
    places = _Origins(tree_name)
    collected: list[manifests.File] = []
    for shape in document.maps("manifests"):
        path = shape.text("path")
        inside = places.relative(path)
        if inside is None or tree.find(inside) is None:
            origin = places.find(shape)
            raise SourceError(
                f"manifests: {inside or 'a path'} is no file of the tree",
                hint="name a file of this tree that git knows, for example manifests = [ ./app.yaml ]",
                file=origin.file if origin else None,
                line=origin.line if origin else None,
            )
        collected.extend(files.collect(tree.root, inside, known=frozenset(tree.files)))
    return manifests.load(collected, declared=scopes_of(resource.manifest for resource in resources))


def _cluster(shape: Shape) -> ClusterFacts:
    roles = {name: _binding(role) for name, role in shape.inner("roles").items()}
    availability: Literal["none", "zone"] = "zone" if shape.find_text("availability") == "zone" else "none"
    return ClusterFacts(
        name=shape.text("name"),
        flavor=shape.find_text("flavor") or "generic",
        kubernetes_version=shape.find_text("kubernetesVersion") or ClusterFacts(name="").kubernetes_version,
        availability=availability,
        zones=shape.texts("zones"),
        nodes=shape.find_number("nodes"),
        roles=roles,
        storage_classes=shape.texts("storageClasses"),
        ingress_classes=shape.texts("ingressClasses"),
        priority_classes=shape.texts("priorityClasses"),
        runtime_classes=shape.texts("runtimeClasses"),
    )


def _binding(shape: Shape) -> Binding:
    match shape.text("kind"):
        case "builtin" | "absent" | "external" | "provider" as kind:
            return Binding(kind=kind, provider=shape.find_text("provider"))
        case other:
            raise SourceError(f"cluster role binding {other[:80]!r} is unknown")


def _package(shape: Shape, places: _Origins) -> Package:
    return Package(
        id=shape.text("id"),
        namespace=shape.text("namespace"),
        name=shape.text("name"),
        package=shape.text("package"),
        version=shape.find_text("version"),
        provides=shape.texts("provides"),
        depends_on=shape.texts("dependsOn"),
        added=shape.truth("added"),
        brings_crds=shape.truth("bringsCrds"),
        origin=places.find(shape),
    )


def _external(shape: Shape, places: _Origins) -> External:
    return External(
        kind=shape.text("kind"),
        name=shape.text("name"),
        namespace=shape.find_text("namespace"),
        group=shape.find_text("group"),
        keys=None if shape.get("keys") is None else shape.texts("keys"),
        verify=shape.truth("verify"),
        origin=places.find(shape),
    )


def _assertion(shape: Shape, refs: Mapping[str, Ref], places: _Origins) -> Assertion:
    return Assertion(
        message=shape.text("message"),
        package=shape.find_text("package"),
        ref=refs.get(shape.find_text("resource") or ""),
        hint=shape.find_text("hint"),
        origin=places.find(shape),
    )


def _scorecard(shape: Shape) -> ScorecardSettings:
    return ScorecardSettings(
        fail=shape.texts("fail"),
        ignore=tuple(
            Suppression(
                rule=entry.text("rule"),
                resource=entry.text("resource"),
                reason=entry.text("reason"),
                until=entry.find_text("until"),
            )
            for entry in shape.maps("ignore")
        ),
    )
