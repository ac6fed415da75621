"""The Nix library, case by case: `<case>/expr.nix` and what it comes to, under the sandbox of every evaluation.

`expected.json` is the value; `expected-error.txt` the message, its place and its hint. `--golden` rewrites both.
"""

import functools
import json
import re
from pathlib import Path

import pytest

from kixbot.errors import SourceError
from kixbot.sources import nix
from kixbot.sources.tree import Tree

HERE = Path(__file__).parent
CASES = sorted(file.parent.name for file in HERE.glob("*/expr.nix"))


def evaluate(*cases: str) -> dict[str, object]:
    """The values of cases, in one run of Nix."""
    files = ["helpers.nix"]
    for case in cases:
        files += [file.relative_to(HERE).as_posix() for file in (HERE / case).rglob("*") if file.is_file()]
    tree = Tree(root=HERE, files=tuple(sorted(files)))
    members = "".join(f'"{case}" = import "${{tree}}/{case}/expr.nix" helpers; ' for case in cases)
    expression = f'let helpers = import "${{tree}}/helpers.nix" (import "${{kix}}/default.nix"); in {{ {members}}}'
    value = nix.expression(tree, expression).value
    assert isinstance(value, dict)
    return value


@functools.cache
def evaluated_together() -> dict[str, object]:
    """All cases that come to a value; nothing where one of them fails, so that each is asked alone."""
    try:
        return evaluate(*(case for case in CASES if (HERE / case / "expected.json").is_file()))
    except SourceError:
        return {}


def shown(value: object) -> str:
    """JSON text in which places of the tree are relative to it."""
    text = json.dumps(value, indent=2, sort_keys=True, ensure_ascii=False)
    return re.sub(r"[^\"]*/nix/store/[0-9a-z]{32}-tree/", "", text) + "\n"


def error_text(error: SourceError) -> str:
    place = f"  --> {error.file}:{error.line}\n" if error.file else ""
    hint = f"hint: {error.hint}\n" if error.hint else ""
    return f"{error.message}\n{place}{hint}"


@pytest.mark.parametrize("case", CASES)
def test_a_case_comes_to_what_it_should(case: str, request: pytest.FixtureRequest) -> None:
    value_file, error_file = HERE / case / "expected.json", HERE / case / "expected-error.txt"
    together = evaluated_together() if value_file.is_file() else {}
    try:
        found, file = shown(together[case] if case in together else evaluate(case)[case]), value_file
    except SourceError as error:
        found, file = error_text(error), error_file
    if request.config.getoption("--golden"):
        for old in (value_file, error_file):
            old.unlink(missing_ok=True)
        file.write_text(found, encoding="utf-8")
    assert file.is_file(), f"{case}: {found}"
    assert found == file.read_text(encoding="utf-8")


def test_every_folder_here_is_a_case_with_one_outcome() -> None:
    folders = {path.name for path in HERE.iterdir() if path.is_dir() and path.name != "__pycache__"}
    outcomes = {
        case: sum((HERE / case / name).is_file() for name in ("expected.json", "expected-error.txt")) for case in CASES
    }
    assert (folders - set(CASES), {case: n for case, n in outcomes.items() if n != 1}) == (set(), {})
