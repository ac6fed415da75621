"""APIService: Available."""

from collections.abc import Mapping
from typing import Any

from kixbot.readiness.value import READY, Facts, Readiness, condition_is, conditions, reason_of, waiting


def judge(body: Mapping[str, Any], facts: Facts) -> Readiness:  # noqa: ARG001
    """Its Service and pods may still be starting, so it waits rather than fails."""
    if condition_is(body, "Available"):
        return READY
    return waiting(reason_of(conditions(body).get("Available", {})) or "not available yet")
