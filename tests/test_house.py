"""The house: sizes, floors, what is loaded, what is shipped."""

import ast
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
CLIENTS = {"kubernetes", "github", "gitlab", "jinja2", "kopf", "pydantic"}


def _modules() -> Iterator[Path]:
    yield from sorted((ROOT / "kixbot").rglob("*.py"))


def test_modules_have_at_most_300_lines() -> None:
    sizes = {str(file.relative_to(ROOT)): len(file.read_text(encoding="utf-8").splitlines()) for file in _modules()}
    assert {name: lines for name, lines in sizes.items() if lines > 300} == {}


def test_functions_have_at_most_60_lines() -> None:
    long = {}
    for file in _modules():
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                lines = (node.end_lineno or node.lineno) - node.lineno + 1
                if lines > 60:
                    long[f"{file.relative_to(ROOT)}:{node.name}"] = lines
    assert long == {}


def test_every_package_says_what_it_is_for() -> None:
    silent = [
        str(file.relative_to(ROOT))
        for file in _modules()
        if not ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    ]
    assert silent == []


@pytest.mark.parametrize("arguments", [["--help"], ["build", "shop.yaml"], ["check", "shop.yaml"]])
def test_help_build_and_check_load_no_client_library(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "shop.yaml").write_text(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\ndata: {k: v}\n", encoding="utf-8"
    )
    program = (
        "import json, sys\n"
        "from kixbot.cli.main import run\n"
        f"code = run({arguments!r})\n"
        "print(json.dumps([code, sorted({name.partition('.')[0] for name in sys.modules})]), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        cwd=tmp_path,
        env={"PYTHONPATH": str(ROOT), "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    code, loaded = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stderr
    assert CLIENTS & set(loaded) == set()


def test_the_wheel_holds_the_nix_library_and_the_templates(tmp_path: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "uv", "build", "--wheel", "--no-build-isolation", "--out-dir", str(tmp_path), str(ROOT)],
        check=True,
        capture_output=True,
    )
    (wheel,) = tmp_path.glob("*.whl")
    names = set(zipfile.ZipFile(wheel).namelist())
    expected = {
        f"kixbot/{folder}/{file.relative_to(ROOT / 'kixbot' / folder)}"
        for folder in ("nix", "templates", "examples")
        for file in (ROOT / "kixbot" / folder).resolve().rglob("*")
        if file.is_file()
        for file in [ROOT / "kixbot" / folder / file.relative_to((ROOT / "kixbot" / folder).resolve())]
    }
    assert expected - names == set()
    assert any(name.startswith("kixbot/nix/lib/") for name in names)
    assert any(name.startswith("kixbot/templates/") for name in names)


def test_the_top_level_is_as_the_map_says() -> None:
    tracked = subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout
    assert {name.partition("/")[0] for name in tracked.splitlines()} <= {
        ".ci", ".github", ".gitignore", ".gitlab-ci.yml", "CHANGELOG.md", "CONTRIBUTING.md", "Dockerfile", "LICENSE",
        "Makefile", "README.md", "SECURITY.md", "action.yml", "bench", "docs", "examples", "flake.nix", "kixbot",
        "pyproject.toml", "templates", "tests",
    }  # fmt: skip
