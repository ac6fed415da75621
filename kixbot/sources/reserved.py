"""Keys and objects that belong to kix: what a definition or manifest says there does not build."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from kixbot.errors import SourceError
from kixbot.identity import STEERING_ANNOTATIONS
from kixbot.model.activation import GROUP
from kixbot.model.path import index, member
from kixbot.model.resource import Body, split_api_version

HINT = "only the annotations kix.run/cede and kix.run/ignore may be written"

# The fields on the way to what an object is a template for.
_HOLDERS = ("spec", "template", "jobTemplate", "volumeClaimTemplates", "volumes", "ephemeral", "volumeClaimTemplate")


def check(body: Body, error: Callable[[str, str], SourceError], *, own: bool = False) -> None:
    """Raise `error(message, path)` for a reserved key or kind. `own`: the library itself made this object."""
    if not own and split_api_version(str(body.get("apiVersion", "")))[0] == GROUP:
        raise error(f"objects of group {GROUP} are made by kix alone", "$.apiVersion")
    for path, key in _keys(body):
        if _is_reserved(key) and key not in STEERING_ANNOTATIONS:
            raise error(f"{key[:80]} belongs to kix", path)
    labels = body.get("metadata", {}).get("labels")
    for key in STEERING_ANNOTATIONS:
        if isinstance(labels, Mapping) and key in labels:
            raise error(f"{key} is an annotation, not a label", member("$.metadata.labels", key))


def _is_reserved(key: str) -> bool:
    prefix = key.partition("/")[0]
    return "/" in key and (prefix == GROUP or prefix.endswith(f".{GROUP}"))


def _keys(body: Body) -> Iterable[tuple[str, str]]:
    """The label and annotation keys of the object and of the templates in it: of pods, jobs and claims."""
    pending: list[tuple[str, Any]] = [("$", body)]
    while pending:
        path, value = pending.pop()
        if isinstance(value, list):
            pending.extend((index(path, at), entry) for at, entry in enumerate(value))
            continue
        if not isinstance(value, Mapping):
            continue
        metadata = value.get("metadata")
        for field in ("labels", "annotations"):
            entries = metadata.get(field) if isinstance(metadata, Mapping) else None
            for key in entries if isinstance(entries, Mapping) else ():
                yield member(f"{path}.metadata.{field}", key), key
        pending.extend((f"{path}.{field}", value[field]) for field in _HOLDERS if field in value)
