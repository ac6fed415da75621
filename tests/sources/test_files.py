"""What may be opened: regular files of the tree, and nothing else."""

import os
from pathlib import Path

import pytest

from kixbot.errors import ExitCode, SourceError
from kixbot.sources import files
from kixbot.sources.manifests import File

CANARY = "canary-4711"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "secret").write_text(CANARY)
    folder = tmp_path / "tree"
    (folder / "app" / "inner").mkdir(parents=True)
    (folder / ".git").mkdir()
    (folder / ".git" / "config").write_text(CANARY)
    for name in ("app/b.yaml", "app/inner/a.yml", "app/c.json", "app/README.md", "app/.hidden.yaml", "app/pins.json"):
        (folder / name).write_text(name)
    return folder


def refusal(root: Path, path: str) -> str:
    with pytest.raises(SourceError) as caught:
        files.read_inside(root, path)
    assert CANARY not in caught.value.message
    assert str(root) not in caught.value.message
    assert caught.value.exit_code == ExitCode.SOURCE
    return caught.value.message


def test_a_file_is_read_through_the_tree_s_own_links(root: Path) -> None:
    (root / "link").symlink_to("app/inner/..")
    assert files.read_inside(root, "./link/b.yaml") == b"app/b.yaml"


@pytest.mark.parametrize(
    ("path", "message"),
    [
        ("/etc/passwd", "'/etc/passwd': an absolute path"),
        ("../secret", "../secret: leads outside the tree"),
        ("app/../../secret", "app/../../secret: leads outside the tree"),
        (".git/config", ".git/config: git's own files are no source"),
        ("app/../.GIT/config", "app/../.GIT/config: git's own files are no source"),
        ("absent", "absent: no such file or folder"),
        ("app/b.yaml/x", "app/b.yaml/x: no such file or folder"),
        ("app", "app: not a regular file"),
        ("app/\0", "'app/\\x00': an absolute path"),
    ],
)
def test_a_path_out_of_the_tree_is_refused(root: Path, path: str, message: str) -> None:
    assert refusal(root, path) == message


@pytest.mark.parametrize(
    ("target", "message"),
    [
        ("../secret", "x: leads outside the tree"),
        ("/etc/passwd", "x: leads outside the tree"),
        ("app/../../secret", "x: leads outside the tree"),
        (".git/config", "x: git's own files are no source"),
        ("x", "x: symbolic links form a loop"),
    ],
)
def test_a_link_out_of_the_tree_is_refused(root: Path, target: str, message: str) -> None:
    (root / "x").symlink_to(target)
    assert refusal(root, "x") == message


def test_a_pipe_is_no_file_and_nobody_waits_for_it(root: Path) -> None:
    os.mkfifo(root / "pipe")
    assert refusal(root, "pipe") == "pipe: not a regular file"


def test_a_device_is_no_file(root: Path) -> None:
    (root / "zero").symlink_to("/dev/zero")
    assert refusal(root, "zero") == "zero: leads outside the tree"


def test_a_file_beyond_the_bound_is_refused(root: Path) -> None:
    with (root / "big").open("wb") as stream:
        stream.truncate(32 * 2**20 + 1)
    assert refusal(root, "big") == "big: larger than 32 MiB"


def test_a_folder_gives_its_manifests_by_name(root: Path) -> None:
    assert files.collect(root, "app") == tuple(
        File(name=name, data=name.encode()) for name in ("app/b.yaml", "app/c.json", "app/inner/a.yml")
    )


def test_files_that_git_does_not_know_are_left_out(root: Path) -> None:
    found = files.collect(root, "./app/", known={"app/c.json", "app/inner/a.yml"})
    assert [file.name for file in found] == ["app/c.json", "app/inner/a.yml"]


def test_a_folder_without_manifests_does_not_build(root: Path) -> None:
    (root / "empty").mkdir()
    with pytest.raises(SourceError) as caught:
        files.collect(root, "empty")
    assert caught.value.message == "empty: no manifest in this folder"
    assert caught.value.hint == "put .yaml, .yml or .json files there"


@pytest.mark.parametrize(
    ("name", "hint"),
    [("kustomization.yaml", "kustomize build app | kix check -"), ("Chart.yaml", "helm template app | kix check -")],
)
def test_what_must_be_rendered_says_how(root: Path, name: str, hint: str) -> None:
    (root / "app" / name).write_text("x")
    with pytest.raises(SourceError) as caught:
        files.collect(root, "app")
    assert (caught.value.message, caught.value.hint) == (f"{name}: this folder must be rendered first", hint)


def test_a_link_in_a_folder_of_manifests_stays_in_the_tree(root: Path) -> None:
    (root / "app" / "d.yaml").symlink_to("../../secret")
    with pytest.raises(SourceError) as caught:
        files.collect(root, "app")
    assert caught.value.message == "app/d.yaml: leads outside the tree"


def test_linked_folders_are_not_followed(root: Path) -> None:
    (root / "app" / "again").symlink_to("..")
    assert len(files.collect(root, "app")) == 3
