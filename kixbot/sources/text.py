"""Values of foreign text and the bounds they must keep, for YAML and JSON alike.

The figures are far above what a cluster of 20,000 objects writes and far below what hurts: 350 bytes of YAML aliases
can stand for 254 MB.
"""

from dataclasses import dataclass
from typing import Any

from kixbot.errors import SourceError
from kixbot.sources.places import Places

MAX_BYTES = 32 * 2**20
MAX_NODES = 4_000_000
MAX_DOCUMENTS = 50_000
MAX_DEPTH = 200
MAX_ALIASED_NODES = 200_000
MAX_ALIASED_BYTES = 16 * 2**20


@dataclass(frozen=True, slots=True)
class Document:
    """One document of a stream: its value, the line it begins on, the lines of its `items`, and where fields stand."""

    value: Any
    line: int
    item_lines: tuple[int, ...]
    places: Places


def decode(data: bytes, *, file: str) -> str:
    """The text of a file. Raises SourceError when it is too large or not UTF-8."""
    if len(data) > MAX_BYTES:
        raise SourceError(f"file is larger than {MAX_BYTES // 2**20} MiB", hint="split the file", file=file)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as err:
        line = data.count(b"\n", 0, err.start) + 1
        raise SourceError(
            f"not UTF-8: byte 0x{data[err.start]:02x}", hint="save the file as UTF-8", file=file, line=line
        ) from err


def too_many(what: str, limit: int, *, file: str, line: int | None = None) -> SourceError:
    """The error for a stream that is larger than kix reads."""
    return SourceError(f"more than {limit:,} {what}", hint="split the file", file=file, line=line)
