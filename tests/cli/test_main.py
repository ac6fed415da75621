"""The table of commands: what stands in it, and what is printed without one."""

from pathlib import Path

import pytest

from kixbot.cli.main import COMMANDS, run
from kixbot.errors import UsageError

ROOT = Path(__file__).parents[2]


def test_without_a_command_the_help_goes_to_stderr_line_by_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[:3] == [
        "Usage: kix [OPTIONS] COMMAND [ARGS]...",
        "",
        "  Kix is a Kubernetes compiler: one definition, checked together, planned,",
    ]


def test_a_missing_choice_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(UsageError) as caught:
        run(["completion"])
    assert (caught.value.message, caught.value.hint) == (
        "Missing argument '{bash|zsh|fish}'. Choose from: bash, zsh, fish",
        "kix completion --help",
    )
    assert capsys.readouterr().out == ""


def test_the_readme_names_every_command() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [row.name for row in COMMANDS if f"`kix {row.name}" not in text] == []
