"""PodDisruptionBudget: seen by its controller."""

from collections.abc import Mapping
from typing import Any

from kixbot.readiness.value import READY, Facts, Readiness, is_observed, waiting


def judge(body: Mapping[str, Any], facts: Facts) -> Readiness:  # noqa: ARG001
    """It allows or forbids; there is nothing to wait for but its controller."""
    return READY if is_observed(body) else waiting("not seen by its controller yet")
