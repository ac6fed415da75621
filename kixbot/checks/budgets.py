"""What rules about PodDisruptionBudgets share: how many pods of how many one may lose."""

from math import ceil
from typing import NamedTuple

from kixbot.checks.context import Context
from kixbot.checks.shape import at
from kixbot.model.resource import Resource


class Allowed(NamedTuple):
    """A budget read: the field, how many pods it wants healthy, and how many there are at least."""

    field: str
    healthy: int
    expected: int


def find_allowed(context: Context, budget: Resource) -> Allowed | None:
    """What a budget allows; None where the number of its pods is not known, or nothing is meant to run."""
    spec = at(budget.manifest, "spec")
    selected = context.selected(budget.ref.namespace, spec.get("selector"))
    counts = [context.least_replicas(pods.resource) for pods in selected]
    known = [count for count in counts if count is not None]
    expected = sum(known)
    if len(known) != len(counts) or not expected:
        return None
    for field in ("minAvailable", "maxUnavailable"):
        amount = _scaled(spec.get(field), expected)
        if amount is not None:
            return Allowed(field, amount if field == "minAvailable" else expected - amount, expected)
    return None


def _scaled(value: object, total: int) -> int | None:
    """A count, or a percentage rounded up, as the disruption controller reads both fields."""
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    if isinstance(value, str) and value.endswith("%") and value[:-1].isdecimal() and len(value) <= 5:
        return ceil(int(value[:-1]) * total / 100)
    return None
