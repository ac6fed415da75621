"""The hidden first line of a comment of the bot's: who wrote it, for what, and what was reviewed.

It is a cache and a name tag, never a proof: deploy computes what it trusts itself.
"""

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field

_VERSION = 1
_LINE = re.compile(r"<!-- kix (\{.*\}) -->\r?")
# `-->` would end the HTML comment, and `<` begin another: both are written as JSON escapes.
_ESCAPES = {ord(letter): f"\\u{ord(letter):04x}" for letter in "<>-"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Marker:
    """`kind` and `label` make the comment's identity; the rest says which run wrote it about which commit.

    `hashes` is the reviewed hash by cluster, left out by a writer that has no room.
    """

    kind: str
    label: str = ""
    clusters: tuple[str, ...] = ()
    head: str = ""
    run: str = ""
    attempt: int = 1
    hashes: Mapping[str, str] = field(default_factory=dict)

    def is_same_comment(self, other: "Marker") -> bool:
        """Whether both mark the same sticky comment."""
        return (self.kind, self.label) == (other.kind, other.label)

    def is_older_than(self, other: "Marker") -> bool:
        """Whether another run wrote later about the same head (run numbers of a forge only grow)."""
        if self.head != other.head or not (self.run.isdecimal() and other.run.isdecimal()):
            return False
        return (int(self.run), self.attempt) < (int(other.run), other.attempt)


def write_marker(marker: Marker) -> str:
    """The line, without its newline."""
    document = {
        "attempt": marker.attempt,
        "clusters": list(marker.clusters),
        "hashes": dict(sorted(marker.hashes.items())),
        "head": marker.head,
        "kind": marker.kind,
        "label": marker.label,
        "run": marker.run,
        "v": _VERSION,
    }
    # ASCII only: no letter of a name can end the line or reorder it.
    text = json.dumps(document, separators=(",", ":"), ensure_ascii=True).translate(_ESCAPES)
    return f"<!-- kix {text} -->"


def find_marker(body: str) -> Marker | None:
    """The marker in a comment's first line, None when there is none that this version reads."""
    match = _LINE.fullmatch(body.split("\n", 1)[0])
    if match is None:
        return None
    try:
        document = json.loads(match.group(1))
        if document.get("v") != _VERSION:
            return None
        return Marker(
            kind=str(document["kind"]),
            label=str(document["label"]),
            clusters=tuple(map(str, document.get("clusters", ()))),
            head=str(document.get("head", "")),
            run=str(document.get("run", "")),
            attempt=int(document.get("attempt", 1)),
            hashes={str(name): str(value) for name, value in dict(document.get("hashes", {})).items()},
        )
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
