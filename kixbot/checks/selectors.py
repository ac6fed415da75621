"""Selectors in messages: how they print, and how far pods are from one that finds nothing."""

import json
from collections.abc import Mapping

from kixbot.checks.likeness import Likeness
from kixbot.checks.shape import labels, mapping


def compact(value: object) -> str:
    """JSON on one line with sorted keys, as selectors and labels stand in messages."""
    return json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"), default=str)


def shown(value: object) -> str:
    """A label selector as messages show it: its labels alone where it has no expressions."""
    body = mapping(value)
    return compact(body if body.get("matchExpressions") else labels(body.get("matchLabels")))


def differences(selector: Mapping[str, str], carried: Mapping[str, str], likeness: Likeness) -> int | None:
    """In how many labels pods miss the selector, None where they are not near enough to be meant.

    Near is: half of the selector's labels match, or each differing label's value is alike.
    """
    differing = [key for key, value in selector.items() if carried.get(key) != value]
    half = 2 * (len(selector) - len(differing)) >= len(selector)
    if half or all(key in carried and likeness.is_alike(selector[key], carried[key]) for key in differing):
        return len(differing)
    return None
