"""Markdown → HTML as GitHub's own parser makes it, and what a reader would see of it."""

from html.parser import HTMLParser

import cmarkgfm
from cmarkgfm.cmark import Options

ALLOWED = {
    "h3", "h4", "p", "br", "strong", "ul", "li", "code", "pre", "table", "thead", "tbody", "tr", "th", "td",
    "details", "summary", "sub", "a", "wbr",
}  # fmt: skip
_VOID = {"br", "hr", "img", "input", "wbr"}


def outside_fences(markdown: str) -> list[str]:
    """The lines that stand in no fenced block: where a forge looks for quick actions."""
    fence, lines = "", []
    for line in markdown.split("\n"):
        ticks = line[: len(line) - len(line.lstrip("`"))]
        if fence:
            fence = "" if line == fence else fence
        elif len(ticks) >= 3:
            fence = ticks
        else:
            lines.append(line)
    assert not fence, "a fence stays open"
    return lines


class Page(HTMLParser):
    """`outside` is the text that stands in neither `<code>` nor `<pre>`; `links` are the addresses one could click."""

    def __init__(self, markdown: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: set[str] = set()
        self.links: list[str] = []
        self.comments: list[str] = []
        self.outside = ""
        self.text = ""
        self.balanced = True
        self._open: list[str] = []
        self.feed(cmarkgfm.github_flavored_markdown_to_html(markdown, Options.CMARK_OPT_UNSAFE))
        self.close()
        self.balanced = self.balanced and not self._open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in _VOID:
            return
        if self._open and self._open[-1] == tag:
            self._open.pop()
        else:
            self.balanced = False

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    def handle_data(self, data: str) -> None:
        self.text += data
        if "code" not in self._open and "pre" not in self._open:
            self.outside += data
