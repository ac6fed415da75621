"""Each real part is there, is the version it should be, and does what tests ask of it."""

import subprocess
import sys
from pathlib import Path

import pytest
import urllib3

from tests.parts import paths
from tests.parts.act import Act
from tests.parts.control_plane import Access, ControlPlane
from tests.parts.kube_api import ApiError, Body, KubeApi, condition
from tests.parts.registry import INDEX, PASSWORD, USER, Registry
from tests.parts.second_nix import Nix

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


def test_a_missing_part_says_what_to_type() -> None:
    part = paths.Part(name="absent", version="v1", recipe=("absent",))
    with pytest.raises(paths.PartMissingError, match=r"absent v1: bin/absent is not in .*\nhint: make setup"):
        part.get("bin/absent")


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


def head(registry: Registry, reference: str, token: str = "") -> urllib3.BaseHTTPResponse:
    headers = {"Accept": INDEX, **({"Authorization": f"Bearer {token}"} if token else {})}
    return urllib3.request("HEAD", f"{registry.url}/v2/{reference}", headers=headers)


def test_a_registry_answers_with_the_digest_of_what_was_pushed(image_registry: Registry) -> None:
    image = image_registry.push("shop/web", "1.0")
    answer = head(image_registry, "shop/web/manifests/1.0")
    assert (answer.status, answer.headers["Docker-Content-Digest"]) == (200, image.digest)
    crane = [str(paths.program("crane")), "digest", "--platform", "linux/arm64", f"{image_registry.host}/shop/web:1.0"]
    done = subprocess.run(crane, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == image.platforms["linux/arm64"]


def test_a_moved_tag_has_another_digest(image_registry: Registry) -> None:
    first = image_registry.push("shop/moved", "1.0", content="first")
    second = image_registry.push("shop/moved", "1.0", content="second")
    assert first.digest != second.digest
    assert head(image_registry, "shop/moved/manifests/1.0").headers["Docker-Content-Digest"] == second.digest


def test_a_registry_behind_tokens_says_where_to_get_one(token_registry: Registry) -> None:
    image = token_registry.push("team/app", "1")
    refused = head(token_registry, "team/app/manifests/1")
    assert refused.status == 401
    assert refused.headers["WWW-Authenticate"].endswith('scope="repository:team/app:pull"')
    assert token_registry.tokens
    token = token_registry.tokens.issue(USER, ["repository:team/app:pull"])
    assert head(token_registry, "team/app/manifests/1", token).headers["Docker-Content-Digest"] == image.digest


def test_nobody_may_pull_what_is_public_and_nothing_else(token_registry: Registry) -> None:
    assert token_registry.tokens
    for repository, status in (("public/app", 200), ("team/app", 401)):
        token_registry.push(repository, "1")
        token = token_registry.tokens.issue("", [f"repository:{repository}:pull"])
        assert head(token_registry, f"{repository}/manifests/1", token).status == status


def test_crane_logs_in_with_the_user(token_registry: Registry, tmp_path: Path) -> None:
    image = token_registry.push("team/app", "1")
    crane, environment = str(paths.program("crane")), {"DOCKER_CONFIG": str(tmp_path)}
    login = [crane, "auth", "login", token_registry.host, "-u", USER, "-p", PASSWORD]
    subprocess.run(login, env=environment, check=True, capture_output=True)
    digest = [crane, "digest", f"{token_registry.host}/team/app:1"]
    assert subprocess.check_output(digest, env=environment, text=True).strip() == image.digest


def test_each_nix_evaluates(each_nix: Nix) -> None:
    assert each_nix.evaluate("1+1") == "2"


def test_the_two_nix_differ_in_version(first_nix: Nix, second_nix: Nix) -> None:
    assert first_nix.version != second_nix.version
    assert second_nix.version.startswith("2.26.")


@pytest.mark.parametrize(
    ("name", "said"), [("act", "act version 0.2.89"), ("actionlint", "v1.7.12"), ("controller-gen", "Version: v0.18.0")]
)
def test_a_tool_is_the_version_that_was_built(name: str, said: str) -> None:
    assert said in subprocess.check_output([paths.program(name), "--version"], text=True)


@pytest.mark.parametrize(
    "file",
    [
        "openapi/generated/api.github.com.json",
        "graphql-schema/schema.graphql",
        "webhooks-examples/api.github.com/index.json",
        "webhooks-schemas/schema.json",
        "fixtures/scenarios/api.github.com/get-repository/normalized-fixture.json",
    ],
)
def test_github_s_published_data_is_there(file: str) -> None:
    assert paths.NODE_MODULES.get(f"node_modules/@octokit/{file}").stat().st_size > 1000


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


def test_the_older_kubernetes_client_is_there(client_36: dict[str, str]) -> None:
    program = "import kubernetes; print(kubernetes.__version__)"
    assert subprocess.check_output([sys.executable, "-c", program], env=client_36, text=True).startswith("36.")


ACTION = """
name: greet
inputs:
  who: {required: true}
outputs:
  greeting: {value: "${{ steps.greet.outputs.greeting }}"}
runs:
  using: composite
  steps:
    - id: greet
      shell: bash
      env: {WHO: "${{ inputs.who }}"}
      run: |
        echo "greeting=hello $WHO" >> "$GITHUB_OUTPUT"
        echo "### $GITHUB_REPOSITORY" >> "$GITHUB_STEP_SUMMARY"
        echo "asked $GITHUB_API_URL about $(cat file) with ${#TOKEN}"
"""
WORKFLOW = """
on: push
jobs:
  greet:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - uses: acme/greet@v1
        with: {who: you}
        env: {TOKEN: "${{ github.token }}"}
"""


def test_act_runs_a_workflow_with_a_local_action(act: Act, tmp_path: Path) -> None:
    action, checkout = tmp_path / "action", tmp_path / "checkout"
    action.mkdir()
    checkout.mkdir()
    (action / "action.yml").write_text(ACTION)
    (checkout / "greet.yml").write_text(WORKFLOW)
    (checkout / "file").write_text("this tree")
    for command in (["init", "--quiet"], ["add", "."], ["commit", "--quiet", "--message", "one"]):
        author = ["-c", "user.name=test", "-c", "user.email=test@example.com"]
        subprocess.run(["git", "-C", checkout, *author, *command], check=True)
    run = act.run(
        checkout,
        event="push",
        payload={"ref": "refs/heads/main"},
        workflow="greet.yml",
        actions={"acme/greet@v1": action},
        environment={"GITHUB_API_URL": "http://127.0.0.1:9"},
    )
    assert run.ok, run.log
    assert "asked http://127.0.0.1:9 about this tree with 14" in run.log.splitlines()
    assert (run.outputs, run.summary, run.results) == (
        {"greeting": "hello you"},
        "### acme/shop\n",
        {"greet": "success"},
    )
