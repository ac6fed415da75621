"""Stand-ins for what a real cluster's add-ons do and kwok does not: volumes, load balancers, an operator's status.

Each watches one kind and answers what it sees through the API server, as the real add-on would. A test that wants the
add-on absent says so with an annotation on the object: `kix.test/stand-in: absent`.
"""

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

import urllib3

from tests.parts.kube_api import ApiError, Body, KubeApi, condition

PROVISIONER = "volumes.kix.test"
PROVISIONER_ANNOTATION = "volume.kubernetes.io/storage-provisioner"
OPT_OUT = "kix.test/stand-in"
POSTGRES = "/apis/postgresql.cnpg.io/v1"
WATCH_SECONDS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class StandIn:
    """One add-on: the list path it watches, and what it does about an object of it; doing it twice must not matter."""

    path: str
    react: Callable[[KubeApi, Body], None]


def bind_claim(api: KubeApi, claim: Body) -> None:
    """Provisions a volume once the controller manager asks for one: for WaitForFirstConsumer after a pod is placed."""
    annotations = claim["metadata"].get("annotations", {})
    if claim["spec"].get("volumeName") or annotations.get(PROVISIONER_ANNOTATION) != PROVISIONER:
        return
    meta = claim["metadata"]
    name = f"pvc-{meta['uid']}"
    reference = {"apiVersion": "v1", "kind": "PersistentVolumeClaim"}
    reference |= {key: meta[key] for key in ("namespace", "name", "uid", "resourceVersion")}
    spec = {
        "accessModes": claim["spec"]["accessModes"],
        "capacity": {"storage": claim["spec"]["resources"]["requests"]["storage"]},
        "claimRef": reference,
        "csi": {"driver": PROVISIONER, "volumeHandle": name},
        "persistentVolumeReclaimPolicy": "Delete",
        "storageClassName": claim["spec"]["storageClassName"],
    }
    volume = {"metadata": {"name": name, "annotations": {"pv.kubernetes.io/provisioned-by": PROVISIONER}}, "spec": spec}
    api.create("/api/v1/persistentvolumes", volume)


def drop_released_volume(api: KubeApi, volume: Body) -> None:
    """Deletes a volume of ours whose claim is gone."""
    ours = volume["spec"].get("csi", {}).get("driver") == PROVISIONER
    if ours and volume.get("status", {}).get("phase") == "Released":
        api.delete(f"/api/v1/persistentvolumes/{volume['metadata']['name']}")


def give_load_balancer_address(api: KubeApi, service: Body) -> None:
    """Gives a Service of type LoadBalancer an address, on loopback like everything here."""
    if service["spec"].get("type") != "LoadBalancer" or service["status"].get("loadBalancer", {}).get("ingress"):
        return
    low = service["spec"]["clusterIP"].removeprefix("127.96.")
    meta = service["metadata"]
    status = {"status": {"loadBalancer": {"ingress": [{"ip": f"127.97.{low}"}]}}}
    api.merge(f"/api/v1/namespaces/{meta['namespace']}/services/{meta['name']}/status", status)


def make_postgres_healthy(api: KubeApi, cluster: Body) -> None:
    """What CloudNativePG writes into the status of a Cluster whose instances all run."""
    instances = cluster["spec"].get("instances", 1)
    status = cluster.get("status", {})
    if condition(cluster, "Ready") == "True" and status.get("readyInstances") == instances:
        return
    meta = cluster["metadata"]
    since = meta["creationTimestamp"]
    ready = {"type": "Ready", "status": "True", "reason": "ClusterIsReady", "message": "Cluster is Ready"}
    pods = [f"{meta['name']}-{number}" for number in range(1, instances + 1)]
    written = {
        "conditions": [{**ready, "lastTransitionTime": since}],
        "currentPrimary": pods[0],
        "instanceNames": pods,
        "instances": instances,
        "phase": "Cluster in healthy state",
        "readyInstances": instances,
        "targetPrimary": pods[0],
    }
    api.merge(f"{POSTGRES}/namespaces/{meta['namespace']}/clusters/{meta['name']}/status", {"status": written})


ALL = (
    StandIn(path="/api/v1/persistentvolumeclaims", react=bind_claim),
    StandIn(path="/api/v1/persistentvolumes", react=drop_released_volume),
    StandIn(path="/api/v1/services", react=give_load_balancer_address),
    StandIn(path=f"{POSTGRES}/clusters", react=make_postgres_healthy),
)

STORAGE_CLASSES: tuple[Body, ...] = tuple(
    {
        "metadata": {"name": name, "annotations": {"storageclass.kubernetes.io/is-default-class": default}},
        "provisioner": PROVISIONER,
        "reclaimPolicy": "Delete",
        "volumeBindingMode": mode,
        "allowVolumeExpansion": True,
    }
    for name, default, mode in (
        ("standard", "true", "Immediate"),
        ("wait-for-first-consumer", "false", "WaitForFirstConsumer"),
    )
)


class StandIns:
    """Threads that play all stand-ins on one control plane until they are told to stop."""

    def __init__(self, api: KubeApi) -> None:
        self._api = api
        self._stopped = threading.Event()
        self.faults: list[str] = []
        """What went wrong in a reaction, for whoever looks into a test that waits in vain."""

    def start(self) -> None:
        for storage_class in STORAGE_CLASSES:
            self._api.create("/apis/storage.k8s.io/v1/storageclasses", storage_class)
        for stand_in in ALL:
            threading.Thread(target=self._play, args=(stand_in,), daemon=True, name=stand_in.path).start()

    def stop(self) -> None:
        """Nothing is done any more from here on; the threads end with their current watch."""
        self._stopped.set()

    def _play(self, stand_in: StandIn) -> None:
        while not self._stopped.is_set():
            try:
                for event in self._api.watch(stand_in.path, seconds=WATCH_SECONDS):
                    if self._stopped.is_set():
                        return
                    self._react(stand_in, event)
            except (ApiError, urllib3.exceptions.HTTPError, ValueError):
                # Its kind is not known yet, or the API server is down, or went in the middle of a line.
                time.sleep(0.3)

    def _react(self, stand_in: StandIn, event: Body) -> None:
        body: Body = event["object"]
        is_gone = event["type"] not in {"ADDED", "MODIFIED"} or "deletionTimestamp" in body["metadata"]
        if is_gone or body["metadata"].get("annotations", {}).get(OPT_OUT) == "absent":
            return
        try:
            stand_in.react(self._api, body)
        except ApiError as error:
            if error.status == 429 or error.status >= 500:
                raise  # the API server is going down: a new watch shows every object again
            if error.status not in {404, 409}:  # it went away or changed meanwhile, and then there is a next event
                self.faults.append(str(error))
