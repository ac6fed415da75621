"""How long a text is in what each forge counts, and texts cut to it without breaking a character."""

from collections.abc import Callable
from hashlib import sha256

from kixbot.forges.values import Unit

Measure = Callable[[str], int]

SUMMARY_BYTES = 1024 * 1024
"""A job summary of GitHub Actions past 1 MiB is dropped whole; earlier writes of the step count with it."""

_HASH = 12


def utf16_units(text: str) -> int:
    """Length in UTF-16 units, which GitHub's limit of 65,536 counts."""
    return len(text) + sum(character > "\uffff" for character in text)


def utf8_bytes(text: str) -> int:
    """Length in bytes of UTF-8."""
    return len(text.encode("utf-8", "surrogatepass"))


def measure_of(unit: Unit) -> Measure:
    """The measure of a forge's unit."""
    return utf16_units if unit is Unit.UTF16 else len


def clip_units(text: str, most: int) -> str:
    """At most `most` UTF-16 units, ending in `…` when something is missing."""
    if utf16_units(text) <= most:
        return text
    kept: list[str] = []
    left = most - 1
    for character in text:
        left -= utf16_units(character)
        if left < 0:
            break
        kept.append(character)
    return "".join(kept) + "…"


def clip_context(context: str, most: int) -> str:
    """A status context within `most`; a cut one ends in a hash of the whole, so that two of them never meet."""
    if utf16_units(context) <= most:
        return context
    return (
        clip_units(context, most - _HASH - 1)
        + "-"
        + sha256(context.encode("utf-8", "surrogatepass")).hexdigest()[:_HASH]
    )
