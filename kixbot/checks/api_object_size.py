"""api/object-size: an object that the API server refuses for its size."""

import base64
import binascii
from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.selectors import compact
from kixbot.checks.shape import mapping
from kixbot.model.finding import Confidence, Severity
from kixbot.model.resource import BUILTIN_GROUPS, Resource

DATA_LIMIT = 1024 * 1024
"""Bytes of a ConfigMap's or Secret's values (`MaxSecretSize` and the ConfigMap rule of k8s.io/kubernetes)."""
ANNOTATION_LIMIT = 256 * 1024
"""Bytes of all annotations, keys and values (`TotalAnnotationSizeLimitB` of apimachinery)."""
REQUEST_LIMIT = 3 * 1024 * 1024
"""Bytes of a request body that the API server reads at all (`MaxRequestBodyBytes`)."""
STORE_LIMIT = 1536 * 1024
"""Bytes that etcd stores under one key by default (`--max-request-bytes`). Custom resources are stored as JSON."""


def _find(context: Context) -> Iterator[Hit]:
    for resource in context.resources:
        yield from _data(resource)
        yield from _annotations(resource)
        yield from _whole(resource)


def _data(resource: Resource) -> Iterator[Hit]:
    if resource.ref.group or resource.ref.kind not in {"ConfigMap", "Secret"}:
        return
    texts = mapping(resource.manifest.get("data"))
    packed = mapping(resource.manifest.get("binaryData"))
    secret = resource.ref.kind == "Secret"
    size = sum(_decoded(value) if secret else len(value.encode()) for value in texts.values() if isinstance(value, str))
    size += sum(_decoded(value) for value in packed.values() if isinstance(value, str))
    if size > DATA_LIMIT:
        yield _hit(
            resource, "$.data", "values", size, DATA_LIMIT, "split it, or mount the content from an image or a volume"
        )


def _decoded(value: str) -> int:
    try:
        return len(base64.b64decode(value))
    except (binascii.Error, ValueError):
        return len(value)


def _annotations(resource: Resource) -> Iterator[Hit]:
    size = sum(len(f"{key}{value}".encode()) for key, value in mapping(resource.annotations).items())
    if size > ANNOTATION_LIMIT:
        yield _hit(resource, "$.metadata.annotations", "annotations", size, ANNOTATION_LIMIT, "move the content out")


def _whole(resource: Resource) -> Iterator[Hit]:
    size = len(compact(resource.manifest).encode(errors="surrogatepass"))
    custom = resource.ref.group not in BUILTIN_GROUPS
    if size > REQUEST_LIMIT:
        yield _hit(resource, "$", "JSON", size, REQUEST_LIMIT, "split it into several objects")
    elif size > STORE_LIMIT and custom:
        yield _hit(resource, "$", "JSON", size, STORE_LIMIT, "split it into several objects", Confidence.LIKELY)


def _hit(
    resource: Resource, path: str, what: str, size: int, limit: int, hint: str, confidence: Confidence | None = None
) -> Hit:
    return Hit(
        resource=resource,
        path=path,
        message=f"{resource.ref.plain} has {_shown(size)} of {what}; the API server takes at most {_shown(limit)}",
        hint=hint,
        confidence=confidence,
        severity=Severity.WARNING if confidence else None,
    )


def _shown(size: int) -> str:
    return f"{size / 2**20:.1f} MiB" if size >= 2**20 else f"{size // 2**10} KiB"


_EXAMPLE = """\
apiVersion: v1
kind: ConfigMap
metadata: {{name: page, namespace: shop}}
data:
  index.html: "{page}"
"""

CHECK = Check(
    id="api/object-size",
    severity=Severity.ERROR,
    title="an object is larger than the API server takes",
    rationale=(
        "The values of one ConfigMap or Secret may hold 1 MiB, annotations 256 KiB, a request 3 MiB. A larger object "
        "is refused at apply, after everything before it was changed."
    ),
    example=Example(good=_EXAMPLE.format(page="<h1>shop</h1>"), bad=_EXAMPLE.format(page="x" * (DATA_LIMIT + 1))),
    find=_find,
)
