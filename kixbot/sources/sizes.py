"""Objects that the API server would refuse for their size."""

from collections.abc import Iterator, Mapping

from kixbot.errors import SourceError
from kixbot.identity import canonical
from kixbot.model.build import CollectedFault
from kixbot.model.resource import Resource

RULE = "api/object-size"
# MaxSecretSize of the API validation, which ConfigMaps share: the sum over data, in bytes.
MAX_DATA = 2**20
# etcd's default for one request (--max-request-bytes).
MAX_OBJECT = 3 * 2**19


def faults(resource: Resource) -> Iterator[CollectedFault]:
    """A fault for an object beyond what the API server or etcd takes."""
    body = resource.manifest
    if resource.ref.kind in {"ConfigMap", "Secret"} and resource.ref.group == "":
        size = sum(_size(body.get(key)) for key in ("data", "binaryData"))
        if resource.ref.kind == "Secret":
            size = size * 3 // 4  # counted after base64
        if size > MAX_DATA:
            yield _fault(resource, size, MAX_DATA, "$.data", "data of")
            return
    try:
        size = len(canonical(body).encode())
    except (SourceError, UnicodeEncodeError):
        return
    if size > MAX_OBJECT:
        yield _fault(resource, size, MAX_OBJECT, "$", "the object takes")


def _size(value: object) -> int:
    if not isinstance(value, Mapping):
        return 0
    return sum(len(text.encode(errors="surrogatepass")) for text in value.values() if isinstance(text, str))


def _fault(resource: Resource, size: int, limit: int, path: str, what: str) -> CollectedFault:
    return CollectedFault(
        rule=RULE,
        ref=resource.ref,
        path=path,
        message=f"{resource.ref.plain}: {what} {size:,} bytes is more than the {limit:,} the API server takes",
        hint="split it, or keep large files in an image or a volume",
        origin=resource.place(path),
    )
