"""ReplicaSet: as many available replicas as wanted."""

from collections.abc import Mapping
from typing import Any

from kixbot.readiness.value import READY, Facts, Readiness, conditions, count, is_observed, reason_of, waiting


def judge(body: Mapping[str, Any], facts: Facts) -> Readiness:  # noqa: ARG001
    """A ReplicaFailure (quota, admission) is waited out: it may be lifted."""
    status = body.get("status") or {}
    if not is_observed(body):
        return waiting("not seen by its controller yet")
    failure = conditions(body).get("ReplicaFailure", {})
    if failure.get("status") == "True":
        return waiting(reason_of(failure))
    wanted = int((body.get("spec") or {}).get("replicas", 1))
    available = count(status, "availableReplicas")
    return READY if available >= wanted else waiting(f"{available} of {wanted} replicas available")
