"""Adopting what other managers made, on the embedded cluster and a real one: what force alone cannot mend."""

from typing import Any

import pytest

from kixbot.cluster.faults import RejectedError
from kixbot.errors import UsageError
from kixbot.ops.plan import live_plan
from kixbot.ops.takeover import Adoption, parse
from tests.ops.test_drift import CONFIG_MAP, DEPLOYMENT
from tests.ops.worlds import BLUE, World, real

HELM = "helm"
KUBECTL = "kubectl-client-side-apply"


def made(world: World, body: dict[str, Any], by: str) -> None:
    """Somebody created it, as kubectl apply and Helm 3 do: by a write that is no apply."""
    kinds = world.cluster.discover()
    namespace = kinds.find("v1", "Namespace")
    assert namespace is not None
    if world.name not in [one["metadata"]["name"] for one in world.cluster.listing(namespace).items]:
        world.cluster.create(
            namespace, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": world.name}}, manager="admin"
        )
    kind = kinds.find(body["apiVersion"], body["kind"])
    assert kind is not None
    placed = {**body, "metadata": {**body["metadata"], "namespace": world.name}}
    world.cluster.create(kind, placed, manager=by)


def config_map(**data: str) -> dict[str, Any]:
    metadata = {"name": "web", "labels": {"app.kubernetes.io/managed-by": "Helm"}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": data}


def deployment(probe: dict[str, Any]) -> dict[str, Any]:
    container = {"name": "web", "image": "registry.test/web:1", "readinessProbe": probe}
    spec = {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container]}},
    }
    return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec}


@pytest.mark.parametrize("manager", [HELM, KUBECTL])
def test_fields_that_left_the_manifest_go_with_an_adoption_and_stay_without(world: World, manager: str) -> None:
    made(world, config_map(colour="blue", legacy="1"), manager)
    world.deploy()
    assert world.live(*CONFIG_MAP)["data"] == {"colour": "blue", "legacy": "1"}
    world.deploy(adopt=(Adoption(manager=manager),))
    live = world.live(*CONFIG_MAP)
    assert live["data"] == {"colour": "blue"}
    assert "app.kubernetes.io/managed-by" not in live["metadata"]["labels"]
    managers = {entry["manager"] for entry in live["metadata"]["managedFields"]}
    assert managers == {"kix", f"kix-record.{world.name}"}
    assert world.deploys.finished.receipt.adopted == (f"ConfigMap/web@{world.name}",)
    assert world.told() == []


def test_the_plan_shows_what_goes_and_from_whom_and_writes_nothing(world: World) -> None:
    made(world, config_map(colour="red", legacy="1"), HELM)
    before = world.live(*CONFIG_MAP)
    plan = live_plan(
        world.build(), world.cluster, record_namespace=world.records, adopt=(parse(f"{HELM}@{world.name}"),)
    ).plan
    assert plan.conflicts == ()
    changed = next(
        change for package in plan.packages for change in package.resources if change.ref.kind == "ConfigMap"
    )
    assert (changed.action, changed.note) == ("adopted", "takes over from helm")
    paths = {change.path for change in changed.changes}
    assert {"$.data.colour", "$.data.legacy"} <= paths
    assert world.live(*CONFIG_MAP) == before
    world.deploy(adopt=(parse(HELM),))
    assert world.live(*CONFIG_MAP)["data"] == {"colour": "blue"}


def test_a_probe_changes_its_handler_only_by_a_take_over(control_plane: Any, kube_prefix: str) -> None:
    http = BLUE.replace("envFrom", "readinessProbe: {httpGet: {path: /, port: 80}}, envFrom")
    with real(control_plane, kube_prefix) as world:
        made(world, deployment({"tcpSocket": {"port": 80}}), KUBECTL)
        with pytest.raises(RejectedError, match="may not specify more than 1 handler type") as rejected:
            world.deploy(http, force_conflicts=True)
        assert rejected.value.hint == f"fields of {KUBECTL} stand beside ours; --adopt {KUBECTL} takes them over"
        world.deploy(http, adopt=(Adoption(manager=KUBECTL),), timeout=60)
        live = world.live(*DEPLOYMENT)
    probe = live["spec"]["template"]["spec"]["containers"][0]["readinessProbe"]
    assert "tcpSocket" not in probe
    assert probe["httpGet"]["port"] == 80


def test_a_service_port_edited_by_hand_comes_back_only_by_a_take_over(control_plane: Any, kube_prefix: str) -> None:
    text = BLUE.replace("ports: [{port: 80}]", "ports: [{port: 80, name: http}]")
    with real(control_plane, kube_prefix) as world:
        world.deploy(text)
        ports = [{"name": "http", "port": 81, "protocol": "TCP", "targetPort": 80}]
        world.patch("v1", "Service", "web", {"spec": {"ports": ports}})
        with pytest.raises(RejectedError, match="Duplicate value") as rejected:
            world.deploy(text, reconcile=True)
        assert rejected.value.hint == "fields of kubectl-edit stand beside ours; --adopt kubectl-edit takes them over"
        world.deploy(text, adopt=(Adoption(manager="kubectl-edit"),))
        live = world.live("v1", "Service", "web")
        drift = world.drift().resources
    assert [(one["name"], one["port"]) for one in live["spec"]["ports"]] == [("http", 80)]
    assert drift == ()


def test_ceded_fields_are_kept_though_their_holder_is_adopted_and_pods_are_not_restarted(world: World) -> None:
    body = deployment({"tcpSocket": {"port": 80}})
    del body["spec"]["template"]["spec"]["containers"][0]["readinessProbe"]
    body["spec"]["replicas"] = 5
    body["spec"]["template"]["spec"]["containers"][0]["envFrom"] = [{"configMapRef": {"name": "web"}}]
    made(world, body, HELM)
    text = BLUE.replace(
        "metadata: {name: web, namespace: shop}\nspec:\n  replicas: 2",
        "metadata: {name: web, namespace: shop, annotations: {kix.run/cede: spec.replicas}}\nspec:\n  replicas: 2",
    )
    template = world.live(*DEPLOYMENT)["spec"]["template"]
    subresource = "scale" if world.is_real else ""
    world.patch(*DEPLOYMENT, {"spec": {"replicas": 4}}, by="kube-controller-manager", subresource=subresource)
    world.deploy(text, adopt=(Adoption(manager=HELM),), timeout=60)
    live = world.live(*DEPLOYMENT)
    assert live["spec"]["replicas"] == 4
    assert live["spec"]["template"] == template


def test_only_what_the_adoption_names_is_taken(world: World) -> None:
    made(world, config_map(colour="blue", legacy="1"), HELM)
    for where in ("elsewhere", f"{world.name}/other"):
        world.deploy(adopt=(parse(f"{HELM}@{where}"),))
        assert world.live(*CONFIG_MAP)["data"] == {"colour": "blue", "legacy": "1"}
    world.deploy(adopt=(parse(f"{HELM}@{world.name}/(manifests)"),))
    assert world.live(*CONFIG_MAP)["data"] == {"colour": "blue"}


@pytest.mark.parametrize("text", ["", "@shop", "helm@", "helm@shop/", "kix", "kix-record.shop"])
def test_an_adoption_names_a_manager_that_is_not_kix(text: str) -> None:
    with pytest.raises(UsageError):
        parse(text)
