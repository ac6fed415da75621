"""Job: ready when Complete. A Job that has merely started is still running."""

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
    passed,
    reason_of,
    waiting,
)


def judge(body: Mapping[str, Any], facts: Facts) -> Readiness:  # noqa: ARG001
    """A suspended Job never starts: it is reported, not waited for."""
    if condition_is(body, "Complete"):
        return READY
    broken = conditions(body).get("Failed", {})
    if broken.get("status") == "True":
        return failed(reason_of(broken) or "failed")
    if (body.get("spec") or {}).get("suspend"):
        return passed("suspended")
    wanted = int((body.get("spec") or {}).get("completions") or 1)
    return waiting(f"{count(body.get('status') or {}, 'succeeded')} of {wanted} completed")
