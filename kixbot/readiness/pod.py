"""Pod: Ready or Succeeded; a Failed one is a failure, a crash loop too."""

from collections.abc import Mapping
from typing import Any

from kixbot.readiness.value import READY, Facts, Readiness, condition_is, conditions, failed, reason_of, waiting

# Reasons a container waits with that do not pass by themselves.
STUCK = frozenset({"CrashLoopBackOff", "InvalidImageName", "CreateContainerConfigError", "RunContainerError"})


def judge(body: Mapping[str, Any], facts: Facts) -> Readiness:  # noqa: ARG001
    """`status.phase` first, then Ready, then what a container says."""
    status = body.get("status") or {}
    match status.get("phase"):
        case "Succeeded":
            return READY
        case "Failed":
            return failed(trouble(body) or "phase Failed")
    if condition_is(body, "Ready"):
        return READY
    found = waiting_reason(body)
    if found in STUCK:
        return failed(trouble(body))
    return waiting(trouble(body) or "not ready yet")


def waiting_reason(body: Mapping[str, Any]) -> str:
    """Why a container waits, "" when none does."""
    for one in _containers(body):
        reason = ((one.get("state") or {}).get("waiting") or {}).get("reason")
        if reason and reason not in ("ContainerCreating", "PodInitializing"):
            return str(reason)
    return ""


def trouble(body: Mapping[str, Any]) -> str:
    """What is wrong with a pod, in one line: a container's reason, else the pod's, else why it is not scheduled."""
    for one in _containers(body):
        state = one.get("state") or {}
        for name in ("waiting", "terminated"):
            inner = state.get(name) or {}
            if inner.get("reason") in (None, "Completed", "ContainerCreating", "PodInitializing"):
                continue
            said = reason_of(inner)
            code = f" (exit code {inner['exitCode']})" if inner.get("exitCode") else ""
            return f"container {one.get('name')}: {said}{code}"
    status = body.get("status") or {}
    if status.get("reason") or status.get("message"):
        return reason_of(status)
    scheduled = conditions(body).get("PodScheduled", {})
    return reason_of(scheduled) if scheduled.get("status") == "False" else ""


def _containers(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    status = body.get("status") or {}
    return [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]
