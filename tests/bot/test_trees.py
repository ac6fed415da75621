"""Trees of commits, from the checkout where it has them, else fetched by SHA."""

import subprocess
from pathlib import Path

import pytest

from kixbot.bot.trees import Remote, Trees
from kixbot.errors import GitError
from tests.contracts.forge_world import LocalWorld


def shallow(world: LocalWorld, folder: Path) -> Path:
    """What actions/checkout leaves: one commit of one branch."""
    url = f"file://{world.folder}"
    subprocess.run(["git", "clone", "--quiet", "--depth=1", "--branch=bump", url, str(folder)], check=True)
    return folder


@pytest.fixture
def world(tmp_path: Path) -> LocalWorld:
    made = LocalWorld(tmp_path / "forge.git")
    # As GitHub and GitLab allow it: any commit by its SHA.
    (made.folder / "config").write_text("[core]\n\tbare = true\n[uploadpack]\n\tallowAnySHA1InWant = true\n")
    made.commit("main", {"kix.toml": b"schema = 1\n"})
    made.commit("bump", {"more": b"1\n"})
    made.commit("main", {"later": b"1\n"})
    return made


def test_a_commit_the_checkout_lacks_is_fetched_by_its_sha(world: LocalWorld, tmp_path: Path) -> None:
    checkout = shallow(world, tmp_path / "checkout")
    main = world.forge.find_branch("main") or ""
    base = world.forge.compare("main", "bump").merge_base
    remote = Remote(url=f"file://{world.folder}")
    trees = Trees(tmp_path / "scratch", checkout=checkout, remote=remote, branch=lambda: "main")
    assert trees.tree(base).files == ("README", "kix.toml")
    assert trees.tree(main).files == ("README", "kix.toml", "later")
    assert trees.find_file(main, "later") == b"1\n"
    assert trees.find_file(base, "later") is None
    assert trees.tree(base).commit == base
    assert not (checkout / ".git" / "FETCH_HEAD").exists()


def test_git_tells_every_changed_file_also_of_a_change_that_no_forge_lists_whole(
    world: LocalWorld, tmp_path: Path
) -> None:
    before = world.forge.find_branch("main") or ""
    after = world.commit(
        "main", {f"many/{number:03}": b"1\n" for number in range(400)} | {"kix.toml": b"schema = 1 \n"}
    )
    trees = Trees(tmp_path / "scratch", checkout=world.folder, remote=None, branch=lambda: "main")
    expected = ("kix.toml", *(f"many/{number:03}" for number in range(400)))
    assert trees.changed_files(before, after) == expected
    assert trees.changed_files(after, before) == expected


def test_without_a_remote_the_hint_says_how_to_check_out(world: LocalWorld, tmp_path: Path) -> None:
    checkout = shallow(world, tmp_path / "checkout")
    trees = Trees(tmp_path / "scratch", checkout=checkout, remote=None, branch=lambda: "main")
    with pytest.raises(GitError) as error:
        trees.tree(world.first)
    assert error.value.message == f"commit {world.first} is not in this clone"
    assert error.value.hint == "check out with fetch-depth: 0"


def test_without_any_checkout_everything_is_fetched(world: LocalWorld, tmp_path: Path) -> None:
    remote = Remote(url=f"file://{world.folder}", token="secret-canary")
    trees = Trees(tmp_path / "scratch", checkout=None, remote=remote, branch=lambda: "main")
    assert trees.tree(world.first).files == ("README",)


def test_a_token_stands_in_a_header_for_its_own_address_alone() -> None:
    header = Remote(url="https://github.com/acme/shop", token="secret-canary").header
    assert header is not None
    assert header.url == "https://github.com/acme/shop"
    assert header.value == "Authorization: Basic eC1hY2Nlc3MtdG9rZW46c2VjcmV0LWNhbmFyeQ=="
