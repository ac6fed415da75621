"""The control plane that tests run against is the right version and does what a cluster does."""

import subprocess

import pytest

from tests.parts import paths
from tests.parts.access import Access
from tests.parts.control_plane import ControlPlane
from tests.parts.kube_api import ApiError, Body, KubeApi, condition

POD = {"containers": [{"name": "main", "image": "example.com/app:1"}]}


def deployment(name: str, annotations: dict[str, str] | None = None) -> Body:
    labels = {"app": name}
    template = {"metadata": {"labels": labels, "annotations": annotations or {}}, "spec": POD}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": 2, "selector": {"matchLabels": labels}, "template": template},
    }


def ready_replicas(body: Body) -> int:
    return int(body.get("status", {}).get("readyReplicas", 0))


def test_the_api_server_is_the_version_that_was_built(kube_api: KubeApi) -> None:
    assert kube_api.get("/version")["gitVersion"] == paths.CONTROL_PLANE.version


def test_etcd_is_new_enough_for_watches_to_see_progress() -> None:
    done = subprocess.run([paths.program("etcd"), "--version"], capture_output=True, text=True, check=True)
    assert f"etcd Version: {paths.ETCD_VERSION}" in done.stdout


def test_a_deployment_becomes_ready(kube_api: KubeApi, kube_namespace: str) -> None:
    path = f"/apis/apps/v1/namespaces/{kube_namespace}/deployments/web"
    kube_api.apply(path, deployment("web"))
    kube_api.wait_for(path, lambda body: ready_replicas(body) == 2)


def test_a_deployment_whose_pods_wait_never_becomes_ready(kube_api: KubeApi, kube_namespace: str) -> None:
    path = f"/apis/apps/v1/namespaces/{kube_namespace}"
    kube_api.apply(f"{path}/deployments/web", deployment("web", {"kix.test/waiting": "ImagePullBackOff"}))

    def waits(body: Body) -> bool:
        states = [status["state"] for pod in body["items"] for status in pod["status"].get("containerStatuses", [])]
        return [state["waiting"]["reason"] for state in states] == ["ImagePullBackOff"] * 2

    kube_api.wait_for(f"/api/v1/namespaces/{kube_namespace}/pods", waits)
    assert ready_replicas(kube_api.get(f"{path}/deployments/web")) == 0


def test_a_job_completes(kube_api: KubeApi, kube_namespace: str) -> None:
    template = {"spec": {**POD, "restartPolicy": "Never"}}
    job = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "once"}, "spec": {"template": template}}
    path = f"/apis/batch/v1/namespaces/{kube_namespace}/jobs/once"
    kube_api.apply(path, job)
    kube_api.wait_for(path, lambda body: condition(body, "Complete") == "True")


def test_a_job_whose_container_fails_fails(kube_api: KubeApi, kube_namespace: str) -> None:
    labels = {"pod-container-running-failed.stage.kwok.x-k8s.io": "true"}
    template = {"metadata": {"labels": labels}, "spec": {**POD, "restartPolicy": "Never"}}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "once"},
        "spec": {"template": template, "backoffLimit": 0},
    }
    path = f"/apis/batch/v1/namespaces/{kube_namespace}/jobs/once"
    kube_api.apply(path, job)
    kube_api.wait_for(path, lambda body: condition(body, "Failed") == "True")


def test_a_pod_has_logs(kube_api: KubeApi, kube_namespace: str) -> None:
    path = f"/api/v1/namespaces/{kube_namespace}/pods/one"
    kube_api.apply(path, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}, "spec": POD})
    kube_api.wait_for(path, lambda body: condition(body, "Ready") == "True")
    assert "hello from kwok" in kube_api.get(f"{path}/log")["text"]


def test_a_service_gets_an_address_on_loopback(kube_api: KubeApi, kube_namespace: str) -> None:
    service = {"metadata": {"name": "web"}, "spec": {"ports": [{"port": 443}]}}
    made = kube_api.create(f"/api/v1/namespaces/{kube_namespace}/services", service)
    assert made["spec"]["clusterIP"].startswith("127.96.")


def test_users_have_no_rights_until_a_role_is_bound(control_plane: Access, kube_namespace: str) -> None:
    path = f"/api/v1/namespaces/{kube_namespace}/configmaps"
    for token in (control_plane.tokens["nobody"], control_plane.service_account(kube_namespace, "robot")):
        with pytest.raises(ApiError) as refused:
            control_plane.api(token).get(path)
        assert refused.value.status == 403


def test_a_user_of_any_name_gets_a_kubeconfig(control_plane: Access, kube_namespace: str) -> None:
    config = control_plane.kubeconfig_of(f"{kube_namespace}-alice", ["auditors"], namespace=kube_namespace)
    kubectl = [str(paths.program("kubectl")), "--kubeconfig", str(config), "auth", "whoami", "-o", "json"]
    done = subprocess.run(kubectl, capture_output=True, text=True, check=True)
    assert f'"username": "{kube_namespace}-alice"' in done.stdout
    assert '"auditors"' in done.stdout


def test_a_private_control_plane_survives_a_crash_of_its_api_server(private_control_plane: ControlPlane) -> None:
    api = private_control_plane.access.api()
    api.create("/api/v1/namespaces", {"metadata": {"name": "kept"}})
    private_control_plane.kill("kube-apiserver")
    private_control_plane.restart("kube-apiserver")
    assert api.get("/api/v1/namespaces/kept")["metadata"]["name"] == "kept"


CLUSTERS = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "clusters.postgresql.cnpg.io"},
    "spec": {
        "group": "postgresql.cnpg.io",
        "names": {"kind": "Cluster", "plural": "clusters", "singular": "cluster", "listKind": "ClusterList"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            },
        ],
    },
}


def test_a_stand_in_makes_a_postgres_cluster_healthy(private_control_plane: ControlPlane) -> None:
    api = private_control_plane.access.api()
    crd = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions/clusters.postgresql.cnpg.io"
    api.apply(crd, CLUSTERS)
    api.wait_for(crd, lambda body: condition(body, "Established") == "True")
    path = "/apis/postgresql.cnpg.io/v1/namespaces/default/clusters/db"
    body = {"apiVersion": "postgresql.cnpg.io/v1", "kind": "Cluster", "metadata": {"name": "db"}}
    api.apply(path, {**body, "spec": {"instances": 3}})
    seen = api.wait_for(path, lambda body: condition(body, "Ready") == "True")
    assert seen["status"]["readyInstances"] == 3


def claim(storage_class: str) -> Body:
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data"},
        "spec": {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": "1Gi"}},
            "storageClassName": storage_class,
        },
    }


def test_a_stand_in_binds_a_claim(kube_api: KubeApi, kube_namespace: str) -> None:
    path = f"/api/v1/namespaces/{kube_namespace}/persistentvolumeclaims/data"
    kube_api.apply(path, claim("standard"))
    kube_api.wait_for(path, lambda body: body["status"]["phase"] == "Bound")


def test_a_claim_that_waits_for_its_consumer_is_bound_with_its_pod(kube_api: KubeApi, kube_namespace: str) -> None:
    path = f"/api/v1/namespaces/{kube_namespace}"
    kube_api.apply(f"{path}/persistentvolumeclaims/data", claim("wait-for-first-consumer"))
    volume = {"name": "data", "persistentVolumeClaim": {"claimName": "data"}}
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "one"}, "spec": {**POD, "volumes": [volume]}}
    assert kube_api.get(f"{path}/persistentvolumeclaims/data")["status"]["phase"] == "Pending"
    kube_api.apply(f"{path}/pods/one", pod)
    kube_api.wait_for(f"{path}/pods/one", lambda body: condition(body, "Ready") == "True")
    assert kube_api.get(f"{path}/persistentvolumeclaims/data")["status"]["phase"] == "Bound"


def test_a_load_balancer_gets_an_address(kube_api: KubeApi, kube_namespace: str) -> None:
    path = f"/api/v1/namespaces/{kube_namespace}/services"
    kube_api.create(path, {"metadata": {"name": "web"}, "spec": {"type": "LoadBalancer", "ports": [{"port": 80}]}})
    kube_api.wait_for(f"{path}/web", lambda body: bool(body["status"]["loadBalancer"].get("ingress")))
