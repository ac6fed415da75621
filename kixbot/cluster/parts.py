"""The parts of a record: rows as gzip in numbered ConfigMaps. Pure: rows in, bodies out, and back.

A part holds at most 512 KiB of gzip, far below etcd's 1.5 MiB with base64 around it, and is read up to 64 MiB.
"""

import base64
import binascii
import gzip
import json
import zlib
from collections.abc import Iterable, Mapping
from typing import Any, Final

from kixbot.errors import ClusterError
from kixbot.model.activation import ACTIVATION_LABEL, CLUSTER_LABEL, RecordRow
from kixbot.model.resource import Ref

SCHEMA: Final = 1
PART_BYTES: Final = 512 * 1024
READ_BYTES: Final = 64 * 1024 * 1024


def pack(rows: Iterable[RecordRow]) -> tuple[str, ...]:
    """Base64 of gzip of the rows, one string a part; the same rows give the same bytes."""
    everything = tuple(sorted(rows, key=lambda row: row.ref))
    return tuple(base64.b64encode(part).decode() for part in _split(everything)) if everything else ()


def _split(rows: tuple[RecordRow, ...]) -> tuple[bytes, ...]:
    packed = gzip.compress(_encode(rows), mtime=0)
    if len(packed) <= PART_BYTES or len(rows) == 1:
        return (packed,)
    half = len(rows) // 2
    return (*_split(rows[:half]), *_split(rows[half:]))


def _encode(rows: tuple[RecordRow, ...]) -> bytes:
    sets: dict[str, int] = {}
    encoded = [_row(row, sets.setdefault(row.owned, len(sets))) for row in rows]
    document = {"schema": SCHEMA, "sets": list(sets), "rows": encoded}
    return json.dumps(document, separators=(",", ":"), ensure_ascii=False).encode()


def _row(row: RecordRow, owned: int) -> list[Any]:
    ref = row.ref
    return [
        ref.kind,
        ref.group,
        ref.namespace,
        ref.name,
        row.api_version,
        row.uid,
        row.content_hash,
        row.identity,
        row.package,
        list(row.left_out),
        row.resource_version,
        owned,
        row.value_hash,
        list(row.cede),
    ]


def unpack(text: str, *, what: str) -> tuple[RecordRow, ...]:
    """The rows of one part. Raises ClusterError when it is damaged, too large or from a newer kix."""
    try:
        document = json.loads(_inflate(base64.b64decode(text, validate=True), what=what))
        if document["schema"] != SCHEMA:
            raise ClusterError(f"{what}: written by a newer kix (schema {document['schema']})", hint="update kix")
        return tuple(_decode(row, document["sets"]) for row in document["rows"])
    except (binascii.Error, zlib.error, ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
        raise ClusterError(f"{what}: the record's part is damaged", hint="deploy again after deleting it") from error


def _inflate(data: bytes, *, what: str) -> bytes:
    inflater = zlib.decompressobj(wbits=31)
    out = inflater.decompress(data, READ_BYTES)
    if inflater.unconsumed_tail:
        raise ClusterError(f"{what}: the record's part unpacks to more than {READ_BYTES // 2**20} MiB; not read")
    return out


def _decode(row: list[Any], sets: list[str]) -> RecordRow:
    kind, group, namespace, name, *rest = row
    api_version, uid, content, identity, package, left_out, version, owned, value, cede = rest
    texts = (
        kind,
        group,
        namespace,
        name,
        api_version,
        uid,
        content,
        identity,
        version,
        value,
        sets[owned],
        *left_out,
        *cede,
    )
    if not all(isinstance(text, str) for text in texts):
        raise TypeError("a row holds something else than text")
    return RecordRow(
        ref=Ref(kind, group, namespace, name),
        api_version=api_version,
        uid=uid,
        content_hash=content,
        identity=identity,
        package=package,
        left_out=tuple(left_out),
        resource_version=version,
        owned=sets[owned],
        value_hash=value,
        cede=tuple(cede),
    )


def part_body(text: str, *, number: int, owner: Mapping[str, Any], cluster: str) -> dict[str, Any]:
    """The ConfigMap of part `number` of the Activation `owner` (its live body)."""
    metadata = owner["metadata"]
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": part_name(str(metadata["name"]), number),
            "namespace": metadata["namespace"],
            "labels": {CLUSTER_LABEL: cluster, ACTIVATION_LABEL: metadata["name"]},
            "ownerReferences": [
                {
                    "apiVersion": owner["apiVersion"],
                    "kind": owner["kind"],
                    "name": metadata["name"],
                    "uid": metadata["uid"],
                }
            ],
        },
        "binaryData": {"rows.json.gz": text},
    }


def part_name(activation: str, number: int) -> str:
    """`<activation>-<number>`."""
    return f"{activation}-{number}"


def text_of(body: Mapping[str, Any]) -> str:
    """The packed rows of a part's ConfigMap."""
    return str((body.get("binaryData") or {}).get("rows.json.gz") or "")
