"""`kix build` as people type it: arguments to exit code, stdout and stderr."""

import json
import os
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest

from tests.cli.typed import kix

ROOT = Path(__file__).parents[2]
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n"
CANARY = "canary-4711"
DEFINITION = """{ kix, packages }:
kix.buildCluster {
  name = "shop";
  modules = [ kix.flavors.kind { resources.shop.ConfigMap.a.data.x = TEXT; } ];
}
"""


def write(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_a_build_prints_its_activation_and_store_path(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "app/a.yaml", MAP.replace(", namespace: shop", ""))
    write(tmp_path, "kix.toml", '[clusters.shop]\npath = "app"\n')
    assert kix(tmp_path, "build", "shop") == 0
    assert capsys.readouterr() == (
        "shop-1xjlqn0qd37p\n/nix/store/1xjlqn0qd37pnp5rkab9ik5k89s31y82-Activation-shop.json\n",
        "",
    )


def test_the_document_follows_its_schema(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "clusters/shop.nix", DEFINITION.replace("TEXT", '"y"'))
    assert kix(tmp_path, "build", "-o", "json") == 0
    schema = json.loads((ROOT / "docs" / "schemas" / "build.json").read_text())
    jsonschema.validate(json.loads(capsys.readouterr().out), schema)


def test_an_error_of_the_check_ends_a_build_with_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "web.yaml", MAP + f"data: {{x: {'y' * 2 * 2**20}}}\n")
    assert kix(tmp_path, "build", "web.yaml") == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err == (
        "| Tool | Result | Details |\n"
        "|---|---|---|\n"
        "| eval | pass | 1 manifest evaluated |\n"
        "| scorecard | fail | 1 error, 0 warnings, 0 info |\n"
        "\n"
        "✗ ConfigMap shop/a has 2.0 MiB of values; the API server takes at most 1.0 MiB\n"
        "    --> web.yaml:4  ConfigMap/a@shop $.data  api/object-size\n"
        "  hint: split it, or mount the content from an image or a volume\n"
    )


@pytest.mark.parametrize(
    ("files", "words", "code", "said"),
    [
        ({"a.yaml": f"{MAP}data: {{x: a}}\n---\n{MAP}"}, ["a.yaml"], 3, "eval | fail"),
        ({"a.yaml": "apiVersion: v1\nkind: Job\nmetadata: {generateName: a-}\n"}, ["a.yaml"], 3, "has no name"),
        ({"a.yaml": MAP.replace("shop", "n")}, ["a.yaml"], 3, "error: ConfigMap/a: $.metadata.namespace reads as the boolean false\n    --> a.yaml:3\n  hint: quote it\n"),
        ({"a.yaml": "a: [\n"}, ["a.yaml"], 3, "error: broken YAML: while parsing a flow node, did not find expected node content\n    --> a.yaml:2\n"),
        ({"a.yaml": "a: 1\n"}, ["a.yaml"], 3, "error: manifest without kind\n    --> a.yaml:1\n  hint: add `kind:`, or keep files that are no manifests elsewhere\n"),
        ({"app/x.txt": ""}, ["app"], 3, "error: app: no manifest in this folder\n  hint: put .yaml, .yml or .json files there\n"),
        ({"clusters/shop.nix": DEFINITION.replace("TEXT", "foo")}, [], 3, "error: undefined variable 'foo'\n    --> clusters/shop.nix:4\n"),
        ({"kix.toml": "x = 1"}, ["shop"], 2, "error: kix.toml: unknown key 'x'\n"),
        ({}, ["shop"], 2, "error: 'shop' is neither a cluster nor a path\n"),
        ({}, ["--ref", "main", "shop"], 2, ": not a git repository, so 'main' names nothing\n"),
    ],
)  # fmt: skip
def test_what_does_not_build_ends_in_one_clear_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], files: dict[str, str], words: list[str], code: int, said: str
) -> None:
    for name, text in files.items():
        write(tmp_path, name, text)
    assert kix(tmp_path, "build", *words) == code
    out, err = capsys.readouterr()
    assert out == ""
    assert said in err
    assert "Traceback" not in err


def test_without_nix_a_definition_ends_with_4(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, "clusters/shop.nix", DEFINITION.replace("TEXT", '"y"'))
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    assert kix(tmp_path, "build") == 4
    assert capsys.readouterr().err == (
        "error: nix is not installed, and a definition in Nix needs it\n"
        "  hint: install Nix, for example: apt-get install nix-bin (Debian, Ubuntu), or see nixos.org/download\n"
    )


def test_a_canary_in_the_environment_appears_in_no_output(tmp_path: Path) -> None:
    probe = 'builtins.getEnv "GITHUB_TOKEN" + builtins.toJSON builtins.nixPath + (if builtins ? currentTime then "clock" else "")'
    write(tmp_path, "clusters/shop.nix", DEFINITION.replace("TEXT", probe))
    environment = {**os.environ, "GITHUB_TOKEN": CANARY, "NIX_PATH": f"x=/{CANARY}", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "kixbot", "--verbose", "build", "-o", "json"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert CANARY not in done.stdout + done.stderr
    assert '"x": "[]"' in done.stdout


def test_standard_input_is_built_without_nix_on_path(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "kixbot", "build", "-"],
        cwd=tmp_path,
        env={"PATH": "/nowhere", "PYTHONPATH": str(ROOT)},
        input=MAP,
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("manifests-")
