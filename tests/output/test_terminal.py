"""Text that reaches a terminal cannot steer it."""

import json

import pytest
from hypothesis import given, strategies as st

from kixbot.output.terminal import escape, escape_block, escape_json


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain ✗ Grüße 日本", "plain ✗ Grüße 日本"),
        ("\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m"),
        ("a\nb\tc\r", "a\\nb\\tc\\r"),
        ("bell\x07 delete\x7f", "bell\\x07 delete\\x7f"),
        ("\x9b31m", "\\x9b31m"),
        ("user\u202etxt.exe", "user\\u202etxt.exe"),
        ("\u2066x\u2069 \u200f \u061c", "\\u2066x\\u2069 \\u200f \\u061c"),
        ("a\u2028b\ufeff", "a\\u2028b\\ufeff"),
        ("\udcff", "\\udcff"),
    ],
)
def test_controls_become_visible_escapes(text: str, shown: str) -> None:
    assert escape(text) == shown


def test_a_block_keeps_its_lines_and_nothing_else() -> None:
    assert escape_block("one\n\ttwo\x1b\n") == "one\n\\ttwo\\x1b\n"


def test_json_stays_the_same_document_and_steers_nothing() -> None:
    values = ["\x1b[31m", "\x9b", "\u202e", "\u2028", "\ud800", "✗ plain"]
    text = escape_json(json.dumps(values, ensure_ascii=False, indent=2))
    assert json.loads(text) == values
    assert "\\u202e" in text
    text.encode("utf-8")


@given(st.text())
def test_escaped_text_is_printable_and_stays_as_it_is_when_escaped_again(text: str) -> None:
    once = escape(text)
    assert escape(once) == once
    assert all(ord(character) >= 0x20 for character in once)
    once.encode("utf-8")
