"""Manifests of registries that differ: HEAD, digests, types, attestations."""

import json
from pathlib import Path

import pytest

from kixbot.registry import media
from kixbot.registry.interface import ImageFacts, ImageNotFoundError, RegistryAnswerError
from kixbot.registry.loopback import Received, Reply
from kixbot.registry.memory import ImageRecipe, make_image
from tests.registry.odd import CONTENT, NEWER, bench, fault, manifest, on, served

TOP = CONTENT.manifests[CONTENT.top]
WRONG = "sha256:" + "1" * 64


def test_a_tag_is_one_head_that_accepts_all_four_types(tmp_path: Path) -> None:
    with bench(tmp_path) as b:
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top
        assert b.server.lines == [f"HEAD {manifest()}"]
        assert b.server.requests[0].headers["accept"].split(", ") == [
            "application/vnd.oci.image.index.v1+json",
            "application/vnd.docker.distribution.manifest.list.v2+json",
            "application/vnd.oci.image.manifest.v1+json",
            "application/vnd.docker.distribution.manifest.v2+json",
        ]


def test_what_is_served_for_a_narrow_accept_is_never_pinned(tmp_path: Path) -> None:
    platform = next(stored for digest, stored in CONTENT.manifests.items() if digest != CONTENT.top)

    def negotiate(received: Received) -> Reply | None:
        if media.OCI_INDEX in received.headers.get("accept", ""):
            return None
        return served(platform.body, platform.media_type, **{"Docker-Content-Digest": platform.digest})

    with bench(tmp_path, on("", negotiate)) as b:
        assert [b.registry.get_digest(b.image, "1.0") for _ in range(2)] == [CONTENT.top] * 2


@pytest.mark.parametrize("status", [404, 405, 400, 501])
def test_a_registry_without_head_is_asked_by_get_and_its_bytes_are_hashed(tmp_path: Path, status: int) -> None:
    with bench(tmp_path, on("HEAD", fault(status))) as b:
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top
        assert b.registry.has_digest(b.image, CONTENT.top)
        assert b.asked("GET") == [f"GET {manifest()}", f"GET {manifest(CONTENT.top)}"]


@pytest.mark.parametrize("said", [{}, {"Docker-Content-Digest": "sha256:short"}, {"Docker-Content-Digest": "x; rm"}])
def test_a_head_without_a_digest_is_followed_by_one_get(tmp_path: Path, said: dict[str, str]) -> None:
    with bench(tmp_path, on("HEAD", Reply(headers=said))) as b:
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top
        assert b.server.lines == [f"HEAD {manifest()}", f"GET {manifest()}"]


def test_a_sha512_digest_is_taken(tmp_path: Path) -> None:
    digest = media.digest_of(TOP.body, "sha512")

    def answer(received: Received) -> Reply:
        return served(TOP.body, TOP.media_type, **{"Docker-Content-Digest": digest})

    with bench(tmp_path, on("", answer)) as b:
        assert b.registry.get_digest(b.image, "1.0") == digest
        assert b.registry.has_digest(b.image, digest)


def test_a_body_that_does_not_hash_to_the_announced_digest_is_not_pinned(tmp_path: Path) -> None:
    def answer(received: Received) -> Reply:
        if received.method == "HEAD":
            return fault(404)
        return served(TOP.body, TOP.media_type, **{"Docker-Content-Digest": WRONG})

    with bench(tmp_path, on("", answer)) as b, pytest.raises(RegistryAnswerError, match=f"do not hash to {WRONG}"):
        b.registry.get_digest(b.image, "1.0")


def test_a_body_that_does_not_hash_to_the_digest_it_was_asked_by_is_refused(tmp_path: Path) -> None:
    other = NEWER.manifests[NEWER.top]
    reply = served(other.body, other.media_type, **{"Docker-Content-Digest": CONTENT.top})
    with bench(tmp_path, on(f"GET {manifest('sha256')}", reply)) as b, pytest.raises(RegistryAnswerError, match="hash"):
        b.registry.get_facts(b.image, CONTENT.top)


def test_a_config_that_does_not_hash_to_its_digest_is_refused(tmp_path: Path) -> None:
    reply = Reply(body=b'{"config":{"User":"0"}}')
    with bench(tmp_path, on("GET /v2/acme/web/blobs/", reply)) as b, pytest.raises(RegistryAnswerError, match="hash"):
        b.registry.get_facts(b.image, CONTENT.top)


def test_another_digest_than_the_asked_one_is_refused(tmp_path: Path) -> None:
    reply = Reply(headers={"Docker-Content-Digest": WRONG})
    with (
        bench(tmp_path, on("HEAD", reply)) as b,
        pytest.raises(RegistryAnswerError, match="answers with another digest"),
    ):
        b.registry.has_digest(b.image, CONTENT.top)


@pytest.mark.parametrize("method", ["HEAD", "GET"])
def test_schema_1_is_refused_by_name(tmp_path: Path, method: str) -> None:
    old = served(b'{"schemaVersion":1}', "application/vnd.docker.distribution.manifest.v1+prettyjws")

    def answer(received: Received) -> Reply:
        return old if received.method == method else fault(404)

    with bench(tmp_path, on("", answer)) as b, pytest.raises(RegistryAnswerError, match="a manifest of schema 1"):
        b.registry.get_digest(b.image, "1.0")


def test_an_index_without_a_media_type_and_with_attestations_is_read(tmp_path: Path) -> None:
    content = make_image(
        ImageRecipe(
            names_media_type=False,
            with_attestations=True,
            platforms=("linux/arm64/v8",),
            annotations={"org.opencontainers.image.revision": "fromindex"},
        )
    )
    top = content.manifests[content.top]
    with bench(tmp_path, on(f"GET {manifest(content.top)}", served(top.body, "application/json"))) as b:
        b.server._store.put("acme/web", "2.0", content)
        assert b.registry.get_facts(b.image, content.top) == ImageFacts(
            digest=content.top,
            platforms=("linux/arm64",),
            created="2026-01-01T00:00:00Z",
            revision="fromindex",
            user="",
        )


def test_an_artifact_that_is_no_image_has_no_user(tmp_path: Path) -> None:
    body = json.dumps(
        {
            "schemaVersion": 2,
            "mediaType": media.OCI_MANIFEST,
            "config": {"mediaType": "application/vnd.cncf.helm.config.v1+json", "digest": WRONG, "size": 2},
            "annotations": {"org.opencontainers.image.created": "2026-02-02T00:00:00Z"},
        }
    ).encode()
    digest = media.digest_of(body)
    with bench(tmp_path, on(f"GET {manifest(digest)}", served(body, media.OCI_MANIFEST))) as b:
        assert b.registry.get_facts(b.image, digest) == ImageFacts(digest=digest, created="2026-02-02T00:00:00Z")


@pytest.mark.parametrize(
    "body",
    [b"", b"<html>", b"[]", b"{}", b'{"manifests":[1]}', b'{"manifests":[{}]}', b'{"config":[]}', b"[" * 100_000],
)
def test_an_answer_that_is_no_manifest_is_refused(tmp_path: Path, body: bytes) -> None:
    digest = media.digest_of(body)
    reply = served(body, media.OCI_INDEX if b"manifests" in body else media.OCI_MANIFEST)
    with bench(tmp_path, on(f"GET {manifest(digest)}", reply)) as b, pytest.raises(RegistryAnswerError) as caught:
        b.registry.get_facts(b.image, digest)
    assert caught.value.message.startswith(f"{b.image}@{digest}: ")


def test_an_answer_of_more_than_four_mebibytes_is_refused(tmp_path: Path) -> None:
    reply = Reply(body=b" " * (4 * 2**20 + 1))
    with (
        bench(tmp_path, on("GET", reply)) as b,
        pytest.raises(RegistryAnswerError, match="an answer of more than 4 MiB"),
    ):
        b.registry.get_facts(b.image, CONTENT.top)


def test_a_registrys_words_are_not_repeated_but_its_code_is(tmp_path: Path) -> None:
    with bench(tmp_path, on("", fault(404, "MANIFEST_UNKNOWN"))) as b, pytest.raises(ImageNotFoundError) as caught:
        b.registry.get_digest(b.image, "1.0")
    assert caught.value.message == f"{b.image}:1.0: not found (MANIFEST_UNKNOWN)"
