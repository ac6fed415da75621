"""Untrusted text inside Markdown that GitHub or GitLab render: it stays text, whatever it holds.

Three places, three ways: inside a line (`code`), inside an HTML block such as `<summary>` (`html_code`), and a block
of its own (`fence`). In each, mentions, links, HTML, quick actions, maths, bidi and control characters do nothing.
"""

import re

from kixbot.output.terminal import escape, escape_block

# A version may stand without code markup: it can hold no `@`, no `#`, no link and no markup.
_VERSION = re.compile(r"v?[0-9][0-9A-Za-z_.+-]{0,30}")
# What may stand in a backtick span. Not a backtick; not `|`, which splits table cells even there; not `$`, with which
# GitHub and GitLab begin maths beside a backtick; not a backslash, which a table cell eats; no blank at an end.
_SPAN = re.compile(r"[!-#%-\[\]-_a-{}~]([ -#%-\[\]-_a-{}~]*[!-#%-\[\]-_a-{}~])?")
_BACKTICKS = re.compile("`+")
_PLAIN = re.compile(r"[0-9A-Za-z ]")
_LONGEST = 200


class Text(str):
    """Markdown of our own making: printed as it is."""

    __slots__ = ()


def code(text: str, longest: int = _LONGEST) -> Text:
    """Untrusted text as code within a line of Markdown or a table cell."""
    shown = clip(escape(text), longest)
    return Text(f"`{shown}`") if _SPAN.fullmatch(shown) else html_code(text, longest)


def html_code(text: str, longest: int = _LONGEST) -> Text:
    """Untrusted text as code within an HTML block, or where a backtick span cannot hold it.

    All but letters and digits are entities: Markdown goes on inside inline HTML, and entities are never markup.
    Addresses are found after entities are read, though: `<wbr>` keeps them apart.
    """
    inner = "".join(_entity(letter) for letter in clip(escape(text), longest))
    return Text(f"<code>{inner}</code>")


def _entity(letter: str) -> str:
    if _PLAIN.match(letter) or ord(letter) > 0x7F:
        return letter
    return f"&#{ord(letter)};<wbr>" if letter in "@:" else f"&#{ord(letter)};"


def version(text: str) -> Text:
    """A version, plain where it looks like one, else as code."""
    return Text(text) if _VERSION.fullmatch(text) else code(text)


def fence(text: str, language: str = "text") -> Text:
    """Untrusted lines as a fenced block: the fence is longer than any run of backticks inside."""
    body = escape_block(text)
    longest = max((len(run) for run in _BACKTICKS.findall(body)), default=0)
    ticks = "`" * max(3, longest + 1)
    return Text(f"{ticks}{language}\n{body}\n{ticks}")


def clip(text: str, most: int) -> str:
    """At most `most` characters, the last of them `…` when something is missing."""
    return text if len(text) <= most else text[: most - 1] + "…"


def count(number: int, one: str, many: str | None = None) -> str:
    """`1 package`, `2 packages`, `2 policies`."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
