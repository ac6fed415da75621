"""DaemonSet: a ready, updated pod on every node it wants; none wanted is ready."""

from collections.abc import Mapping
from typing import Any

from kixbot.readiness.value import READY, Facts, Readiness, count, is_observed, passed, waiting


def judge(body: Mapping[str, Any], facts: Facts) -> Readiness:  # noqa: ARG001
    """OnDelete rolls only by hand, so it is not waited for."""
    spec, status = body.get("spec") or {}, body.get("status") or {}
    if status.get("observedGeneration") is None or not is_observed(body):
        return waiting("not seen by its controller yet")
    if (spec.get("updateStrategy") or {}).get("type") == "OnDelete":
        return passed("updateStrategy OnDelete: pods are replaced by hand")
    wanted = count(status, "desiredNumberScheduled")
    for name, says in (
        ("currentNumberScheduled", "scheduled"),
        ("updatedNumberScheduled", "updated"),
        ("numberAvailable", "available"),
        ("numberReady", "ready"),
    ):
        if count(status, name) < wanted:
            return waiting(f"{count(status, name)} of {wanted} pods {says}")
    return READY
