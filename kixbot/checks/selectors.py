"""Selectors and names in messages: how they print, and which ones come nearest to one that finds nothing."""

import json
from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher

from kixbot.checks.shape import labels, mapping

ALIKE = 0.6
"""How alike (by difflib) two label values must be for one to be a likely slip of the other."""
_LONGEST = 253  # a DNS subdomain; longer values are not compared, so that hostile ones cost nothing


def compact(value: object) -> str:
    """JSON on one line with sorted keys, as selectors and labels stand in messages."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def shown(value: object) -> str:
    """A label selector as messages show it: its labels alone where it has no expressions."""
    body = mapping(value)
    return compact(body if body.get("matchExpressions") else labels(body.get("matchLabels")))


def alike(one: str, other: str) -> float:
    """How alike two names are, from 0 to 1; 0 for names too long to be names."""
    if max(len(one), len(other)) > _LONGEST:
        return 0.0
    return SequenceMatcher(None, one, other).ratio()


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """The name most like `name` among those at least 0.6 alike; the first in order where several are."""
    best = max(((alike(name, other), other) for other in sorted(set(names))), default=None, key=lambda pair: pair[0])
    return best[1] if best and best[0] >= ALIKE else None


def differences(selector: Mapping[str, str], carried: Mapping[str, str]) -> int | None:
    """In how many labels pods miss the selector, None where they are not near enough to be meant.

    Near is: each differing label's value is at least 0.6 alike, or half of the selector's labels match.
    """
    differing = [key for key, value in selector.items() if carried.get(key) != value]
    slips = all(key in carried and alike(selector[key], carried[key]) >= ALIKE for key in differing)
    if slips or 2 * (len(selector) - len(differing)) >= len(selector):
        return len(differing)
    return None
