"""When each kind is up: a live body in, a judgement out."""

from typing import Any

import pytest

from kixbot.model.resource import Ref
from kixbot.readiness import TABLE, Facts, Readiness, State, can_wait, judge
from kixbot.readiness.custom import condition_of_siblings
from kixbot.readiness.pod import trouble

APPS = "apps/v1"


def body(
    api_version: str, kind: str, *, generation: int = 2, spec: Any = None, status: Any = None, **metadata: Any
) -> Any:
    return {
        "apiVersion": api_version,
        "kind": kind,
        "metadata": {"name": "web", "namespace": "shop", "generation": generation, **metadata},
        "spec": spec or {},
        "status": status or {},
    }


def condition(kind: str, status: str = "True", **more: str) -> dict[str, str]:
    return {"type": kind, "status": status, **more}


ROLLED_OUT = {
    "observedGeneration": 2,
    "replicas": 3,
    "updatedReplicas": 3,
    "readyReplicas": 3,
    "availableReplicas": 3,
    "conditions": [condition("Available"), condition("Progressing", reason="NewReplicaSetAvailable")],
}
TOO_LATE = condition("Progressing", "False", reason="ProgressDeadlineExceeded", message="no progress")
SET = {
    "observedGeneration": 2,
    "replicas": 3,
    "readyReplicas": 3,
    "updatedReplicas": 3,
    "currentRevision": "b",
    "updateRevision": "b",
}
EVERYWHERE = {
    "observedGeneration": 2,
    "desiredNumberScheduled": 2,
    "currentNumberScheduled": 2,
    "updatedNumberScheduled": 2,
    "numberAvailable": 2,
    "numberReady": 2,
}
CRASH = {
    "name": "web",
    "state": {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off 10s"}},
}

CASES: list[tuple[str, Any, State, str]] = [
    ("a new Deployment", body(APPS, "Deployment", spec={"replicas": 3}), State.WAITING, "not seen by its controller yet"),
    ("a Deployment of an older generation",
     body(APPS, "Deployment", generation=3, spec={"replicas": 3}, status=ROLLED_OUT),
     State.WAITING, "not seen by its controller yet"),
    ("a rolled out Deployment", body(APPS, "Deployment", spec={"replicas": 3}, status=ROLLED_OUT), State.READY, ""),
    ("a Deployment that still updates",
     body(APPS, "Deployment", spec={"replicas": 3}, status={**ROLLED_OUT, "updatedReplicas": 1}),
     State.WAITING, "1 of 3 replicas updated"),
    ("a Deployment with old pods",
     body(APPS, "Deployment", spec={"replicas": 3}, status={**ROLLED_OUT, "replicas": 4}),
     State.WAITING, "1 old replicas still there"),
    ("a Deployment with unavailable pods",
     body(APPS, "Deployment", spec={"replicas": 3}, status={**ROLLED_OUT, "availableReplicas": 2}),
     State.WAITING, "2 of 3 replicas available"),
    ("a Deployment past its deadline",
     body(APPS, "Deployment", spec={"replicas": 3}, status={**ROLLED_OUT, "conditions": [TOO_LATE]}),
     State.FAILED, "ProgressDeadlineExceeded: no progress"),
    ("a Deployment whose deadline passed before this change",
     body(APPS, "Deployment", generation=3, spec={"replicas": 3}, status={**ROLLED_OUT, "conditions": [TOO_LATE]}),
     State.WAITING, "not seen by its controller yet"),
    ("a paused Deployment", body(APPS, "Deployment", spec={"paused": True}), State.PASSED, "paused"),
    ("a Deployment of none", body(APPS, "Deployment", spec={"replicas": 0}, status={"observedGeneration": 2}),
     State.READY, ""),
    ("a ready StatefulSet", body(APPS, "StatefulSet", spec={"replicas": 3}, status=SET), State.READY, ""),
    ("a StatefulSet ready in its old revision",
     body(APPS, "StatefulSet", spec={"replicas": 3}, status={**SET, "currentRevision": "a"}),
     State.WAITING, "pods of the old revision still there"),
    ("a StatefulSet with a partition",
     body(APPS, "StatefulSet", spec={"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 2}}},
          status={**SET, "currentRevision": "a", "updatedReplicas": 1}),
     State.READY, ""),
    ("a StatefulSet behind its partition",
     body(APPS, "StatefulSet", spec={"replicas": 3, "updateStrategy": {"rollingUpdate": {"partition": 1}}},
          status={**SET, "currentRevision": "a", "updatedReplicas": 1}),
     State.WAITING, "1 of 2 replicas updated"),
    ("a StatefulSet updated by hand",
     body(APPS, "StatefulSet", spec={"updateStrategy": {"type": "OnDelete"}}, status=SET),
     State.PASSED, "updateStrategy OnDelete: pods are replaced by hand"),
    ("a StatefulSet too large",
     body(APPS, "StatefulSet", spec={"replicas": 2}, status=SET), State.WAITING, "1 replicas too many"),
    ("a DaemonSet everywhere", body(APPS, "DaemonSet", status=EVERYWHERE), State.READY, ""),
    ("a DaemonSet without nodes", body(APPS, "DaemonSet", status={"observedGeneration": 2}), State.READY, ""),
    ("a DaemonSet on one of two nodes",
     body(APPS, "DaemonSet", status={**EVERYWHERE, "numberReady": 1}), State.WAITING, "1 of 2 pods ready"),
    ("a ReplicaSet that may not make pods",
     body(APPS, "ReplicaSet", status={"conditions": [condition("ReplicaFailure", reason="FailedCreate", message="quota")]}),
     State.WAITING, "FailedCreate: quota"),
    ("a ReplicaSet with its pods", body(APPS, "ReplicaSet", status={"availableReplicas": 1}), State.READY, ""),
    ("a running Job", body("batch/v1", "Job", status={"active": 1}), State.WAITING, "0 of 1 completed"),
    ("a complete Job", body("batch/v1", "Job", status={"conditions": [condition("Complete")]}), State.READY, ""),
    ("a failed Job",
     body("batch/v1", "Job", status={"conditions": [condition("Failed", reason="BackoffLimitExceeded")]}),
     State.FAILED, "BackoffLimitExceeded"),
    ("a suspended Job", body("batch/v1", "Job", spec={"suspend": True}), State.PASSED, "suspended"),
    ("a ready Pod", body("v1", "Pod", status={"phase": "Running", "conditions": [condition("Ready")]}), State.READY, ""),
    ("a Pod that ended", body("v1", "Pod", status={"phase": "Succeeded"}), State.READY, ""),
    ("a failed Pod", body("v1", "Pod", status={"phase": "Failed", "reason": "Evicted"}), State.FAILED, "Evicted"),
    ("a Pod in a crash loop", body("v1", "Pod", status={"phase": "Running", "containerStatuses": [CRASH]}),
     State.FAILED, "container web: CrashLoopBackOff: back-off 10s"),
    ("a new Pod", body("v1", "Pod"), State.WAITING, "not ready yet"),
    ("a bound claim", body("v1", "PersistentVolumeClaim", status={"phase": "Bound"}), State.READY, ""),
    ("a waiting claim", body("v1", "PersistentVolumeClaim", status={"phase": "Pending"}), State.WAITING, "not bound yet"),
    ("a claim that binds late",
     body("v1", "PersistentVolumeClaim", spec={"storageClassName": "late"}, status={"phase": "Pending"}),
     State.PASSED, "binds when a pod uses it"),
    ("a lost claim", body("v1", "PersistentVolumeClaim", status={"phase": "Lost"}), State.FAILED, "its volume is lost"),
    ("a Service", body("v1", "Service"), State.READY, ""),
    ("a load balancer without an address", body("v1", "Service", spec={"type": "LoadBalancer"}),
     State.WAITING, "no load balancer address yet"),
    ("a load balancer", body("v1", "Service", spec={"type": "LoadBalancer"},
                             status={"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}), State.READY, ""),
    ("a Namespace", body("v1", "Namespace", status={"phase": "Active"}), State.READY, ""),
    ("a Namespace that terminates",
     body("v1", "Namespace", deletionTimestamp="2026-01-01T00:00:00Z",
          status={"phase": "Terminating", "conditions": [
              condition("NamespaceFinalizersRemaining", reason="SomeFinalizersRemain", message="x.test/y")]}),
     State.FAILED, "being deleted: SomeFinalizersRemain: x.test/y"),
    ("a new definition", {**body("apiextensions.k8s.io/v1", "CustomResourceDefinition"), "status": {"conditions": None}},
     State.WAITING, "not established yet"),
    ("a served definition",
     body("apiextensions.k8s.io/v1", "CustomResourceDefinition",
          status={"conditions": [condition("Established"), condition("NamesAccepted")]}), State.READY, ""),
    ("a definition whose names are taken",
     body("apiextensions.k8s.io/v1", "CustomResourceDefinition",
          status={"conditions": [condition("NamesAccepted", "False", reason="PluralConflict")]}),
     State.FAILED, "PluralConflict"),
    ("an APIService", body("apiregistration.k8s.io/v1", "APIService", status={"conditions": [condition("Available")]}),
     State.READY, ""),
    ("an APIService that is down",
     body("apiregistration.k8s.io/v1", "APIService",
          status={"conditions": [condition("Available", "False", reason="MissingEndpoints")]}),
     State.WAITING, "MissingEndpoints"),
    ("a disruption budget", body("policy/v1", "PodDisruptionBudget", status={"observedGeneration": 2}), State.READY, ""),
    ("a disruption budget nobody saw", body("policy/v1", "PodDisruptionBudget", status={"observedGeneration": 1}),
     State.WAITING, "not seen by its controller yet"),
    ("a ConfigMap", body("v1", "ConfigMap"), State.READY, ""),
    ("a ConfigMap that is deleted", body("v1", "ConfigMap", deletionTimestamp="2026-01-01T00:00:00Z"),
     State.FAILED, "being deleted"),
]  # fmt: skip


@pytest.mark.parametrize(("live", "state", "reason"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_a_kind_is_judged_by_its_own_rule(live: Any, state: State, reason: str) -> None:
    assert judge(live, Facts(late_binding=frozenset({"late"}))) == Readiness(state, reason)


def custom(status: Any) -> Any:
    return body("db.test/v1", "Cluster", status=status)


@pytest.mark.parametrize(
    ("status", "condition_type", "state", "reason"),
    [
        ({}, None, State.READY, ""),
        ({}, "Ready", State.WAITING, "condition Ready is not True yet"),
        ({"observedGeneration": 1, "conditions": [condition("Ready")]}, "Ready", State.WAITING,
         "not seen by its controller yet"),
        ({"conditions": [condition("Ready", "False", reason="Starting")]}, "Ready", State.WAITING, "Starting"),
        ({"conditions": [condition("Ready")]}, "Ready", State.READY, ""),
        ({"conditions": [condition("Stalled", message="no disk")]}, "Ready", State.FAILED, "no disk"),
    ],
)  # fmt: skip
def test_a_custom_resource_is_waited_for_by_its_condition(
    status: Any, condition_type: str | None, state: State, reason: str
) -> None:
    assert judge(custom(status), Facts(condition=condition_type)) == Readiness(state, reason)


def test_a_custom_resource_without_a_status_subresource_is_ready() -> None:
    assert judge(custom({}), Facts(condition="Ready", status=False)).state is State.READY


def test_siblings_tell_which_condition_a_kind_shows() -> None:
    assert condition_of_siblings([custom({}), custom({"conditions": [condition("Available")]})]) == "Available"
    assert condition_of_siblings([custom({}), custom({"conditions": [condition("Odd")]})]) is None


def test_every_kind_of_the_table_can_wait_and_other_built_in_kinds_cannot() -> None:
    assert all(can_wait(group, kind) for group, kind in TABLE)
    assert not can_wait("", "ConfigMap")
    assert can_wait("db.test", "Cluster")
    assert Ref("ConfigMap", "", "shop", "web").kind_group == "ConfigMap"


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ({"containerStatuses": [CRASH]}, "container web: CrashLoopBackOff: back-off 10s"),
        ({"initContainerStatuses": [{"name": "init", "state": {"terminated": {"reason": "Error", "exitCode": 3}}}]},
         "container init: Error (exit code 3)"),
        ({"conditions": [condition("PodScheduled", "False", reason="Unschedulable", message="no node")]},
         "Unschedulable: no node"),
        ({"containerStatuses": [{"name": "web", "state": {"waiting": {"reason": "ContainerCreating"}}}]}, ""),
    ],
)  # fmt: skip
def test_a_pods_trouble_is_one_line(status: Any, said: str) -> None:
    assert trouble(body("v1", "Pod", status=status)) == said
