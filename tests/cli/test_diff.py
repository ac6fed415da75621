"""`kix diff` as people type it: arguments to exit code, stdout and stderr."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.cli.typed import kix

WEB = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, labels: {app.kubernetes.io/instance: web, app.kubernetes.io/version: "%s"}}
spec:
  containers: [{name: web, image: "web:%s"}]
"""
SETTINGS = """\
schema = 1
[clusters.shop]
path = "manifests"
"""


def write(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Version 1 is committed on main and tagged, version 2 stands in the working tree."""
    git(tmp_path, "init", "-q", "-b", "main")
    write(tmp_path, "kix.toml", SETTINGS)
    write(tmp_path, "manifests/web.yaml", WEB % ("1", "1"))
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "one")
    git(tmp_path, "tag", "v1")
    write(tmp_path, "manifests/web.yaml", WEB % ("2", "2"))
    return tmp_path


def names(text: str) -> tuple[str, str]:
    """The two activation names of a diff's last line."""
    old, _, new = text.rstrip("\n").rpartition("Activation: ")[2].partition(" -> ")
    return old, new


def test_a_cluster_against_a_branch(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kix(repository, "diff", "shop", "--from", "git:main") == 0
    text = capsys.readouterr().out
    old, new = names(text)
    assert old != new
    assert old.startswith("shop-")
    assert (
        text
        == f"""\
1 package: 0 unchanged, 1 changed, 0 added, 0 removed

shop
  ~ web 1 -> 2 (1 changed)
      ~ Pod/web@shop
          ~ $.metadata.labels."app.kubernetes.io/version":
              old: "1"
              new: "2"
          ~ $.spec.containers[web].image:
              old: "web:1"
              new: "web:2"

Activation: {old} -> {new}
"""
    )


def test_two_refs_and_the_exit_code(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kix(repository, "diff", "shop", "--from", "git:v1", "--to", "git:main", "--exit-code") == 0
    assert "1 package: 1 unchanged, 0 changed" in capsys.readouterr().out
    git(repository, "commit", "-q", "-a", "-m", "two")
    assert kix(repository, "diff", "shop", "--from", "git:v1", "--to", "git:main", "--exit-code") == 1
    assert "~ web 1 -> 2 (1 changed)" in capsys.readouterr().out


def test_two_folders_of_manifests_as_json(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "old/web.yaml", WEB % ("1", "1"))
    write(tmp_path, "new/web.yaml", WEB % ("1", "2"))
    assert kix(tmp_path, "diff", "new/", "--from", "old/", "-o", "json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["cluster"] is None
    assert found["packages"] == [
        {
            "id": "shop/web",
            "action": "changed",
            "from": "1",
            "to": "1",
            "resources": [
                {
                    "id": "Pod/web@shop",
                    "action": "changed",
                    "reason": "content",
                    "changes": [{"path": "$.spec.containers[web].image", "old": "web:1", "new": "web:2"}],
                }
            ],
        }
    ]


def test_two_files_as_markdown(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "old.yaml", WEB % ("1", "1"))
    write(tmp_path, "new.yaml", WEB % ("2", "2"))
    assert kix(tmp_path, "diff", "--from", "old.yaml", "--to", "new.yaml", "-o", "markdown") == 0
    assert "**Changed packages**\n- `shop/web` 1 → 2 (1 changed)\n" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "code", "error"),
    [
        (
            ("diff", "new.yaml", "--from", "main"),
            2,
            "error: --from main: no such file\n  hint: a branch, tag or commit is --from git:main\n",
        ),
        (("diff", "new.yaml", "--from", "git:"), 2, "error: --from git: names no ref\n  hint: --from git:main\n"),
        (("diff", "--to", "new.yaml"), 2, "error: --to needs --from\n  hint: kix diff --from git:main --to git:HEAD\n"),
        (
            ("diff", "./new.yaml"),
            2,
            "error: a path has no live cluster\n  hint: add --from FILE or --from git:REF, or name a cluster\n",
        ),
    ],
)
def test_a_side_that_cannot_be_used(
    words: tuple[str, ...], code: int, error: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "new.yaml", WEB % ("2", "2"))
    assert kix(tmp_path, *words) == code
    assert capsys.readouterr() == ("", error)


def test_a_side_that_does_not_build_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "old.yaml", "kind: [")
    write(tmp_path, "new.yaml", WEB % ("2", "2"))
    assert kix(tmp_path, "diff", "new.yaml", "--from", "old.yaml") == 3
    assert capsys.readouterr().err.startswith("error: --from old.yaml: ")


def test_a_build_with_two_differing_objects_of_one_name_has_no_diff(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(tmp_path, "old.yaml", WEB % ("1", "1"))
    write(tmp_path, "new.yaml", f"{WEB % ('1', '1')}---\n{WEB % ('2', '2')}")
    assert kix(tmp_path, "diff", "new.yaml", "--from", "old.yaml") == 3
    assert capsys.readouterr().err == (
        "error: manifests: the build has faults, so it has no activation\n  hint: kix check lists them\n"
    )
