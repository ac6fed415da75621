"""PersistentVolumeClaim: Bound, unless its class binds only when a pod comes."""

from collections.abc import Mapping
from typing import Any

from kixbot.readiness.value import READY, Facts, Readiness, failed, passed, waiting


def judge(body: Mapping[str, Any], facts: Facts) -> Readiness:
    """A WaitForFirstConsumer claim must not block the wave that holds its pod."""
    phase = (body.get("status") or {}).get("phase")
    if phase == "Bound":
        return READY
    if phase == "Lost":
        return failed("its volume is lost")
    if str((body.get("spec") or {}).get("storageClassName") or "") in facts.late_binding:
        return passed("binds when a pod uses it")
    return waiting("not bound yet")
