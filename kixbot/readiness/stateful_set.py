"""StatefulSet: ready replicas of the wanted revision."""

from collections.abc import Mapping
from typing import Any

from kixbot.readiness.value import READY, Facts, Readiness, count, is_observed, passed, waiting


def judge(body: Mapping[str, Any], facts: Facts) -> Readiness:  # noqa: ARG001
    """OnDelete rolls only by hand, so it is not waited for; a partition holds back the replicas below it."""
    spec, status = body.get("spec") or {}, body.get("status") or {}
    strategy = spec.get("updateStrategy") or {}
    if status.get("observedGeneration") is None or not is_observed(body):
        return waiting("not seen by its controller yet")
    wanted = int(spec.get("replicas", 1))
    if strategy.get("type") == "OnDelete":
        return passed("updateStrategy OnDelete: pods are replaced by hand")
    if count(status, "readyReplicas") < wanted:
        return waiting(f"{count(status, 'readyReplicas')} of {wanted} replicas ready")
    if count(status, "replicas") > wanted:
        return waiting(f"{count(status, 'replicas') - wanted} replicas too many")
    partition = int((strategy.get("rollingUpdate") or {}).get("partition") or 0)
    if partition:
        due = max(0, wanted - partition)
        updated = count(status, "updatedReplicas")
        return READY if updated >= due else waiting(f"{updated} of {due} replicas updated")
    if status.get("currentRevision") != status.get("updateRevision"):
        return waiting("pods of the old revision still there")
    return READY
