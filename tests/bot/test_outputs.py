import io
from pathlib import Path

import pytest

from kixbot.bot.outputs import Outputs, log_line

HOSTILE = "x\nEOF\noutcome=success\n::set-output name=a::b\n##[error]c\n\x1b[2J\u202e"


def read_outputs(file: Path) -> dict[str, str]:
    """What the runner reads out of GITHUB_OUTPUT: NAME<<DELIMITER, lines, DELIMITER."""
    found: dict[str, str] = {}
    lines = iter(file.read_text().split("\n"))
    for line in lines:
        if not line:
            continue
        name, _, delimiter = line.partition("<<")
        assert delimiter, f"not an output: {line!r}"
        value = []
        for inner in lines:
            if inner == delimiter:
                break
            value.append(inner)
        found[name] = "\n".join(value)
    return found


def test_an_output_cannot_add_another(tmp_path: Path) -> None:
    file = tmp_path / "output"
    outputs = Outputs({"GITHUB_OUTPUT": str(file)})
    outputs.set("changes", "true")
    outputs.set("failure-reason", HOSTILE)
    assert read_outputs(file) == {"changes": "true", "failure-reason": HOSTILE}


def test_every_line_of_the_log_is_harmless() -> None:
    stream = io.StringIO()
    Outputs({"GITHUB_ACTIONS": "true"}, stream=stream).say(
        HOSTILE + "\nsection_start:123:evil[collapsed=true]\r\x1b[0K"
    )
    text = stream.getvalue()
    assert "::" not in text
    assert "##[" not in text
    assert "section_start:" not in text
    assert not any(character in text for character in "\x1b\r\u202e")
    assert text.split("\n")[1] == "EOF"


@pytest.mark.parametrize("used", [0, 1000, 1024 * 1024 - 50, 1024 * 1024 + 5])
def test_the_summary_stays_within_what_the_step_has_left(tmp_path: Path, used: int) -> None:
    file = tmp_path / "summary"
    file.write_text("x" * used)
    Outputs({"GITHUB_STEP_SUMMARY": str(file)}).summary(lambda left: "é" * (left // 2))
    assert file.stat().st_size <= max(1024 * 1024, used)
    assert (file.stat().st_size > used) == (used < 1024 * 1024 - 1)


def test_a_summary_that_does_not_fit_is_not_written(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    Outputs({"GITHUB_STEP_SUMMARY": str(file)}).summary(lambda left: "x" * (left + 10))
    assert not file.exists()


def test_annotations_escape_what_would_end_them_and_stop_at_ten() -> None:
    stream = io.StringIO()
    outputs = Outputs({"GITHUB_ACTIONS": "true"}, stream=stream)
    for _ in range(12):
        outputs.annotate("error", "a%b\nc::error::d", file="a,b:c.nix", line=3)
    lines = stream.getvalue().splitlines()
    assert len(lines) == 10
    assert lines[0] == "::error file=a%2Cb%3Ac.nix,line=3,title=kix::a%25b%0Ac::error::d"


def test_an_annotation_moves_no_cursor() -> None:
    stream = io.StringIO()
    Outputs({"GITHUB_ACTIONS": "true"}, stream=stream).annotate("error", "a\x1b[2Jb\u202e", file="\x07.nix")
    assert stream.getvalue() == "::error file=\\x07.nix,title=kix::a\\x1b[2Jb\\u202e\n"


def test_outside_github_there_are_no_commands_and_no_files_but_asked_ones(tmp_path: Path) -> None:
    stream = io.StringIO()
    outputs = Outputs({}, folder=tmp_path / "out", stream=stream)
    outputs.annotate("error", "x")
    outputs.mask("secret")
    outputs.set("changes", "true")
    outputs.summary(lambda _: "x")
    assert stream.getvalue() == ""
    assert outputs.write("comment.md", "hello").read_text() == "hello"
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["comment.md"]


def test_secrets_of_several_lines_are_masked_line_by_line() -> None:
    stream = io.StringIO()
    Outputs({"GITHUB_ACTIONS": "true"}, stream=stream).mask("one\n\ntwo\n")
    assert stream.getvalue() == "::add-mask::one\n::add-mask::two\n"


def test_a_line_of_the_log_keeps_its_words() -> None:
    assert log_line("kix: deployed shop in 4 waves") == "kix: deployed shop in 4 waves"
    assert log_line("::add-mask::x") == ": :add-mask: :x"
