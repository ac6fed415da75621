"""Small rules of the embedded API server: names, preconditions, size limits, merge patches, the time."""

import json
from collections.abc import Mapping
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

from kixbot.cluster.faults import TOO_LARGE_HINT, RejectedError, StaleError, TooLargeError
from kixbot.cluster.interface import ApiKind
from kixbot.cluster.memory_kinds import BUILTIN_KINDS

ETCD_LIMIT = 1536 * 1024  # bytes of one request, etcd's default
DATA_LIMIT = 1024 * 1024  # bytes of data in a ConfigMap or Secret


def utc_now() -> str:
    """RFC 3339, whole seconds."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def builtin(name: str) -> ApiKind:
    """A kind of the table."""
    return next(kind for kind in BUILTIN_KINDS if kind.kind == name)


def is_custom(kind: ApiKind) -> bool:
    """Whether a CRD brought it."""
    return kind not in BUILTIN_KINDS


def name_of(kind: ApiKind, body: Mapping[str, Any]) -> tuple[str, str]:
    """Name and namespace. Raises RejectedError without a name."""
    metadata = body.get("metadata") or {}
    if not metadata.get("name"):
        raise RejectedError(f"{kind.kind}: metadata.name is required", status=422)
    return str(metadata["name"]), str(metadata.get("namespace") or "default") if kind.namespaced else ""


def spec_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """What generation counts the changes of."""
    return {key: value for key, value in body.items() if key not in ("metadata", "status")}


def metadata_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The body as a metadata-only LIST gives it."""
    return {"apiVersion": body["apiVersion"], "kind": body["kind"], "metadata": body["metadata"]}


def require_same(live: Mapping[str, Any] | None, sent: Mapping[str, Any]) -> None:
    """Preconditions that ride in the metadata: uid and resourceVersion must be the live ones."""
    metadata = sent.get("metadata") or {}
    for name in ("uid", "resourceVersion"):
        wanted = metadata.get(name)
        if wanted and wanted != ((live or {}).get("metadata") or {}).get(name):
            raise StaleError(f"Operation cannot be fulfilled: metadata.{name} is another by now", status=409)


def check_size(kind: ApiKind, body: Mapping[str, Any]) -> None:
    """Refuse what the API server or etcd would refuse for its size."""
    if kind.kind in ("ConfigMap", "Secret"):
        size = sum(len(str(value).encode()) for value in (body.get("data") or {}).values())
        if size > DATA_LIMIT:
            name = body["metadata"]["name"]
            said = f'{kind.kind} "{name}" is invalid: data: Too long: may not be more than {DATA_LIMIT} bytes'
            raise RejectedError(said, status=422, hint=TOO_LARGE_HINT)
    if len(json.dumps(body)) > ETCD_LIMIT:
        raise TooLargeError("etcdserver: request is too large", status=500, hint=TOO_LARGE_HINT)


def merge_patched(live: Any, patch: Any) -> Any:
    """A JSON merge patch applied (RFC 7386)."""
    if not isinstance(patch, Mapping):
        return deepcopy(patch)
    result = dict(live) if isinstance(live, Mapping) else {}
    for name, value in patch.items():
        if value is None:
            result.pop(name, None)
        else:
            result[name] = merge_patched(result.get(name), value)
    return result
