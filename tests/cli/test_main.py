"""The table of commands: what stands in it, and what is printed without one."""

from pathlib import Path

import pytest

from kixbot.cli.main import COMMANDS, run

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


def test_the_readme_names_every_command() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert [row.name for row in COMMANDS if f"`kix {row.name}" not in text] == []
