"""The printed roles, tried on a real API server: each does its own work, and not the next one's."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kixbot.cluster.faults import ForbiddenError
from kixbot.cluster.interface import Cluster
from kixbot.cluster.opening import open_cluster
from kixbot.model.build import Build
from kixbot.ops.drift import find_drift, observe_record
from kixbot.ops.plan import live_plan
from kixbot.ops.rbac import RoleName, plural_of, roles
from kixbot.ops.status import status
from tests.ops.deploys import Deploys, config_map
from tests.ops.worlds import BLUE, World, real
from tests.parts.access import Access

MORE = """\
---
apiVersion: v1
kind: Secret
metadata: {name: s, namespace: shop}
stringData: {token: x}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: shop}
rules: [{apiGroups: [''], resources: [nodes/proxy], verbs: ['*']}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: reader, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: reader}
subjects: [{kind: ServiceAccount, name: default, namespace: shop}]
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: shop}
spec:
  template:
    metadata: {labels: {app: migrate}}
    spec: {restartPolicy: Never, containers: [{name: m, image: 'registry.test/m:1'}]}
"""


@pytest.fixture
def world(control_plane: Access, kube_prefix: str) -> Iterator[World]:
    with real(control_plane, kube_prefix) as found:
        yield found


def as_account(access: Access, world: World, build: Build, role: RoleName, folder: Path) -> Cluster:
    """A client that has nothing but the printed roles, bound to a service account."""
    api = access.api()
    home = f"{world.name}-accounts"
    paths = [one["metadata"]["name"] for one in api.get("/api/v1/namespaces")["items"]]
    for namespace in (home, world.records):
        if namespace not in paths:
            api.create("/api/v1/namespaces", {"metadata": {"name": namespace}})
    token = access.service_account(home, role)
    subject = {"kind": "ServiceAccount", "name": role, "namespace": home}
    for body in roles(build, role, record_namespace=world.records, subject=subject):
        kind = world.deploys.kind("rbac.authorization.k8s.io/v1", body["kind"])
        world.cluster.apply(kind, body, manager="admin")
    file = access.write_kubeconfig(folder / f"{role}.kubeconfig", {"token": token})
    return open_cluster(context="test", kubeconfig=str(file), embedded=None, environment=dict(os.environ))


def removed(world: World, build: Build, role: RoleName) -> None:
    for body in roles(build, role, record_namespace=world.records, subject={}):
        kind = world.deploys.kind("rbac.authorization.k8s.io/v1", body["kind"])
        if not kind.namespaced:
            live = world.cluster.get(kind, body["metadata"]["name"])
            world.cluster.delete(kind, body["metadata"]["name"], uid=live["metadata"]["uid"])


def test_who_may_deploy_can_deploy_from_nothing_change_prune_and_report_failures(
    world: World, control_plane: Access, tmp_path: Path
) -> None:
    build = world.build(BLUE + MORE)
    deployer = Deploys(cluster=as_account(control_plane, world, build, "deploy", tmp_path))
    options: dict[str, Any] = {"record_namespace": world.records, "allow_plain_secrets": True, "timeout": 60}
    deployer.run(world.build(BLUE + MORE + config_map("old")), **options)
    assert "ConfigMap/old deleted" in "\n".join(deployer.run(build, prune=True, **options)).replace(
        f"@{world.name}", ""
    )
    assert find_drift(observe_record(deployer.cluster, world.name, record_namespace=world.records)).resources == ()
    with pytest.raises(ForbiddenError):
        deployer.cluster.listing(deployer.kind("v1", "Node"))
    removed(world, build, "deploy")


def test_who_may_plan_compares_reads_drift_and_writes_nothing(
    world: World, control_plane: Access, tmp_path: Path
) -> None:
    build = world.build(BLUE + MORE)
    world.deploy(build, allow_plain_secrets=True, timeout=60)
    planner = as_account(control_plane, world, build, "plan", tmp_path)
    green = world.build(BLUE.replace("blue", "green") + MORE)
    plan = live_plan(green, planner, record_namespace=world.records, allow_plain_secrets=True).plan
    changes = {change.ref.short: change for package in plan.packages for change in package.resources}
    changed = changes[f"ConfigMap/web@{world.name}"]
    assert [(one.path, one.new) for one in changed.changes if one.path.startswith("$.data")] == [  # type: ignore[union-attr]
        ("$.data.colour", "green")
    ]
    assert changed.simulated is False
    assert find_drift(observe_record(planner, world.name, record_namespace=world.records)).resources == ()
    with pytest.raises(ForbiddenError):
        Deploys(cluster=planner).run(green, record_namespace=world.records, allow_plain_secrets=True)
    assert world.live("v1", "ConfigMap", "web")["data"] == {"colour": "blue"}
    removed(world, build, "plan")


def test_who_may_observe_sees_the_record_and_the_status_but_no_secret(
    world: World, control_plane: Access, tmp_path: Path
) -> None:
    build = world.build(BLUE + MORE)
    world.deploy(build, allow_plain_secrets=True, timeout=60)
    observer = as_account(control_plane, world, build, "observe", tmp_path)
    found = status(observer, world.name, record_namespace=world.records)
    assert found.current is not None
    states = {one.ref.kind: one.state for one in found.objects}
    assert states.pop("Secret") == "missing"
    assert set(states.values()) == {"ready"}
    with pytest.raises(ForbiddenError):
        observer.listing(world.deploys.kind("v1", "Secret"), namespace=world.name)
    removed(world, build, "observe")


@pytest.mark.parametrize(
    ("kind", "plural"),
    [("Ingress", "ingresses"), ("NetworkPolicy", "networkpolicies"), ("Gateway", "gateways"), ("Service", "services"),
     ("Endpoints", "endpoints"), ("StorageClass", "storageclasses")],
)  # fmt: skip
def test_plurals_follow_the_rule_of_built_in_kinds(kind: str, plural: str) -> None:
    assert plural_of(kind) == plural
