"""`kix export` as people type it: stable files, checked, and nobody else's touched."""

from pathlib import Path

import pytest

from kixbot.ops.build import BuildRequest, build
from tests.cli.test_deploy import CANARY, edit, repository
from tests.cli.typed import kix

__all__ = ["repository"]


def files(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_every_manifest_is_a_file_and_reads_back_as_the_same_objects(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kix(repository, "export", "shop", "-o", "out") == 0
    assert capsys.readouterr().err == "4 manifests in out, 5 files changed\n"
    out = repository / "out"
    assert files(out) == [
        "_cluster/namespace-shop.yaml",
        "kix-export.json",
        "shop/configmap-web.yaml",
        "shop/deployment-web.yaml",
        "shop/service-web.yaml",
    ]
    assert (out / "shop" / "configmap-web.yaml").read_text(encoding="utf-8") == (
        "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: web\n  namespace: shop\ndata:\n  colour: blue\n"
    )
    (out / "kix-export.json").unlink()
    again = build(BuildRequest(directory=repository, targets=("./out",))).build
    before = build(BuildRequest(directory=repository, targets=("shop",))).build
    assert {one.ref: one.manifest for one in again.resources} == {one.ref: one.manifest for one in before.resources}


def test_check_tells_by_its_exit_code_what_is_not_as_the_build_says(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kix(repository, "export", "shop", "-o", "out")
    assert kix(repository, "export", "shop", "-o", "out", "--check") == 0
    edit(repository, "colour: blue", "colour: green")
    edit(repository, "kind: Service\n", "kind: Service\n")
    (repository / "out" / "shop" / "deployment-web.yaml").unlink()
    capsys.readouterr()
    assert kix(repository, "export", "shop", "-o", "out", "--check") == 1
    assert capsys.readouterr().out == "shop/configmap-web.yaml: differs\nshop/deployment-web.yaml: missing\n"
    assert kix(repository, "export", "shop", "-o", "out") == 0
    assert kix(repository, "export", "shop", "-o", "out", "--check") == 0


def test_a_file_that_left_the_build_goes_and_one_of_somebody_else_stays(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kix(repository, "export", "shop", "-o", "out")
    (repository / "out" / "notes.md").write_text("mine", encoding="utf-8")
    text = (repository / "manifests" / "shop.yaml").read_text(encoding="utf-8")
    (repository / "manifests" / "shop.yaml").write_text(text.rpartition("---\n")[0], encoding="utf-8")
    capsys.readouterr()
    assert kix(repository, "export", "shop", "-o", "out", "--check") == 1
    assert "shop/service-web.yaml: left over\n" in capsys.readouterr().out
    assert kix(repository, "export", "shop", "-o", "out") == 0
    assert "shop/service-web.yaml" not in files(repository / "out")
    assert "notes.md" in files(repository / "out")


def test_an_existing_file_that_no_export_made_is_not_overwritten(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    mine = repository / "out" / "shop" / "service-web.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine", encoding="utf-8")
    assert kix(repository, "export", "shop", "-o", "out") == 2
    assert "shop/service-web.yaml: is there and was not made by kix export" in capsys.readouterr().err
    assert mine.read_text(encoding="utf-8") == "mine"


@pytest.mark.parametrize("index", ['{"files": ["../kix.toml", "/etc/passwd", "a/../../kix.toml"]}', "{}"])
def test_a_hostile_index_removes_nothing_outside(repository: Path, index: str) -> None:
    (repository / "out").mkdir()
    (repository / "out" / "kix-export.json").write_text(index, encoding="utf-8")
    assert kix(repository, "export", "shop", "-o", "out") in (0, 2)
    assert (repository / "kix.toml").is_file()


def test_json_is_written_the_same_way(repository: Path) -> None:
    assert kix(repository, "export", "shop", "-o", "out", "--format", "json") == 0
    assert (repository / "out" / "shop" / "configmap-web.json").read_text(encoding="utf-8").startswith('{\n  "apiV')


def test_secret_values_are_not_written(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    secret = f"---\napiVersion: v1\nkind: Secret\nmetadata: {{name: s, namespace: shop}}\nstringData: {{k: {CANARY}}}\n"
    file = repository / "manifests" / "shop.yaml"
    file.write_text(file.read_text(encoding="utf-8") + secret, encoding="utf-8")
    assert kix(repository, "export", "shop", "-o", "out") == 1
    assert "Secret shop/s: an export would write its values in plain text" in capsys.readouterr().err
    assert not (repository / "out").exists()
