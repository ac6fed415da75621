"""What every registry does, embedded or real, open or behind a login."""

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from kixbot.registry.interface import ImageFacts, ImageNotFoundError, TagList
from kixbot.registry.memory import ImageRecipe, make_image
from tests.contracts.registry_worlds import WORLDS, World, start_world

ABSENT = "sha256:" + "0" * 64


@pytest.fixture(params=list(WORLDS))
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    yield from start_world(request.param, tmp_path, request)


@pytest.fixture
def path() -> str:
    """A repository of this test's own: real registries are shared."""
    return f"t{uuid.uuid4().hex[:12]}/web"


@pytest.mark.parametrize("is_docker", [False, True])
def test_a_tag_names_the_index_and_not_one_platforms_manifest(world: World, path: str, *, is_docker: bool) -> None:
    content = make_image(ImageRecipe(is_docker=is_docker))
    assert len(content.manifests) == 3
    world.put(path, "1.0", content)
    assert world.registry.get_digest(world.image(path), "1.0") == content.top


@pytest.mark.parametrize("is_docker", [False, True])
def test_a_tag_of_one_platform_names_its_manifest(world: World, path: str, *, is_docker: bool) -> None:
    content = make_image(ImageRecipe(is_docker=is_docker, platforms=("linux/amd64",)))
    world.put(path, "1.0", content)
    assert world.registry.get_digest(world.image(path), "1.0") == content.top


def test_a_tag_that_moves_names_the_new_digest_and_the_old_one_stays(world: World, path: str) -> None:
    old = world.put(path, "1.0", make_image(ImageRecipe(user="1")))
    new = world.put(path, "1.0", make_image(ImageRecipe(user="2")))
    image = world.image(path)
    assert world.registry.get_digest(image, "1.0") == new
    assert [world.registry.has_digest(image, digest) for digest in (old, new)] == [True, True]


def test_an_absent_tag_is_not_found(world: World, path: str) -> None:
    world.put(path, "1.0", make_image(ImageRecipe()))
    with pytest.raises(ImageNotFoundError, match=r"/web:2\.0: not found"):
        world.registry.get_digest(world.image(path), "2.0")


def test_an_absent_repository_is_not_found(world: World, path: str) -> None:
    image = world.image(path)
    with pytest.raises(ImageNotFoundError, match="not found"):
        world.registry.get_digest(image, "1.0")
    with pytest.raises(ImageNotFoundError, match="not found"):
        world.registry.get_tags(image)
    assert not world.registry.has_digest(image, ABSENT)


def test_a_deleted_digest_is_gone(world: World, path: str) -> None:
    digest = world.put(path, "1.0", make_image(ImageRecipe()))
    world.filler.delete(path, digest)
    assert not world.registry.has_digest(world.image(path), digest)
    with pytest.raises(ImageNotFoundError, match="not found"):
        world.registry.get_facts(world.image(path), digest)


def test_all_tags_are_listed(world: World, path: str) -> None:
    content = make_image(ImageRecipe())
    for tag in ("1.10", "1.9", "latest"):
        world.put(path, tag, content)
    assert world.registry.get_tags(world.image(path)) == TagList(tags=("1.10", "1.9", "latest"))


def test_an_image_says_when_from_what_and_for_what_it_was_built(world: World, path: str) -> None:
    recipe = ImageRecipe(
        platforms=("linux/arm64/v8", "linux/amd64", "linux/arm/v7"),
        created="2026-09-09T10:47:00Z",
        user="101:101",
        labels={
            "org.opencontainers.image.revision": "c1b8d5e",
            "org.opencontainers.image.source": "https://github.com/acme/web",
        },
        with_attestations=True,
    )
    digest = world.put(path, "1.0", make_image(recipe))
    assert world.registry.get_facts(world.image(path), digest) == ImageFacts(
        digest=digest,
        platforms=("linux/arm64", "linux/amd64", "linux/arm/v7"),
        created="2026-09-09T10:47:00Z",
        revision="c1b8d5e",
        source="https://github.com/acme/web",
        user="101:101",
    )


def test_an_image_without_a_user_says_so(world: World, path: str) -> None:
    digest = world.put(path, "1.0", make_image(ImageRecipe(platforms=("linux/amd64",))))
    facts = world.registry.get_facts(world.image(path), digest)
    assert (facts.user, facts.platforms) == ("", ("linux/amd64",))


def test_one_client_reads_two_repositories_in_turn(world: World, path: str) -> None:
    first = world.put(path, "1.0", make_image(ImageRecipe(user="1")))
    second = world.put(f"{path}-two", "1.0", make_image(ImageRecipe(user="2")))
    images = [world.image(path), world.image(f"{path}-two")] * 2
    assert [world.registry.get_digest(image, "1.0") for image in images] == [first, second] * 2
    assert world.notes == []
