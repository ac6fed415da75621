"""Is it up? A live body in, a judgement out: one file per kind, one table. Pure.

Every kind first answers for its deletion; a kind that is not in the table and is built in is ready once it is there.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from kixbot.model.resource import BUILTIN_GROUPS, split_api_version
from kixbot.readiness import (
    api_service,
    claim,
    custom,
    daemon_set,
    definition,
    deployment,
    disruption_budget,
    job,
    namespace,
    pod,
    replica_set,
    service,
    stateful_set,
)
from kixbot.readiness.value import READY, Facts, Readiness, State, failed

Judge = Callable[[Mapping[str, Any], Facts], Readiness]

TABLE: Final[Mapping[tuple[str, str], Judge]] = {
    ("", "Namespace"): namespace.judge,
    ("", "PersistentVolumeClaim"): claim.judge,
    ("", "Pod"): pod.judge,
    ("", "Service"): service.judge,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): definition.judge,
    ("apiregistration.k8s.io", "APIService"): api_service.judge,
    ("apps", "DaemonSet"): daemon_set.judge,
    ("apps", "Deployment"): deployment.judge,
    ("apps", "ReplicaSet"): replica_set.judge,
    ("apps", "StatefulSet"): stateful_set.judge,
    ("batch", "Job"): job.judge,
    ("policy", "PodDisruptionBudget"): disruption_budget.judge,
}


def judge(body: Mapping[str, Any], facts: Facts) -> Readiness:
    """Whether the object is up, waits, failed, or is not waited for."""
    group, _ = split_api_version(str(body.get("apiVersion", "")))
    kind = str(body.get("kind", ""))
    if (body.get("metadata") or {}).get("deletionTimestamp") and kind != "Namespace":
        return failed("being deleted")
    rule = TABLE.get((group, kind))
    if rule is not None:
        return rule(body, facts)
    return READY if group in BUILTIN_GROUPS else custom.judge(body, facts)


def can_wait(group: str, kind: str) -> bool:
    """Whether an object of this kind may be anything but ready once it is there."""
    return (group, kind) in TABLE or group not in BUILTIN_GROUPS


__all__ = ["READY", "TABLE", "Facts", "Readiness", "State", "can_wait", "judge"]
