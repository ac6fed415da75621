"""A custom resource: the condition its package declares, or that its siblings show."""

from collections.abc import Iterable, Mapping
from typing import Any

from kixbot.readiness.value import (
    READY,
    Facts,
    Readiness,
    condition_is,
    conditions,
    failed,
    is_observed,
    reason_of,
    waiting,
)

# Condition types that mean "up" by convention, in the order they are looked for.
USUAL = ("Ready", "Available")


def judge(body: Mapping[str, Any], facts: Facts) -> Readiness:
    """Without a status subresource, or without a condition to wait for, it is ready once it is there."""
    if not facts.status or facts.condition is None:
        return READY
    if not is_observed(body):
        return waiting("not seen by its controller yet")
    if condition_is(body, facts.condition):
        return READY
    stalled = conditions(body).get("Stalled", {})
    if stalled.get("status") == "True":
        return failed(reason_of(stalled))
    said = reason_of(conditions(body).get(facts.condition, {}))
    return waiting(said or f"condition {facts.condition} is not True yet")


def condition_of_siblings(siblings: Iterable[Mapping[str, Any]]) -> str | None:
    """The condition a kind's other objects show, None when none shows one."""
    shown = {kind for sibling in siblings for kind in conditions(sibling)}
    return next((kind for kind in USUAL if kind in shown), None)
