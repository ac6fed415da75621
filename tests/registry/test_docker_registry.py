"""A real registry with a token server, and crane's opinion of what a tag names."""

import os
import subprocess
from pathlib import Path

import pytest

from kixbot.registry.interface import ImageDeniedError
from kixbot.registry.memory import ImageRecipe, make_image
from tests.contracts.registry_worlds import DockerFiller, client_of, write_login
from tests.parts.paths import CRANE
from tests.parts.registry import PASSWORD, USER, Registry

CONTENT = make_image(ImageRecipe())
LISTED = ("127.0.0.1", "localhost")

IMAGES = {
    "oci-index": ImageRecipe(),
    "oci-manifest": ImageRecipe(platforms=("linux/amd64",)),
    "docker-list": ImageRecipe(is_docker=True),
    "docker-manifest": ImageRecipe(is_docker=True, platforms=("linux/arm64",)),
    "attested": ImageRecipe(with_attestations=True, platforms=("linux/amd64",)),
}


def test_crane_agrees_on_what_every_tag_names(image_registry: Registry, tmp_path: Path) -> None:
    notes: list[str] = []
    registry, filler = client_of(notes, {}, tmp_path, *LISTED), DockerFiller(image_registry)
    for tag, recipe in IMAGES.items():
        filler.put("crane/agrees", tag, make_image(recipe))
    image = f"{image_registry.host}/crane/agrees"
    cranes = {
        tag: subprocess.run(
            [CRANE.get("bin/crane"), "digest", f"{image}:{tag}"], check=True, capture_output=True, text=True,
            env={"PATH": os.environ["PATH"], "HOME": str(tmp_path)},
        ).stdout.strip()
        for tag in IMAGES
    }  # fmt: skip
    assert {tag: registry.get_digest(image, tag) for tag in IMAGES} == cranes
    assert registry.get_tags(image).tags == tuple(sorted(IMAGES))


def test_everybody_reads_what_is_public_and_nobody_what_is_not(token_registry: Registry, tmp_path: Path) -> None:
    notes: list[str] = []
    registry, filler = client_of(notes, {}, tmp_path, *LISTED), DockerFiller(token_registry)
    for path in ("public/web", "private/web"):
        filler.put(path, "1.0", CONTENT)
    assert registry.get_digest(f"{token_registry.host}/public/web", "1.0") == CONTENT.top
    with pytest.raises(ImageDeniedError) as caught:
        registry.get_digest(f"{token_registry.host}/private/web", "1.0")
    assert caught.value.message == f"{token_registry.host}/private/web:1.0: not found or no access (UNAUTHORIZED)"
    assert notes == []


def test_a_stale_login_reads_what_is_public_and_says_so(token_registry: Registry, tmp_path: Path) -> None:
    notes: list[str] = []
    environment = write_login(tmp_path, token_registry.host, USER, "canary-old-password")
    registry, filler = client_of(notes, environment, tmp_path, *LISTED), DockerFiller(token_registry)
    filler.put("public/web", "1.0", CONTENT)
    assert registry.get_digest(f"{token_registry.host}/public/web", "1.0") == CONTENT.top
    assert notes == [f"your stored login for {token_registry.host} was rejected; it is asked without a login"]


def test_two_private_repositories_have_a_token_each(token_registry: Registry, tmp_path: Path) -> None:
    notes: list[str] = []
    environment = write_login(tmp_path, token_registry.host, USER, PASSWORD)
    registry, filler = client_of(notes, environment, tmp_path, *LISTED), DockerFiller(token_registry)
    for path in ("private/web", "private/db"):
        filler.put(path, "1.0", CONTENT)
    for _ in range(2):
        for path in ("private/web", "private/db"):
            assert registry.get_digest(f"{token_registry.host}/{path}", "1.0") == CONTENT.top
    assert token_registry.tokens is not None
    assert token_registry.tokens.asked == [
        (USER, ("repository:private/web:pull",)),
        (USER, ("repository:private/db:pull",)),
    ]


def test_without_a_listing_a_login_does_not_reach_a_token_server_of_another_name(
    token_registry: Registry, tmp_path: Path
) -> None:
    notes: list[str] = []
    environment = write_login(tmp_path, token_registry.host, USER, PASSWORD)
    registry = client_of(notes, environment, tmp_path, "127.0.0.1")
    with pytest.raises(Exception, match="localhost: not contacted"):
        registry.get_digest(f"{token_registry.host}/private/web", "1.0")
    assert token_registry.tokens is not None
    assert token_registry.tokens.asked == []
    assert notes[0].startswith(f"the login for {token_registry.host} is not sent to localhost:")
