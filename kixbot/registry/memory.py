"""The embedded registry: images made of values, served in process or over loopback (`loopback.py`).

`kixbot demo` and tests use it. It holds no layers: nothing can be run from it, everything kix asks of a registry can
be answered. Digests are real, computed over the bytes a registry would serve.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from kixbot.registry import media, reference
from kixbot.registry.interface import ImageFacts, ImageNotFoundError, TagList
from kixbot.settings.model import RegistrySettings

_OCI = (media.OCI_INDEX, media.OCI_MANIFEST, "application/vnd.oci.image.config.v1+json")
_DOCKER = (media.DOCKER_LIST, media.DOCKER_MANIFEST, "application/vnd.docker.container.image.v1+json")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredManifest:
    """A manifest or index: its bytes and its type."""

    media_type: str
    body: bytes

    @property
    def digest(self) -> str:
        """The digest of the bytes."""
        return media.digest_of(self.body)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageContent:
    """All of an image: `top` is what a tag names, `manifests` all manifests by digest, `blobs` the configs."""

    top: str
    manifests: Mapping[str, StoredManifest]
    blobs: Mapping[str, bytes]


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRecipe:
    """What an image is made of. One platform gives a manifest, several an index."""

    platforms: tuple[str, ...] = ("linux/amd64", "linux/arm64")
    created: str = "2026-01-01T00:00:00Z"
    labels: Mapping[str, str] = field(default_factory=dict)
    user: str = ""
    annotations: Mapping[str, str] = field(default_factory=dict)
    is_docker: bool = False
    names_media_type: bool = True
    with_attestations: bool = False


def make_image(recipe: ImageRecipe) -> ImageContent:
    """The image of a recipe; equal recipes give equal bytes."""
    index_type, _, _ = _DOCKER if recipe.is_docker else _OCI
    blobs: dict[str, bytes] = {}
    manifests: dict[str, StoredManifest] = {}
    entries = []
    for platform in recipe.platforms:
        stored = _make_manifest(recipe, platform, blobs)
        manifests[stored.digest] = stored
        entries.append(_entry(stored, _platform_fields(platform)))
    if len(recipe.platforms) == 1 and not recipe.with_attestations:
        return ImageContent(top=next(iter(manifests)), manifests=manifests, blobs=blobs)
    if recipe.with_attestations:
        # As BuildKit adds them: a manifest of its own, platform unknown/unknown.
        stored = _make_manifest(recipe, "unknown/unknown", blobs)
        manifests[stored.digest] = stored
        unknown = _entry(stored, {"os": "unknown", "architecture": "unknown"})
        entries.append({**unknown, "annotations": {"vnd.docker.reference.type": "attestation-manifest"}})
    document: dict[str, Any] = {"schemaVersion": 2, "manifests": entries}
    if recipe.names_media_type:
        document["mediaType"] = index_type
    if recipe.annotations:
        document["annotations"] = dict(recipe.annotations)
    index = StoredManifest(media_type=index_type, body=_body(document))
    return ImageContent(top=index.digest, manifests={**manifests, index.digest: index}, blobs=blobs)


class ImageStore:
    """Repositories by path, each with tags, manifests and blobs."""

    def __init__(self) -> None:
        self._tags: dict[str, dict[str, str]] = {}
        self._manifests: dict[str, dict[str, StoredManifest]] = {}
        self._blobs: dict[str, dict[str, bytes]] = {}

    def put(self, path: str, tag: str, content: ImageContent) -> str:
        """Store an image under a tag and give the digest the tag now names; what it named before stays by digest."""
        self._tags.setdefault(path, {})[tag] = content.top
        self._manifests.setdefault(path, {}).update(content.manifests)
        self._blobs.setdefault(path, {}).update(content.blobs)
        return content.top

    def untag(self, path: str, tag: str) -> None:
        """Remove a tag; its image stays by digest."""
        del self._tags[path][tag]

    def delete(self, path: str, digest: str) -> None:
        """Remove a manifest and the tags that name it."""
        del self._manifests[path][digest]
        self._tags[path] = {tag: named for tag, named in self._tags[path].items() if named != digest}

    def find_tags(self, path: str) -> tuple[str, ...] | None:
        """The tags of a repository in order, or None where there is no such repository."""
        tags = self._tags.get(path)
        return None if tags is None else tuple(sorted(tags))

    def find_manifest(self, path: str, name: str) -> StoredManifest | None:
        """The manifest of a tag or digest."""
        digest = self._tags.get(path, {}).get(name, name)
        return self._manifests.get(path, {}).get(digest)

    def find_blob(self, path: str, digest: str) -> bytes | None:
        """A config's bytes."""
        return self._blobs.get(path, {}).get(digest)


class MemoryRegistry:
    """A Registry over a store, in process. Names are looked up as everywhere, mirrors included."""

    def __init__(self, store: ImageStore, rules: RegistrySettings | None = None) -> None:
        self._store = store
        self._rules = rules or RegistrySettings()

    def get_digest(self, image: str, tag: str) -> str:
        """What the tag names now. Raises ImageNotFoundError."""
        return self._manifest(image, tag, f"{image}:{tag}").digest

    def has_digest(self, image: str, digest: str) -> bool:
        """Is the digest stored?"""
        return self._store.find_manifest(self._path(image), digest) is not None

    def get_tags(self, image: str) -> TagList:
        """All tags. Raises ImageNotFoundError."""
        tags = self._store.find_tags(self._path(image))
        if tags is None:
            raise ImageNotFoundError(f"{image}: not found (NAME_UNKNOWN)", hint="check the name and the tag")
        return TagList(tags=tags)

    def get_facts(self, image: str, digest: str) -> ImageFacts:
        """What the image says of itself. Raises ImageNotFoundError."""
        place = f"{image}@{digest}"
        decoded = self._decoded(image, digest, place)
        index = decoded if isinstance(decoded, media.Index) else None
        if index is not None:
            chosen = index.find_preferred()
            decoded = self._decoded(image, chosen.digest, place) if chosen else None
        manifest = decoded if isinstance(decoded, media.Manifest) else None
        config = None
        if manifest is not None and manifest.config is not None:
            blob = self._store.find_blob(self._path(image), manifest.config)
            config = media.decode_config(blob or b"", place)
        return media.facts_of(digest, index=index, manifest=manifest, config=config)

    def _decoded(self, image: str, digest: str, place: str) -> media.Index | media.Manifest | None:
        stored = self._manifest(image, digest, place)
        return media.decode_manifest(stored.body, stored.media_type, place)

    def _manifest(self, image: str, name: str, place: str) -> StoredManifest:
        stored = self._store.find_manifest(self._path(image), name)
        if stored is None:
            raise ImageNotFoundError(f"{place}: not found (MANIFEST_UNKNOWN)", hint="check the name and the tag")
        return stored

    def _path(self, image: str) -> str:
        return reference.locate(reference.parse(image), self._rules).path


def _make_manifest(recipe: ImageRecipe, platform: str, blobs: dict[str, bytes]) -> StoredManifest:
    _, manifest_type, config_type = _DOCKER if recipe.is_docker else _OCI
    settings: dict[str, Any] = {}
    if recipe.labels:
        settings["Labels"] = dict(recipe.labels)
    if recipe.user:
        settings["User"] = recipe.user
    config = _body(
        {
            **_platform_fields(platform),
            "created": recipe.created,
            "config": settings,
            "rootfs": {"type": "layers", "diff_ids": []},
        }
    )
    digest = media.digest_of(config)
    blobs[digest] = config
    document: dict[str, Any] = {
        "schemaVersion": 2,
        "mediaType": manifest_type,
        "config": {"mediaType": config_type, "digest": digest, "size": len(config)},
        "layers": [],
    }
    if recipe.annotations:
        document["annotations"] = dict(recipe.annotations)
    return StoredManifest(media_type=manifest_type, body=_body(document))


def _platform_fields(platform: str) -> dict[str, str]:
    return dict(zip(("os", "architecture", "variant"), platform.split("/"), strict=False))


def _entry(stored: StoredManifest, platform: Mapping[str, str]) -> dict[str, Any]:
    return {
        "mediaType": stored.media_type,
        "digest": stored.digest,
        "size": len(stored.body),
        "platform": dict(platform),
    }


def _body(document: Mapping[str, Any]) -> bytes:
    return json.dumps(document, sort_keys=True, separators=(",", ":")).encode()
