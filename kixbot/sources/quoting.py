"""Names, namespaces, labels and environment values that YAML read as something else than text.

Nothing here is coerced: `namespace: n` is the boolean false, and guessing what was meant would deploy elsewhere.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.model.path import index, member
from kixbot.model.resource import BUILTIN_GROUPS, Body, split_api_version

_TEXT_MAPS = frozenset({"labels", "annotations", "matchLabels", "nodeSelector"})
_TEXT_FIELDS = frozenset({"name", "namespace"})
# Fields that hold schemas or templates of other people's objects, where a `name` may be anything.
_FOREIGN = frozenset({"openAPIV3Schema", "data", "stringData", "binaryData"})


def unquoted(manifest: Body) -> Iterator[tuple[str, Any]]:
    """The paths that must hold text and do not, with what stands there. A null counts where the key was written."""
    builtin = split_api_version(str(manifest.get("apiVersion", "")))[0] in BUILTIN_GROUPS
    for key, value in manifest.items():
        if key == "metadata" and isinstance(value, Mapping):
            yield from _metadata("$.metadata", value)
        elif key in {"data", "stringData"} and manifest.get("kind") in {"ConfigMap", "Secret"} and builtin:
            yield from _map_of_texts(member("$", key), value, nulls=False)
        elif builtin:
            yield from _walk(member("$", key), key, value, service=manifest.get("kind") == "Service")


def reading(value: Any) -> str:
    """How YAML read the value, in words that do not tell a secret."""
    match value:
        case bool():
            return f"the boolean {str(value).lower()}"
        case None:
            return "null"
        case int() | float():
            return "a number"  # which one may be a secret
        case Mapping():
            return "a map"
        case _:
            return "a list"


def _metadata(path: str, metadata: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key in ("name", "namespace", "generateName"):
        if key in metadata and not isinstance(metadata[key], str):
            yield member(path, key), metadata[key]
    for key in ("labels", "annotations"):
        yield from _map_of_texts(member(path, key), metadata.get(key))


def _map_of_texts(path: str, value: Any, *, nulls: bool = True) -> Iterator[tuple[str, Any]]:
    if value is None:
        return
    if not isinstance(value, Mapping):
        yield path, value
        return
    for key, entry in value.items():
        if not isinstance(entry, str) and (nulls or entry is not None):
            yield member(path, key), entry


def _walk(path: str, field: str, value: Any, *, service: bool = False) -> Iterator[tuple[str, Any]]:
    if isinstance(value, list):
        for at, entry in enumerate(value):
            yield from _walk(index(path, at), field, entry)
        return
    if not isinstance(value, Mapping):
        return
    for key, entry in value.items():
        below = member(path, key)
        if _is_node_terms(entry):
            continue  # devices are placed by an object of the same name (resource.k8s.io)
        if key in _TEXT_MAPS or (service and key == "selector"):
            yield from _map_of_texts(below, entry)
        elif key in _TEXT_FIELDS or (key == "value" and field == "env"):
            if entry is None or isinstance(entry, bool | int | float):
                yield below, entry
        elif key not in _FOREIGN:
            yield from _walk(below, key, entry)


def _is_node_terms(entry: Any) -> bool:
    return isinstance(entry, Mapping) and "nodeSelectorTerms" in entry
