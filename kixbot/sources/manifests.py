"""Plain manifests: what a stream of YAML or JSON says becomes resources, and what it may not say is refused.

Lists are flattened, the namespace of each object is settled, `kix.run/cede` and `kix.run/ignore` are read. An object
that says `kix.run/*` otherwise does not build: those keys belong to kix.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from kixbot import identity
from kixbot.errors import SourceError
from kixbot.model.build import (
    Assertion,
    ClusterFacts,
    Evaluated,
    External,
    ScorecardSettings,
    SourceInfo,
    Suppression,
)
from kixbot.model.resource import Body, Location, Ref, Resource, split_api_version
from kixbot.sources import names, reserved, steering
from kixbot.sources.places import Place, Places, Step
from kixbot.sources.quoting import reading, unquoted
from kixbot.sources.reader import read
from kixbot.sources.scopes import is_cluster_scoped, scopes_of

_SHOWN = 5  # values to quote that one message lists


@dataclass(frozen=True, slots=True, kw_only=True)
class File:
    """One file of manifests: the name people see, and its bytes."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Loose:
    """What plain manifests cannot say themselves, from the settings: the cluster, a namespace, ceded paths."""

    cluster: ClusterFacts
    source: SourceInfo
    namespace: str = "default"
    cede: Mapping[str, Sequence[str]] = field(default_factory=dict)
    externals: tuple[External, ...] = ()
    scorecard: ScorecardSettings = field(default_factory=ScorecardSettings)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Object:
    """One object of a stream, before it is judged."""

    body: Body
    location: Location
    place: Place


def evaluate(files: Iterable[File], settings: Loose) -> Evaluated:
    """All objects of the files as one build. Raises SourceError on what does not build, with file and line."""
    loaded = load(files, namespace=settings.namespace)
    if not loaded.resources and not loaded.assertions:
        raise SourceError(
            f"{settings.source.path}: no manifest found", hint="put objects in .yaml, .yml or .json files there"
        )
    scorecard = settings.scorecard
    return Evaluated(
        cluster=settings.cluster,
        source=settings.source,
        resources=tuple(_ceded(resource, settings.cede) for resource in loaded.resources),
        externals=settings.externals,
        assertions=loaded.assertions,
        scorecard=replace(scorecard, ignore=(*scorecard.ignore, *loaded.suppressions)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """What files of manifests held."""

    resources: tuple[Resource, ...]
    assertions: tuple[Assertion, ...]
    suppressions: tuple[Suppression, ...]


def load(
    files: Iterable[File], *, namespace: str = "default", declared: Mapping[tuple[str, str], bool] | None = None
) -> Loaded:
    """The resources of the files. `declared` are scopes of custom kinds known from elsewhere in the build."""
    objects = [found for file in files for found in _objects(file)]
    scopes = {**(declared or {}), **scopes_of(found.body for found in objects)}
    resources: list[Resource] = []
    assertions: list[Assertion] = []
    suppressions: list[Suppression] = []
    for found in objects:
        _check_shape(found)
        if "name" not in found.body["metadata"]:
            assertions.append(_nameless(found))
            continue
        resource = _resource(found, scopes, namespace)
        resources.append(resource)
        suppressions.extend(steering.suppressions(found.body, resource))
    return Loaded(resources=tuple(resources), assertions=tuple(assertions), suppressions=tuple(suppressions))


def _objects(file: File) -> Iterator[_Object]:
    for document in read(file.data, file=file.name):
        yield from _flat(document.value, document.line, document.item_lines, document.places, (), file.name)


def _flat(
    value: Any, line: int, item_lines: Sequence[int], places: Places, root: tuple[Step, ...], file: str
) -> Iterator[_Object]:
    """The objects of one document: itself, or the items of a List or of a plain list, at any depth."""
    if isinstance(value, list):
        for at, item in enumerate(value):
            below = (*root, at)
            yield from _flat(item, places.lines.get(below, line), (), places, below, file)
        return
    if not isinstance(value, dict):
        raise SourceError(
            f"a manifest is a map, this is {_said(value)}", hint="check indentation and quotes", file=file, line=line
        )
    items, kind = value.get("items"), value.get("kind")
    if isinstance(items, list) and isinstance(kind, str) and kind.endswith("List"):
        for at, item in enumerate(items):
            below = (*root, "items", at)
            item_line = item_lines[at] if at < len(item_lines) else places.lines.get(below, line)
            yield from _flat(_typed(item, value, kind), item_line, (), places, below, file)
        return
    yield _Object(body=value, location=Location(file=file, line=line), place=Place(places, root))


def _typed(item: Any, parent: Mapping[str, Any], kind: str) -> Any:
    """An item of a typed list (`ConfigMapList`) may leave out what the list says."""
    if kind == "List" or not isinstance(item, dict) or "kind" in item:
        return item
    return {"apiVersion": parent.get("apiVersion"), "kind": kind.removesuffix("List"), **item}


def _said(value: Any) -> str:
    return "text" if isinstance(value, str) else reading(value)


def _check_shape(found: _Object) -> None:
    body = found.body
    for key, pattern, hint in (
        ("kind", names.KIND, "add `kind:`, or keep files that are no manifests elsewhere"),
        ("apiVersion", names.API_VERSION, "add `apiVersion:`, for example `apiVersion: v1`"),
    ):
        value = body.get(key)
        if value is None:
            raise _error(found, f"manifest without {key}", hint)
        if not isinstance(value, str) or not pattern.match(value):
            raise _error(found, f"{key} {str(value)[:80]!r} is no {key} of Kubernetes", hint, f"$.{key}")
    if not isinstance(body.get("metadata"), dict):
        raise _error(found, f"{body['kind']} without metadata", "add `metadata:` with a name")
    wrong = list(unquoted(body))
    if wrong:
        lines = [f"{_called(body)}: {path} reads as {reading(value)}" for path, value in wrong[:_SHOWN]]
        if len(wrong) > _SHOWN:
            lines.append(f"and {len(wrong) - _SHOWN} more")
        raise _error(found, "\n".join(lines), "quote it", wrong[0][0])
    reserved.check(body, lambda message, path: _error(found, f"{_called(body)}: {message}", reserved.HINT, path))
    metadata = body["metadata"]
    if "name" not in metadata and "generateName" not in metadata:
        raise _error(found, f"{body['kind']} without metadata.name", "give it a name", "$.metadata")
    if "name" in metadata and not names.NAME.match(metadata["name"]):
        raise _error(found, f"{body['kind']} name {metadata['name'][:80]!r} is no name", None, "$.metadata.name")
    if "namespace" in metadata and not names.NAMESPACE.match(metadata["namespace"]):
        text = metadata["namespace"][:80]
        raise _error(found, f"{_called(body)}: namespace {text!r} is no name", None, "$.metadata.namespace")


def _called(body: Body) -> str:
    name = body["metadata"].get("name")
    return f"{body['kind']}/{name}" if isinstance(name, str) else str(body["kind"])


def _nameless(found: _Object) -> Assertion:
    body = found.body
    prefix = body["metadata"]["generateName"]
    return Assertion(
        message=f"{body['kind']} with generateName {prefix[:80]!r} has no name: server-side apply needs one",
        hint="write metadata.name",
        origin=found.location,
    )


def _resource(found: _Object, scopes: Mapping[tuple[str, str], bool], default: str) -> Resource:
    body = found.body
    kind, api_version, metadata = body["kind"], body["apiVersion"], body["metadata"]
    if is_cluster_scoped(api_version, kind, scopes):
        namespace = ""
        body = {**body, "metadata": {key: value for key, value in metadata.items() if key != "namespace"}}
    else:
        namespace = metadata.get("namespace", default)
    try:
        manifest = identity.normalize(body, namespace=namespace)
    except SourceError as err:
        raise _error(found, f"{_called(body)}: {err.message}", err.hint) from err
    return Resource(
        ref=Ref(kind, split_api_version(api_version)[0], namespace, metadata["name"]),
        api_version=api_version,
        manifest=manifest,
        origin=found.location,
        cede=steering.ceded(body, lambda message, path: _error(found, f"{_called(body)}: {message}", None, path)),
        find_line=found.place,
    )


def _ceded(resource: Resource, table: Mapping[str, Sequence[str]]) -> Resource:
    """Add the paths that the settings cede for this id."""
    extra = table.get(resource.ref.id, table.get(resource.ref.short, ()))
    return replace(resource, cede=tuple(sorted({*resource.cede, *extra}))) if extra else resource


def _error(found: _Object, message: str, hint: str | None, path: str | None = None) -> SourceError:
    line = found.place(path) if path else None
    return SourceError(message, hint=hint, file=found.location.file, line=line or found.location.line)
