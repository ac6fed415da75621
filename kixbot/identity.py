"""What a resource is, in one hash: canonical JSON to the paths `builtins.toFile` would give.

The formula is Nix's own, so that a build has the same name whether Nix or Python computes it: a resource's path
hashes its body and the paths of what it refers to, and the Activation's path hashes them all. Pure; the real Nix is
the oracle of its tests.
"""

import base64
import hashlib
import hmac
import json
import math
import re
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from kixbot.errors import SourceError
from kixbot.model.build import ActivationIdentity, Identity
from kixbot.model.resource import BUILTIN_GROUPS, Body, Ref, Resource

STORE = "/nix/store"

# Read from an object on its way in, then gone: they steer kix and say nothing about the object.
CEDE, IGNORE = "kix.run/cede", "kix.run/ignore"
STEERING_ANNOTATIONS = (CEDE, IGNORE)

LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration"

_NIX_BASE32 = "0123456789abcdfghijklmnpqrsvwxyz"
_INT64_END = 2**63
_NAME_LIMIT = 200  # Nix refuses store names over 211 characters; 200 leaves room for the extension
_OUTSIDE_NAME = re.compile(rb"[^A-Za-z0-9+._?=-]")
# Escapes in JSON text, so that the `b` of `\\b` (a backslash and a letter) is never taken for a backspace.
_ESCAPE = re.compile(r"\\(?:u[0-9a-f]{4}|.)")
# A whole string, which stays as it is, or a float that Python pads (`1e-07`).
_SMALL_FLOAT = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9.]+e-0[0-9]')
_NIX_ESCAPES = {"\\b": "\\u0008", "\\f": "\\u000c"}


def normalize(manifest: Body, *, namespace: str = "") -> dict[str, Any]:
    """The manifest as kix keeps, hashes and applies it; the argument is left as it was.

    `namespace` is the resolved one, "" for cluster-scoped objects. Null map entries go, at every depth; so do
    `status` and the steering annotations. A core Secret's `stringData` joins its `data`, as the API server would do.
    Numbers become what JSON readers agree on: integral ones in 64 bits are integers, others floats.
    Raises SourceError on a number that JSON cannot hold.
    """
    body: dict[str, Any] = {key: value for key, value in _plain_map(manifest).items() if key != "status"}
    metadata = body.get("metadata")
    if isinstance(metadata, dict):
        _drop_steering(metadata)
        if namespace:
            metadata["namespace"] = namespace
    elif namespace and metadata is None:
        body["metadata"] = {"namespace": namespace}
    if is_secret(body) and isinstance(body.get("stringData"), dict):
        texts: dict[str, Any] = body.pop("stringData")
        data = body.get("data")
        body["data"] = {**(data if isinstance(data, dict) else {}), **{k: _encoded(v) for k, v in texts.items()}}
    return body


def is_secret(manifest: Body) -> bool:
    """Whether this is a Secret, whose values never enter a hash without a key and are never shown.

    Only the core `v1` one is a valid Secret; one written into another built-in group or version by mistake holds
    values all the same.
    """
    group = str(manifest.get("apiVersion", "")).rpartition("/")[0]
    return manifest.get("kind") == "Secret" and group in BUILTIN_GROUPS


def is_public(field: str, value: Any) -> bool:
    """Whether a top-level field of a Secret can be shown: what it is and is called, its type and `immutable`.

    A field the API does not know, and a known one of the wrong type, may hold a value that was put there by mistake.
    """
    match field:
        case "apiVersion" | "kind" | "type":
            return isinstance(value, str)
        case "immutable":
            return isinstance(value, bool)
        case "metadata":
            return isinstance(value, Mapping)
    return False


def without_values(manifest: Body) -> Body:
    """A Secret with every value emptied, the keys of its data kept; any other manifest as it is.

    kubectl's copy of what it applied, an annotation, holds the values again and is emptied too.
    """
    if not is_secret(manifest):
        return manifest
    body = {
        field: value if is_public(field, value) else dict.fromkeys(value, "") if isinstance(value, Mapping) else ""
        for field, value in manifest.items()
    }
    metadata = body.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    if isinstance(metadata, Mapping) and isinstance(annotations, Mapping) and LAST_APPLIED in annotations:
        body["metadata"] = {**metadata, "annotations": {**annotations, LAST_APPLIED: ""}}
    return body


def canonical(body: Any) -> str:
    """The one JSON text of a normalised value: keys in byte order, no spaces, escapes as Nix 2.8 writes them.

    Floats are the shortest that read back, exponents without padding (`1e-7`, `1e+22`), plain from 0.00001 on: the
    form of orjson 3.13, written here so that no library's version can move a hash.
    Raises SourceError where a string is not valid Unicode or the value is nested too deeply.
    """
    try:
        text = json.dumps(body, sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        text.encode()
    except (RecursionError, ValueError) as err:
        raise SourceError(f"value cannot be written as JSON: {_cause(err)}") from err
    if "\\b" in text or "\\f" in text:
        text = _ESCAPE.sub(lambda found: _NIX_ESCAPES.get(found[0], found[0]), text)
    if "e-0" in text:
        text = _SMALL_FLOAT.sub(lambda found: _small_float(found[0]), text)
    return text


def store_path(name: str, body: str, references: Iterable[str]) -> str:
    """The path `builtins.toFile name body` has when the body's string context holds `references` (store paths)."""
    kind = ":".join(("text", *sorted(set(references))))
    inner = hashlib.sha256(body.encode()).hexdigest()
    return f"{STORE}/{store_hash(f'{kind}:sha256:{inner}:{STORE}:{name}')}-{name}"


def store_hash(description: str) -> str:
    """The 32 characters that name a store path, from Nix's description of it (`text:…`, `source:sha256:…`)."""
    return _base32(_folded(hashlib.sha256(description.encode()).digest()))


def file_name(ref: Ref) -> str:
    """The name part of a resource's path."""
    raw = f"{ref.kind}-{ref.namespace}-{ref.name}".encode()
    return _OUTSIDE_NAME.sub(b"_", raw)[:_NAME_LIMIT].decode() + ".json"


def identify(resources: Iterable[Resource], hard_and_after: Mapping[Ref, tuple[Ref, ...]]) -> dict[Ref, Identity]:
    """The identity of every resource, in an order where references come first.

    `hard_and_after` are the references that count in the hash; those to objects that are not in `resources` count
    nothing. What stands in a cycle, or refers to one, has no identity and is left out.
    """
    by_ref = {resource.ref: resource for resource in resources}
    waiting: dict[Ref, int] = {}
    users: dict[Ref, list[Ref]] = {}
    for ref in by_ref:
        targets = _targets(ref, by_ref, hard_and_after)
        waiting[ref] = len(targets)
        for target in targets:
            users.setdefault(target, []).append(ref)
    ready = deque(sorted(ref for ref, count in waiting.items() if count == 0))
    found: dict[Ref, Identity] = {}
    while ready:
        ref = ready.popleft()
        references = (found[target].path for target in _targets(ref, by_ref, hard_and_after))
        found[ref] = _identity(by_ref[ref], tuple(sorted(references)))
        for user in users.get(ref, ()):
            waiting[user] -= 1
            if waiting[user] == 0:
                ready.append(user)
    return found


def activation(cluster: str, resources: Iterable[Resource], identities: Mapping[Ref, Identity]) -> ActivationIdentity:
    """The root of a build: a list of every resource's id, path and references, itself a path.

    Raises KeyError when a resource has no identity.
    """
    rows = [(resource.ref.id, identities[resource.ref]) for resource in resources]
    entries = [
        {"id": ref_id, "path": identity.path, "refs": list(identity.references)}
        for ref_id, identity in sorted(rows, key=lambda row: row[0])
    ]
    body = canonical(entries)
    name = _OUTSIDE_NAME.sub(b"_", f"Activation-{cluster}".encode())[:_NAME_LIMIT].decode() + ".json"
    path = store_path(name, body, (identity.path for _, identity in rows))
    short = path.removeprefix(f"{STORE}/")[:12]
    return ActivationIdentity(name=f"{cluster}-{short}", path=path, body=body)


def content_hash(manifest: Body, cede: Iterable[str] = (), key: bytes | None = None) -> str:
    """What records compare: the hash of a normalised manifest and of its ceded paths, 64 hex digits.

    With `key` (kept in the cluster) a core Secret's hash covers its values and is keyed, so that nobody can guess a
    value from it. Without, its values are left out.
    """
    ceded = sorted(set(cede))
    if is_secret(manifest) and key is not None:
        text = canonical({"cede": ceded, "manifest": manifest})
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
    text = canonical({"cede": ceded, "manifest": without_values(manifest)})
    return hashlib.sha256(text.encode()).hexdigest()


def _identity(resource: Resource, references: tuple[str, ...]) -> Identity:
    try:
        body = canonical(without_values(resource.manifest))
    except SourceError as err:
        at = resource.origin
        file, line = (at.file, at.line) if at else (None, None)
        raise SourceError(f"{resource.ref.id}: {err.message}", file=file, line=line) from err
    return Identity(path=store_path(file_name(resource.ref), body, references), body=body, references=references)


def _targets(ref: Ref, known: Mapping[Ref, Resource], edges: Mapping[Ref, tuple[Ref, ...]]) -> set[Ref]:
    return {target for target in edges.get(ref, ()) if target in known and target != ref}


def _drop_steering(metadata: dict[str, Any]) -> None:
    annotations = metadata.get("annotations")
    if not isinstance(annotations, dict):
        return
    kept = {key: value for key, value in annotations.items() if key not in STEERING_ANNOTATIONS}
    if len(kept) == len(annotations):
        return
    if kept:
        metadata["annotations"] = kept
    else:
        del metadata["annotations"]


def _encoded(value: Any) -> Any:
    return base64.b64encode(value.encode()).decode() if isinstance(value, str) else value


def _plain_map(value: Mapping[str, Any]) -> dict[str, Any]:
    return {key: _plain(entry) for key, entry in value.items() if entry is not None}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return _plain_map(value)
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, bool) or not isinstance(value, int | float):
        return value
    return _number(value)


def _number(value: float) -> int | float:
    if isinstance(value, int):
        return value if -_INT64_END <= value < _INT64_END else _as_float(value)
    if not math.isfinite(value):
        raise SourceError(f"number {value} is not finite, which JSON cannot hold")
    return int(value) if value.is_integer() and -_INT64_END <= value < _INT64_END else value


def _as_float(value: int) -> float:
    try:
        return float(value)
    except OverflowError as err:
        raise SourceError("number is beyond what Kubernetes can hold") from err


def _cause(err: Exception) -> str:
    match err:
        case RecursionError():
            return "nested too deeply"
        case UnicodeEncodeError():
            return "a string is not valid Unicode"
    return "a number is not finite"


def _small_float(token: str) -> str:
    if token.startswith('"'):
        return token
    digits, _, exponent = token.partition("e-0")
    if exponent != "5":
        return f"{digits}e-{exponent}"
    sign = "-" if digits.startswith("-") else ""
    return f"{sign}0.0000{digits.lstrip('-').replace('.', '')}"


def _folded(digest: bytes) -> bytes:
    short = bytearray(20)
    for at, byte in enumerate(digest):
        short[at % 20] ^= byte
    return bytes(short)


def _base32(data: bytes) -> str:
    number = int.from_bytes(data, "little")
    length = (len(data) * 8 + 4) // 5
    return "".join(_NIX_BASE32[number >> (5 * at) & 31] for at in reversed(range(length)))
