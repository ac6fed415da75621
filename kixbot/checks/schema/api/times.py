"""Schedules of CronJobs and time zones. Each function says what is wrong with a text, or None.

Grammar: `robfig/cron` v3 as CronJobs use it; `zones.txt` holds the names of the time zone database.
"""

import pkgutil
import re
from functools import cache


def time_zone(text: str) -> str | None:
    """A name of the time zone database; `Local` means nothing there."""
    if not text or text.lower() == "local":
        return "is no time zone such as Europe/Berlin"
    return None if text in _zones() else "is no time zone such as Europe/Berlin"


@cache
def _zones() -> frozenset[str]:
    found = pkgutil.get_data("kixbot.checks.schema", "zones.txt")
    assert found is not None, "zones.txt is part of the package"
    return frozenset(found.decode().split())


_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_CRON = (
    ("minute", 0, 59, ()), ("hour", 0, 23, ()), ("day of month", 1, 31, ()),
    ("month", 1, 12, _MONTHS), ("day of week", 0, 6, _DAYS),
)  # fmt: skip
_DESCRIPTORS = frozenset({"@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly"})
_EVERY = re.compile(r"@every (([0-9]+(\.[0-9]*)?|\.[0-9]+)(ns|us|µs|ms|s|m|h))+")


def cron(text: str) -> str | None:
    """A schedule: five fields, or a descriptor such as @daily."""
    if text.startswith("@"):
        known = text in _DESCRIPTORS or _EVERY.fullmatch(text)
        return None if known else "is no descriptor such as @daily"
    fields = text.split()
    if len(fields) != len(_CRON):
        return f"has {len(fields)} fields; minute, hour, day of month, month and day of week are expected"
    for field, (name, low, high, words) in zip(fields, _CRON, strict=True):
        for part in field.split(","):
            if not _cron_part(part, low, high, words):
                return f"has {part!r} for the {name}, which goes from {low} to {high}"
    return None


def _cron_part(part: str, low: int, high: int, words: tuple[str, ...]) -> bool:
    span, slash, step = part.partition("/")
    if slash and not (_is_number(step) and int(step) > 0):
        return False
    if span in {"*", "?"}:
        return True
    first, dash, last = span.partition("-")
    start = _cron_number(first, low, words)
    end = _cron_number(last, low, words) if dash else start
    return start is not None and end is not None and low <= start <= end <= high


def _cron_number(text: str, low: int, words: tuple[str, ...]) -> int | None:
    if text.lower() in words:
        return words.index(text.lower()) + low
    return int(text) if _is_number(text) else None


def _is_number(text: str) -> bool:
    return text.isdigit() and text.isascii() and len(text) <= 9
