"""Namespace: Active."""

from collections.abc import Mapping
from typing import Any

from kixbot.readiness.value import READY, Facts, Readiness, conditions, failed, reason_of, waiting


def judge(body: Mapping[str, Any], facts: Facts) -> Readiness:  # noqa: ARG001
    """One that terminates takes no new objects; the condition that says why is named."""
    phase = (body.get("status") or {}).get("phase")
    if phase == "Terminating" or (body.get("metadata") or {}).get("deletionTimestamp"):
        why = conditions(body).get("NamespaceFinalizersRemaining") or conditions(body).get("NamespaceContentRemaining")
        return failed(f"being deleted{': ' + reason_of(why) if why else ''}")
    return READY if phase == "Active" else waiting("not active yet")
