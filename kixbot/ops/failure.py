"""Why an object did not come up: its pod's reason, that pod's last log line, the last event, what was not started."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kixbot.cluster.faults import RequestError, UnreachableError
from kixbot.cluster.interface import ApiKind, Cluster
from kixbot.model.build import Build, EdgeKind
from kixbot.model.resource import Body, Ref
from kixbot.readiness.pod import trouble

POD: Final = ApiKind(group="", version="v1", kind="Pod", plural="pods", namespaced=True, subresources=("status",))
EVENT: Final = ApiKind(group="", version="v1", kind="Event", plural="events", namespaced=True)
LOG_CHARACTERS: Final = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """What could be found out; "" where nothing was."""

    pod: str = ""
    log: str = ""
    event: str = ""


def cause_of(cluster: Cluster, body: Body) -> Cause:
    """Look at the object's pods and events. Never raises: the failure itself is what matters."""
    namespace = str((body.get("metadata") or {}).get("namespace") or "")
    try:
        pod = _troubled_pod(cluster, body, namespace)
        return Cause(
            pod="" if pod is None else f"Pod {namespace}/{pod['metadata']['name']}: {trouble(pod) or 'not ready'}",
            log="" if pod is None else _log(cluster, pod),
            event=_event(cluster, pod, namespace) or _event(cluster, body, namespace),
        )
    except (RequestError, UnreachableError):
        return Cause()


def _troubled_pod(cluster: Cluster, body: Body, namespace: str) -> dict[str, Any] | None:
    if body.get("kind") == "Pod":
        return dict(body)
    labels = ((body.get("spec") or {}).get("selector") or {}).get("matchLabels") or {}
    if body.get("kind") == "Job":
        labels = {"batch.kubernetes.io/job-name": body["metadata"]["name"]}
    if not labels:
        return None
    selector = ",".join(f"{name}={value}" for name, value in sorted(labels.items()))
    pods = cluster.listing(POD, namespace=namespace, label_selector=selector).items
    ordered = sorted(pods, key=lambda pod: (not trouble(pod), str(pod["metadata"].get("creationTimestamp", ""))))
    return ordered[0] if ordered else None


def _log(cluster: Cluster, pod: Mapping[str, Any]) -> str:
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    names = [str(one.get("name")) for one in statuses if not one.get("ready")]
    if not names:
        return ""
    metadata = pod["metadata"]
    try:
        text = cluster.pod_log(metadata["name"], namespace=metadata["namespace"], container=names[0], lines=1)
    except (RequestError, UnreachableError):
        return ""
    return text.strip()[:LOG_CHARACTERS]


def _event(cluster: Cluster, body: Mapping[str, Any] | None, namespace: str) -> str:
    if body is None or not namespace:
        return ""
    uid = str(body["metadata"].get("uid") or "")
    events = cluster.listing(EVENT, namespace=namespace, field_selector=f"involvedObject.uid={uid}").items
    warnings = [one for one in events if one.get("type") == "Warning"] or list(events)
    if not warnings:
        return ""
    last = max(warnings, key=lambda one: str(one.get("lastTimestamp") or one.get("eventTime") or ""))
    return f"{last.get('reason')}: {last.get('message')}"


def dependents(build: Build, failed: Iterable[Ref], started: Iterable[Ref]) -> tuple[Ref, ...]:
    """What depends on these objects, through any number of steps, and was not started; sorted."""
    users: dict[Ref, set[Ref]] = {}
    for edge in build.edges:
        # A Service waits for the workloads it selects, so whoever needs the Service waits for them too.
        if edge.kind is not EdgeKind.SOFT or edge.source.kind == "Service":
            users.setdefault(edge.target, set()).add(edge.source)
    found: set[Ref] = set()
    queue = list(failed)
    while queue:
        for user in users.get(queue.pop(), ()):
            if user not in found:
                found.add(user)
                queue.append(user)
    return tuple(sorted(found - set(started) - set(failed)))
