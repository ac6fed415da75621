"""What every cluster does, embedded or real. One test runs against each."""

import os
import re
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from kixbot.cluster.crds import ACTIVATION, CRD, install_crds, missing_crds
from kixbot.cluster.faults import (
    ConflictError,
    ExistsError,
    FieldConflict,
    KindNotServedError,
    NamespaceMissingError,
    NotFoundError,
    RequestError,
    StaleError,
)
from kixbot.cluster.interface import ApiKind, Cluster
from kixbot.cluster.memory import MemoryCluster
from kixbot.cluster.opening import open_cluster
from kixbot.diff.ownership import owned_paths, render_path
from tests.parts.access import Access

ROOT = Path(__file__).parents[2]
ACCESS = "KIX_TEST_CONTROL_PLANE"
"""In the environment of a process that shares the control plane of the one that started it."""
CONFIG_MAP = ApiKind(group="", version="v1", kind="ConfigMap", plural="configmaps", namespaced=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """A cluster and a namespace of this test's own in it."""

    cluster: Cluster
    namespace: str

    def kind(self, api_version: str, kind: str) -> ApiKind:
        found = self.cluster.discover().find(api_version, kind)
        assert found is not None
        return found

    def config_map(self, name: str = "settings", **data: str) -> dict[str, Any]:
        return {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": name, "namespace": self.namespace},
            "data": data,
        }

    def deployment(self, replicas: int | None = 1, image: str = "web:1") -> dict[str, Any]:
        spec: dict[str, Any] = {
            "selector": {"matchLabels": {"app": "web"}},
            "template": {
                "metadata": {"labels": {"app": "web"}},
                "spec": {
                    "containers": [{"name": "web", "image": image, "ports": [{"containerPort": 80}]}],
                },
            },
        }
        if replicas is not None:
            spec["replicas"] = replicas
        metadata = {"name": "web", "namespace": self.namespace}
        return {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": metadata, "spec": spec}


@pytest.fixture(params=["embedded", "real"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    if request.param == "embedded":
        memory = MemoryCluster()
        namespace = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}
        memory.create(_namespace_kind(memory), namespace, manager="test")
        yield World(cluster=memory, namespace="shop")
        return
    given = os.environ.get(ACCESS)
    access = Access.from_json(given) if given else request.getfixturevalue("control_plane")
    keeper, cluster = (
        open_cluster(context="test", kubeconfig=str(access.kubeconfig), embedded=None, environment=dict(os.environ))
        for _ in range(2)
    )
    kind = _namespace_kind(keeper)
    name = f"t{secrets.token_hex(4)}"
    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
    made = keeper.create(kind, body, manager="test")
    yield World(cluster=cluster, namespace=name)
    cluster.close()
    keeper.delete(kind, name, uid=made["metadata"]["uid"])
    keeper.close()


def test_the_real_cluster_passes_on_the_older_client_too(control_plane: Access, client_36: dict[str, str]) -> None:
    """Version 36 of the kubernetes client, in a process of its own, on the same control plane."""
    program = "import kubernetes, pytest, sys; print(kubernetes.__version__); sys.exit(pytest.main(sys.argv[1:]))"
    file = str(Path(__file__).relative_to(ROOT))
    options = ["-q", "-p", "no:cacheprovider", "-k", "real and not older"]
    done = subprocess.run(
        [sys.executable, "-c", program, *options, file],
        cwd=ROOT,
        env={**client_36, ACCESS: control_plane.to_json()},
        capture_output=True,
        text=True,
        check=False,
        timeout=250,
    )
    assert done.returncode == 0, done.stdout
    assert done.stdout.startswith("36.")
    assert re.search(r"\b2[0-9] passed", done.stdout)


def _namespace_kind(cluster: Cluster) -> ApiKind:
    found = cluster.discover().find("v1", "Namespace")
    assert found is not None
    return found


def test_discovery_names_kinds_with_scope_and_subresources_in_two_requests(world: World) -> None:
    discovery = world.cluster.discover()
    assert world.cluster.discover() is discovery
    assert world.cluster.requests["discovery"] == 2
    found = discovery.find("apps/v1", "Deployment")
    assert found is not None
    assert (found.plural, found.namespaced, found.has_status) == ("deployments", True, True)
    crd = discovery.find("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    assert crd is not None
    assert crd.namespaced is False
    assert discovery.find("example.test/v1", "Nothing") is None


def test_apply_creates_and_owns_exactly_what_was_sent(world: World) -> None:
    made = world.cluster.apply(world.kind("apps/v1", "Deployment"), world.deployment(), manager="kix")
    assert sorted(map(render_path, owned_paths(made, "kix"))) == [
        ".spec.replicas",
        ".spec.selector",
        ".spec.template.metadata.labels.app",
        '.spec.template.spec.containers[name="web"]',
        '.spec.template.spec.containers[name="web"].image',
        '.spec.template.spec.containers[name="web"].name',
        '.spec.template.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"]',
        '.spec.template.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"].containerPort',
    ]
    assert made["metadata"]["generation"] == 1
    assert made["metadata"]["uid"]


def test_an_apply_that_owns_no_field_leaves_no_entry(world: World) -> None:
    bare = world.config_map()
    del bare["data"]
    after = world.cluster.apply(CONFIG_MAP, bare, manager="kix")
    assert after["metadata"].get("managedFields", []) == []


def test_the_same_apply_twice_changes_nothing(world: World) -> None:
    first = world.cluster.apply(CONFIG_MAP, world.config_map(a="1"), manager="kix")
    second = world.cluster.apply(CONFIG_MAP, world.config_map(a="1"), manager="kix")
    assert second["metadata"]["resourceVersion"] == first["metadata"]["resourceVersion"]


def test_a_field_left_out_of_the_next_apply_is_removed(world: World) -> None:
    world.cluster.apply(CONFIG_MAP, world.config_map(a="1", b="2"), manager="kix")
    after = world.cluster.apply(CONFIG_MAP, world.config_map(a="1"), manager="kix")
    assert after["data"] == {"a": "1"}


def test_a_field_left_out_stays_while_another_manager_owns_it(world: World) -> None:
    world.cluster.apply(CONFIG_MAP, world.config_map(a="1", b="2"), manager="kix")
    world.cluster.apply(CONFIG_MAP, world.config_map(b="2"), manager="other")
    after = world.cluster.apply(CONFIG_MAP, world.config_map(a="1"), manager="kix")
    assert after["data"] == {"a": "1", "b": "2"}


def test_a_dry_run_answers_the_object_and_writes_nothing(world: World) -> None:
    answer = world.cluster.apply(CONFIG_MAP, world.config_map(a="1"), manager="kix", dry_run=True)
    assert answer["data"] == {"a": "1"}
    assert owned_paths(answer, "kix")
    with pytest.raises(NotFoundError):
        world.cluster.get(CONFIG_MAP, "settings", world.namespace)
    assert world.cluster.requests["dry-run"] == 1
    assert world.cluster.requests["apply"] == 0


def test_a_changed_value_of_another_manager_is_a_conflict_that_names_it(world: World) -> None:
    kind = world.kind("apps/v1", "Deployment")
    world.cluster.apply(kind, world.deployment(), manager="kix")
    world.cluster.merge_patch(kind, "web", {"spec": {"replicas": 5}}, namespace=world.namespace, manager="kubectl-edit")
    with pytest.raises(ConflictError) as caught:
        world.cluster.apply(kind, world.deployment(), manager="kix")
    assert [(one.field, one.manager, one.subresource) for one in caught.value.conflicts] == [
        (".spec.replicas", "kubectl-edit", None)
    ]
    assert isinstance(caught.value.conflicts[0], FieldConflict)


def test_the_value_another_manager_set_is_shared_without_conflict(world: World) -> None:
    world.cluster.apply(CONFIG_MAP, world.config_map(a="1"), manager="other")
    after = world.cluster.apply(CONFIG_MAP, world.config_map(a="1"), manager="kix")
    assert owned_paths(after, "kix") == owned_paths(after, "other")


def test_a_forced_apply_takes_the_field(world: World) -> None:
    world.cluster.apply(CONFIG_MAP, world.config_map(a="1", b="1"), manager="other")
    after = world.cluster.apply(CONFIG_MAP, world.config_map(a="2"), manager="kix", force=True)
    assert after["data"] == {"a": "2", "b": "1"}
    assert list(map(render_path, owned_paths(after, "other"))) == [".data.b"]


def test_list_items_of_two_managers_stand_side_by_side(world: World) -> None:
    kind = world.kind("apps/v1", "Deployment")
    world.cluster.apply(kind, world.deployment(), manager="kix")
    sidecar = world.deployment(replicas=None)
    sidecar["spec"]["template"]["spec"]["containers"] = [{"name": "proxy", "image": "proxy:1"}]
    after = world.cluster.apply(kind, sidecar, manager="mesh")
    names = sorted(one["name"] for one in after["spec"]["template"]["spec"]["containers"])
    assert names == ["proxy", "web"]
    again = world.cluster.apply(kind, world.deployment(image="web:2"), manager="kix")
    images = {one["name"]: one["image"] for one in again["spec"]["template"]["spec"]["containers"]}
    assert images == {"proxy": "proxy:1", "web": "web:2"}


def test_generation_moves_with_the_spec_and_not_with_labels(world: World) -> None:
    kind = world.kind("apps/v1", "Deployment")
    world.cluster.apply(kind, world.deployment(), manager="kix")
    labelled = {"metadata": {"labels": {"team": "shop"}}}
    after = world.cluster.merge_patch(kind, "web", labelled, namespace=world.namespace, manager="other")
    assert after["metadata"]["generation"] == 1
    changed = world.cluster.apply(kind, world.deployment(image="web:2"), manager="kix")
    assert changed["metadata"]["generation"] == 2


def test_an_apply_with_the_uid_of_a_vanished_object_does_not_bring_it_back(world: World) -> None:
    made = world.cluster.apply(CONFIG_MAP, world.config_map(a="1"), manager="kix")
    world.cluster.delete(CONFIG_MAP, "settings", namespace=world.namespace, uid=made["metadata"]["uid"])
    again = world.config_map()
    again["metadata"]["uid"] = made["metadata"]["uid"]
    with pytest.raises(RequestError):
        world.cluster.apply(CONFIG_MAP, again, manager="kix-record.shop", force=True)
    with pytest.raises(NotFoundError):
        world.cluster.get(CONFIG_MAP, "settings", world.namespace)


def test_a_merge_patch_is_guarded_by_its_resource_version(world: World) -> None:
    made = world.cluster.apply(CONFIG_MAP, world.config_map(a="1"), manager="kix")
    old = made["metadata"]["resourceVersion"]
    patch = {"metadata": {"resourceVersion": old}, "data": {"b": "2"}}
    world.cluster.merge_patch(CONFIG_MAP, "settings", patch, namespace=world.namespace, manager="other")
    with pytest.raises(StaleError):
        world.cluster.merge_patch(CONFIG_MAP, "settings", patch | {"data": {"b": "3"}}, namespace=world.namespace,
                                  manager="other")  # fmt: skip


def test_owners_are_replaced_only_of_the_version_that_was_seen(world: World) -> None:
    world.cluster.apply(CONFIG_MAP, world.config_map(a="1"), manager="other")
    made = world.cluster.apply(CONFIG_MAP, world.config_map(a="1"), manager="kix")
    mine = [entry for entry in made["metadata"]["managedFields"] if entry["manager"] == "kix"]
    version = made["metadata"]["resourceVersion"]
    after = world.cluster.replace_owners(
        CONFIG_MAP, "settings", mine, namespace=world.namespace, resource_version=version
    )
    assert [entry["manager"] for entry in after["metadata"]["managedFields"]] == ["kix"]
    assert after["data"] == {"a": "1"}
    with pytest.raises(StaleError):
        world.cluster.replace_owners(CONFIG_MAP, "settings", mine, namespace=world.namespace, resource_version=version)


def test_a_delete_hits_only_the_object_that_was_seen(world: World) -> None:
    made = world.cluster.apply(CONFIG_MAP, world.config_map(a="1"), manager="kix")
    with pytest.raises(StaleError):
        world.cluster.delete(CONFIG_MAP, "settings", namespace=world.namespace, uid="0" * 36)
    world.cluster.merge_patch(CONFIG_MAP, "settings", {"data": {"b": "2"}}, namespace=world.namespace, manager="other")
    with pytest.raises(StaleError):
        world.cluster.delete(
            CONFIG_MAP,
            "settings",
            namespace=world.namespace,
            uid=made["metadata"]["uid"],
            resource_version=made["metadata"]["resourceVersion"],
        )
    world.cluster.delete(CONFIG_MAP, "settings", namespace=world.namespace, uid=made["metadata"]["uid"])
    with pytest.raises(NotFoundError):
        world.cluster.get(CONFIG_MAP, "settings", world.namespace)


def test_create_refuses_a_name_that_is_taken(world: World) -> None:
    world.cluster.create(CONFIG_MAP, world.config_map(a="1"), manager="kix")
    with pytest.raises(ExistsError):
        world.cluster.create(CONFIG_MAP, world.config_map(a="1"), manager="kix")


def test_a_write_into_a_missing_namespace_says_so(world: World) -> None:
    body = world.config_map(a="1")
    body["metadata"]["namespace"] = f"{world.namespace}-absent"
    with pytest.raises(NamespaceMissingError):
        world.cluster.apply(CONFIG_MAP, body, manager="kix")


def test_a_kind_that_is_not_served_says_so(world: World) -> None:
    nothing = ApiKind(group="example.test", version="v1", kind="Nothing", plural="nothings", namespaced=True)
    body = {"apiVersion": "example.test/v1", "kind": "Nothing", "metadata": {"name": "a", "namespace": world.namespace}}
    with pytest.raises(KindNotServedError):
        world.cluster.apply(nothing, body, manager="kix")


def test_a_list_selects_by_label_and_may_leave_all_but_metadata(world: World) -> None:
    for name, team in (("a", "shop"), ("b", "other")):
        body = world.config_map(name, key="value")
        body["metadata"]["labels"] = {"team": team}
        world.cluster.apply(CONFIG_MAP, body, manager="kix")
    full = world.cluster.listing(CONFIG_MAP, namespace=world.namespace, label_selector="team=shop")
    assert [(one["metadata"]["name"], one["data"]) for one in full.items] == [("a", {"key": "value"})]
    bare = world.cluster.listing(CONFIG_MAP, namespace=world.namespace, label_selector="team", metadata_only=True)
    assert [(one["metadata"]["name"], one["kind"], "data" in one) for one in bare.items] == [
        ("a", "ConfigMap", False),
        ("b", "ConfigMap", False),
    ]
    assert all(owned_paths(one, "kix") for one in bare.items)


def test_a_watch_tells_what_happens_after_the_list(world: World) -> None:
    made = world.cluster.apply(CONFIG_MAP, world.config_map("seen", a="1"), manager="kix")
    listing = world.cluster.listing(CONFIG_MAP, namespace=world.namespace)
    watch = world.cluster.watch(
        CONFIG_MAP, namespace=world.namespace, resource_version=listing.resource_version, seconds=20
    )
    world.cluster.apply(CONFIG_MAP, world.config_map("new", a="1"), manager="kix")
    events = iter(watch)
    first = next(events)
    assert (first.body["metadata"]["name"], first.body["kind"]) == ("new", "ConfigMap")
    world.cluster.delete(CONFIG_MAP, "seen", namespace=world.namespace, uid=made["metadata"]["uid"])
    second = next(events)
    assert (second.type, second.body["metadata"]["name"]) == ("DELETED", "seen")
    watch.close()


def test_a_watch_ends_when_another_thread_closes_it(world: World) -> None:
    listing = world.cluster.listing(CONFIG_MAP, namespace=world.namespace)
    watch = world.cluster.watch(
        CONFIG_MAP, namespace=world.namespace, resource_version=listing.resource_version, seconds=60
    )
    seen: list[object] = []
    reader = threading.Thread(target=lambda: seen.extend(watch), daemon=True)
    reader.start()
    watch.close()
    reader.join(timeout=10)
    assert not reader.is_alive()


def test_a_watch_ends_by_itself_when_its_time_is_over(world: World) -> None:
    listing = world.cluster.listing(CONFIG_MAP, namespace=world.namespace)
    watch = world.cluster.watch(
        CONFIG_MAP, namespace=world.namespace, resource_version=listing.resource_version, seconds=1
    )
    assert list(watch) == []


def test_a_workload_becomes_ready_by_its_controller(world: World) -> None:
    kind = world.kind("apps/v1", "Deployment")
    world.cluster.apply(kind, world.deployment(), manager="kix")
    listing = world.cluster.listing(kind, namespace=world.namespace)
    bodies = [*listing.items]
    if not any(one.get("status", {}).get("readyReplicas") for one in bodies):
        watch = world.cluster.watch(
            kind, namespace=world.namespace, resource_version=listing.resource_version, seconds=60
        )
        for event in watch:
            if event.body.get("status", {}).get("readyReplicas") == 1:
                break
        else:
            pytest.fail("never ready")
        watch.close()
    live = world.cluster.get(kind, "web", world.namespace)
    assert live["status"]["availableReplicas"] == 1
    assert owned_paths(live, "kix") == owned_paths(world.cluster.apply(kind, world.deployment(), manager="kix"), "kix")


def test_the_status_of_a_custom_resource_is_a_subresource(world: World) -> None:
    if missing_crds(world.cluster):
        install_crds(world.cluster)
    body = {
        "apiVersion": ACTIVATION.api_version,
        "kind": ACTIVATION.kind,
        "metadata": {"name": "shop-000000000000", "namespace": world.namespace},
        "spec": {"cluster": "shop", "mode": "local", "source": {"path": "/nix/store/x"}},
    }
    with_status = {**body, "status": {"phase": "Active"}}
    made = world.cluster.apply(ACTIVATION, with_status, manager="kix-record.shop")
    assert "status" not in made
    head = {"apiVersion": body["apiVersion"], "kind": body["kind"], "metadata": body["metadata"]}
    after = world.cluster.apply(
        ACTIVATION, {**head, "status": {"phase": "Active"}}, manager="kix-record.shop", subresource="status"
    )
    assert (after["status"]["phase"], after["spec"]["cluster"]) == ("Active", "shop")
    assert after["metadata"]["generation"] == 1


def test_an_installed_definition_is_served_at_once(world: World) -> None:
    assert install_crds(world.cluster) == ("activations.kix.run", "packageinstances.kix.run")
    found = world.cluster.discover().find("kix.run/v1alpha1", "Activation")
    assert found is not None
    assert found.has_status
    listed = world.cluster.listing(CRD, metadata_only=True)
    assert {"activations.kix.run", "packageinstances.kix.run"} <= {one["metadata"]["name"] for one in listed.items}


def test_a_log_of_a_pod_that_is_not_there_is_not_found(world: World) -> None:
    with pytest.raises(NotFoundError):
        world.cluster.pod_log("absent", namespace=world.namespace, container="web")


def test_a_config_map_of_two_mebibytes_is_refused(world: World) -> None:
    with pytest.raises(RequestError) as caught:
        world.cluster.apply(CONFIG_MAP, world.config_map(big="x" * 2 * 1024 * 1024), manager="kix")
    assert "settings" in caught.value.message
    assert len(caught.value.message) < 500
