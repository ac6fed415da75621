"""Manifests, indexes and image configs: their media types and what is read of them. Pure.

Shapes: the OCI image specification 1.1 and Docker's image manifest version 2, schema 2.
"""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kixbot.model.pinfile import DIGEST
from kixbot.registry.interface import ImageFacts, RegistryAnswerError

OCI_INDEX = "application/vnd.oci.image.index.v1+json"
DOCKER_LIST = "application/vnd.docker.distribution.manifest.list.v2+json"
OCI_MANIFEST = "application/vnd.oci.image.manifest.v1+json"
DOCKER_MANIFEST = "application/vnd.docker.distribution.manifest.v2+json"
# All four, on HEAD and GET alike: with fewer a registry converts, and the digest is of something else.
ACCEPT = f"{OCI_INDEX}, {DOCKER_LIST}, {OCI_MANIFEST}, {DOCKER_MANIFEST}"
_SCHEMA_1 = "application/vnd.docker.distribution.manifest.v1+"

_ATTESTATION = "vnd.docker.reference.type"
_PREFERRED = "linux/amd64"
_MAX_TEXT = 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One image of an index. `platform` as `linux/arm64`."""

    digest: str
    platform: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Index:
    """An index: its images, attestations left out."""

    entries: tuple[Entry, ...]
    annotations: Mapping[str, str] = field(default_factory=dict)

    def find_preferred(self) -> Entry | None:
        """The image whose facts stand for all: linux/amd64, else the first."""
        return next((entry for entry in self.entries if entry.platform == _PREFERRED), next(iter(self.entries), None))


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    """One image. `config` is the digest of its config, None for an artifact that is no image."""

    config: str | None
    annotations: Mapping[str, str] = field(default_factory=dict)


def digest_of(body: bytes, algorithm: str = "sha256") -> str:
    """The digest of exact bytes."""
    return f"{algorithm}:{hashlib.new(algorithm, body).hexdigest()}"


def verify(body: bytes, digest: str, place: str) -> None:
    """Raise RegistryAnswerError where the bytes do not hash to the digest they were asked by, or announced with."""
    if digest_of(body, digest.partition(":")[0]) != digest:
        raise RegistryAnswerError(f"{place}: the registry's bytes do not hash to {digest}")


def refuse_schema_1(content_type: str, place: str) -> None:
    """Raise RegistryAnswerError for the format that clusters no longer pull."""
    if content_type.startswith(_SCHEMA_1):
        raise RegistryAnswerError(
            f"{place}: a manifest of schema 1, which kix does not read", hint="push the image again with a newer tool"
        )


def decode_manifest(body: bytes, content_type: str, place: str) -> Index | Manifest:
    """An index or a manifest. An index may omit its mediaType: then its `manifests` and the Content-Type tell."""
    document = _load(body, place)
    media_type = document.get("mediaType") or content_type.partition(";")[0].strip()
    refuse_schema_1(str(media_type), place)
    annotations = _texts(document.get("annotations"))
    manifests = document.get("manifests")
    if media_type in (OCI_INDEX, DOCKER_LIST) or isinstance(manifests, list):
        entries = (_decode_entry(entry, place) for entry in manifests or ())
        return Index(entries=tuple(entry for entry in entries if entry is not None), annotations=annotations)
    config = document.get("config")
    if not isinstance(config, dict):
        raise RegistryAnswerError(f"{place}: neither an image nor an index")
    is_image = str(config.get("mediaType", "")) in _CONFIGS
    return Manifest(config=_digest(config.get("digest"), place) if is_image else None, annotations=annotations)


def decode_config(body: bytes, place: str) -> Mapping[str, Any]:
    """An image's config, an object."""
    return _load(body, place)


def facts_of(
    digest: str, *, index: Index | None, manifest: Manifest | None, config: Mapping[str, Any] | None
) -> ImageFacts:
    """What an image says of itself: labels of its config before annotations of its manifest and index."""
    inner = config.get("config") if config else None
    settings: Mapping[str, Any] = inner if isinstance(inner, dict) else {}
    said = {
        **(index.annotations if index else {}),
        **(manifest.annotations if manifest else {}),
        **_texts(settings.get("Labels")),
    }
    created = config.get("created") if config else None
    user = settings.get("User", "") if config is not None else None
    if index is not None:
        platforms = tuple(dict.fromkeys(entry.platform for entry in index.entries if entry.platform))
    else:
        platforms = (_platform(config),) if config and _platform(config) else ()
    return ImageFacts(
        digest=digest,
        platforms=platforms,
        created=_short(created) or _short(said.get("org.opencontainers.image.created")),
        revision=_short(said.get("org.opencontainers.image.revision")),
        source=_short(said.get("org.opencontainers.image.source") or said.get("org.label-schema.vcs-url")),
        user=user if isinstance(user, str) and len(user) <= _MAX_TEXT else None,
    )


_CONFIGS = ("application/vnd.oci.image.config.v1+json", "application/vnd.docker.container.image.v1+json")


def _load(body: bytes, place: str) -> dict[str, Any]:
    try:
        document = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RegistryAnswerError(f"{place}: the registry's answer is not JSON") from error
    if not isinstance(document, dict):
        raise RegistryAnswerError(f"{place}: the registry's answer is not an object")
    return document


def _decode_entry(entry: Any, place: str) -> Entry | None:
    if not isinstance(entry, dict):
        raise RegistryAnswerError(f"{place}: an entry of the index is not an object")
    platform = entry.get("platform")
    name = _platform(platform) if isinstance(platform, dict) else ""
    if name == "unknown/unknown" or _ATTESTATION in _texts(entry.get("annotations")):
        return None
    return Entry(digest=_digest(entry.get("digest"), place), platform=name)


def _platform(fields: Mapping[str, Any]) -> str:
    words = [fields.get(name) for name in ("os", "architecture", "variant")]
    if words[1:] == ["arm64", "v8"]:
        words.pop()  # the only variant of arm64 there is; some builders name it
    return "/".join(word for word in words if isinstance(word, str) and re.fullmatch(r"[A-Za-z0-9._-]{1,32}", word))


def _digest(value: Any, place: str) -> str:
    if not isinstance(value, str) or not DIGEST.fullmatch(value):
        raise RegistryAnswerError(f"{place}: an entry has no digest")
    return value


def _texts(value: Any) -> dict[str, str]:
    if not isinstance(value, dict):
        return {}
    return {name: text for name, text in value.items() if isinstance(text, str)}


def _short(value: Any) -> str | None:
    return value if isinstance(value, str) and 0 < len(value) <= _MAX_TEXT else None
