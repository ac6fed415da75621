"""Deployment: rolled out as `kubectl rollout status` has it, failed when its progress deadline passed."""

from collections.abc import Mapping
from typing import Any

from kixbot.readiness.value import (
    READY,
    Facts,
    Readiness,
    condition_is,
    conditions,
    count,
    failed,
    is_observed,
    passed,
    reason_of,
    waiting,
)


def judge(body: Mapping[str, Any], facts: Facts) -> Readiness:  # noqa: ARG001
    """A paused Deployment never progresses: it is reported, not waited for."""
    spec, status = body.get("spec") or {}, body.get("status") or {}
    if spec.get("paused"):
        return passed("paused")
    progressing = conditions(body).get("Progressing", {})
    if is_observed(body) and progressing.get("reason") == "ProgressDeadlineExceeded":
        return failed(reason_of(progressing))
    if status.get("observedGeneration") is None or not is_observed(body):
        return waiting("not seen by its controller yet")
    wanted = int(spec.get("replicas", 1))
    total, updated = count(status, "replicas"), count(status, "updatedReplicas")
    if updated < wanted:
        return waiting(f"{updated} of {wanted} replicas updated")
    if total > updated:
        return waiting(f"{total - updated} old replicas still there")
    available = count(status, "availableReplicas")
    if available < max(updated, wanted):
        return waiting(f"{available} of {wanted} replicas available")
    if count(status, "readyReplicas") < wanted:
        return waiting(f"{count(status, 'readyReplicas')} of {wanted} replicas ready")
    return READY if wanted == 0 or condition_is(body, "Available") else waiting("not available yet")
