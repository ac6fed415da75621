"""The embedded cluster's controllers: one pass gives every object that waits its status. No clock, no pods.

Pure: a body in, its next status out. What it stands for: workloads that start at once, claims that bind, load
balancers that answer, custom resources whose operator says Ready. It runs nothing.
"""

from collections.abc import Mapping
from typing import Any

CONTROLLER = "kix-embedded-controller"


def next_status(body: Mapping[str, Any], *, has_status: bool, custom: bool) -> dict[str, Any] | None:
    """The status this object should have, None when it is fine as it is."""
    if not has_status:
        return None
    status = _status(body, custom=custom)
    return None if status is None or status == (body.get("status") or {}) else status


def _status(body: Mapping[str, Any], *, custom: bool) -> dict[str, Any] | None:
    spec = body.get("spec") or {}
    generation = (body.get("metadata") or {}).get("generation", 1)
    replicas = spec.get("replicas", 1)
    match body.get("kind"):
        case _ if custom:
            return None if str(body.get("apiVersion", "")).startswith("kix.run/") else _custom(body, generation)
        case "Deployment":
            return {} if spec.get("paused") else _deployment(replicas, generation)
        case "StatefulSet":
            return _stateful_set(replicas, generation)
        case "ReplicaSet":
            counts = {"replicas": replicas, "fullyLabeledReplicas": replicas, "readyReplicas": replicas}
            return {"observedGeneration": generation, **counts, "availableReplicas": replicas}
        case "DaemonSet":
            scheduled = ("currentNumberScheduled", "desiredNumberScheduled", "updatedNumberScheduled")
            one_node = dict.fromkeys((*scheduled, "numberAvailable", "numberReady"), 1)
            return {"observedGeneration": generation, "numberMisscheduled": 0, **one_node}
        case "Job":
            done = {"succeeded": spec.get("completions", 1), "conditions": [_true("Complete")]}
            return {} if spec.get("suspend") else done
        case "Pod":
            return {"phase": "Running", "conditions": [_true("Ready")]}
        case "PersistentVolumeClaim":
            return {"phase": "Bound"}
        case "Namespace":
            return {"phase": "Active"}
        case "Service" if spec.get("type") == "LoadBalancer":
            return {"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}}  # TEST-NET-1, RFC 5737
        case "CustomResourceDefinition":
            return {"conditions": [_true("NamesAccepted"), _true("Established")]}
        case "APIService":
            return {"conditions": [_true("Available")]}
        case _:
            return None


def _deployment(replicas: int, generation: int) -> dict[str, Any]:
    counts = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas")
    return {
        "observedGeneration": generation,
        **dict.fromkeys(counts, replicas),
        "conditions": [_true("Available"), {**_true("Progressing"), "reason": "NewReplicaSetAvailable"}],
    }


def _stateful_set(replicas: int, generation: int) -> dict[str, Any]:
    counts = ("replicas", "updatedReplicas", "readyReplicas", "availableReplicas", "currentReplicas")
    revision = f"revision-{generation}"
    return {
        "observedGeneration": generation,
        **dict.fromkeys(counts, replicas),
        "currentRevision": revision,
        "updateRevision": revision,
    }


def _custom(body: Mapping[str, Any], generation: int) -> dict[str, Any]:
    conditions = [dict(one) for one in (body.get("status") or {}).get("conditions") or () if one.get("type") != "Ready"]
    return {
        **(body.get("status") or {}),
        "observedGeneration": generation,
        "conditions": [*conditions, _true("Ready")],
    }


def _true(kind: str) -> dict[str, Any]:
    return {"type": kind, "status": "True"}
