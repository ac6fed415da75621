"""A deploy as events: what is written, in which order, and what is left in the cluster."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kixbot.cluster.locks import CURRENT, Lock
from kixbot.cluster.memory import MemoryCluster
from kixbot.cluster.records import Records
from kixbot.errors import DeployFailedError, RefusedError
from kixbot.model.activation import Phase
from kixbot.model.build import Build
from kixbot.model.plan import Plan
from kixbot.ops.deploy import DeployOptions, deploy
from kixbot.ops.events import Applied, Conflicted, Failed, WaveStarted
from kixbot.ops.receipt import Provenance
from tests.builds import CLOSED, build_of
from tests.ops.deploys import SHOP, Deploys, config_map, shop

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def deploys() -> Deploys:
    return Deploys()


def records(deploys: Deploys) -> Records:
    return Records(deploys.cluster, cluster="shop", namespace="kix-system")


def name_of(build: Any) -> str:
    assert build.activation is not None
    return str(build.activation.name)


def test_a_first_deploy_installs_records_and_applies_wave_by_wave(deploys: Deploys) -> None:
    build = shop()
    assert deploys.run(build) == [
        "installed CustomResourceDefinition/activations.kix.run",
        "installed CustomResourceDefinition/packageinstances.kix.run",
        f"{name_of(build)} Applying",
        "wave 0",
        "  Namespace/shop created",
        "  Namespace/shop ready",
        "wave 1",
        "  ConfigMap/web created",
        "  ConfigMap/web ready",
        "wave 2",
        "  Service/web created",
        "  Deployment/web created",
        "  Service/web ready",
        "  Deployment/web ready",
        f"{name_of(build)} Active",
    ]
    assert deploys.phases() == {name_of(build): "Active"}


def test_the_current_record_stands_in_the_lease(deploys: Deploys) -> None:
    build = shop()
    deploys.run(build)
    lease = deploys.get("coordination.k8s.io/v1", "Lease", "shop", "kix-system")
    assert lease["metadata"]["annotations"] == {CURRENT: name_of(build)}
    assert "holderIdentity" not in lease["spec"]


def test_an_unchanged_build_writes_no_object(deploys: Deploys) -> None:
    deploys.run(shop())
    before = deploys.get("apps/v1", "Deployment", "web")["metadata"]["resourceVersion"]
    assert deploys.run(shop()) == [f"{name_of(shop())} Applying", f"{name_of(shop())} Active"]
    assert deploys.get("apps/v1", "Deployment", "web")["metadata"]["resourceVersion"] == before


def test_a_change_writes_only_what_changed_and_supersedes_the_old_record(deploys: Deploys) -> None:
    deploys.run(shop())
    deploys.run(shop("green"))
    assert [(one.ref.short, one.action) for one in deploys.events if isinstance(one, Applied)] == [
        ("ConfigMap/web@shop", "changed")
    ]
    assert deploys.phases() == {name_of(shop()): "Superseded", name_of(shop("green")): "Active"}


def test_a_dependency_that_moved_is_recorded_and_not_written(deploys: Deploys) -> None:
    deploys.run(shop())
    before = deploys.get("apps/v1", "Deployment", "web")
    deploys.run(shop("green"))
    assert deploys.get("apps/v1", "Deployment", "web") == before
    moved = [
        change.ref.short
        for package in deploys.plan.packages
        for change in package.resources
        if change.reason == "dependency"
    ]
    assert moved == ["Deployment/web@shop"]
    row = {row.ref.short: row for row in (records(deploys).read().current or pytest.fail("no record")).rows}
    assert row["Deployment/web@shop"].identity == shop("green").identities[row["Deployment/web@shop"].ref].hash


def test_objects_carry_their_bookkeeping_under_a_manager_of_its_own(deploys: Deploys) -> None:
    build = shop()
    deploys.run(build)
    live = deploys.get("v1", "ConfigMap", "web")
    assert live["metadata"]["labels"] == {"cluster.kix.run/shop": "true"}
    annotations = live["metadata"]["annotations"]
    assert sorted(annotations) == ["kix.run/activations", "kix.run/applied-hash", "kix.run/identity-hash"]
    assert annotations["kix.run/activations"] == f"shop={name_of(build)}"
    managers = [(one["manager"], one["operation"]) for one in live["metadata"]["managedFields"]]
    assert managers == [("kix", "Apply"), ("kix-record.shop", "Apply")]


def test_what_left_the_build_stays_until_a_deploy_prunes(deploys: Deploys) -> None:
    deploys.run(shop(more=config_map("old")))
    lines = deploys.run(shop())
    assert "  ConfigMap/old@shop kept: deleted only with --prune" in lines
    assert "old" in deploys.names("v1", "ConfigMap", "shop")
    assert "  ConfigMap/old@shop deleted" in deploys.run(shop(), prune=True)
    assert deploys.names("v1", "ConfigMap", "shop") == ["web"]
    deploys.run(shop(), prune=True)
    assert deploys.plan.prune == ()


def test_pruning_never_deletes_namespaces(deploys: Deploys) -> None:
    more = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: extra}\n"
    deploys.run(shop(more=more))
    lines = deploys.run(shop(), prune=True)
    assert "  Namespace/extra kept: a Namespace is never deleted with what is in it" in lines
    assert "extra" in deploys.names("v1", "Namespace")


def test_pruning_leaves_what_kix_does_not_apply(deploys: Deploys) -> None:
    deploys.run(shop(more=config_map("old")))
    kind = deploys.kind("v1", "ConfigMap")
    live = deploys.get("v1", "ConfigMap", "old")
    deploys.cluster.delete(kind, "old", namespace="shop", uid=live["metadata"]["uid"])
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "old", "namespace": "shop"}}
    deploys.cluster.create(kind, body, manager="somebody")
    assert "  ConfigMap/old@shop kept: kix applies no field of it" in deploys.run(shop(), prune=True)


def test_without_an_answer_nothing_is_written(deploys: Deploys) -> None:
    with pytest.raises(RefusedError, match="cluster shop: not confirmed"):
        deploys.run(shop(), confirm=lambda _: False)
    assert "kix-system" not in deploys.names("v1", "Namespace")
    assert not any(deploys.cluster.requests[verb] for verb in ("apply", "create", "patch", "delete"))


def test_another_current_activation_refuses_before_any_write(deploys: Deploys) -> None:
    deploys.run(shop())
    writes = deploys.cluster.requests["apply"]
    with pytest.raises(RefusedError, match=f"its current activation is {name_of(shop())}, not shop-x"):
        deploys.run(shop("green"), current_activation="shop-x")
    assert deploys.cluster.requests["apply"] == writes
    deploys.run(shop("green"), current_activation=name_of(shop()))


def test_a_record_of_another_cluster_refuses_until_taken_over(deploys: Deploys) -> None:
    deploys.run(shop())
    kind = deploys.kind("kix.run/v1alpha1", "Activation")
    patch = {"spec": {"clusterUID": "another"}}
    deploys.cluster.merge_patch(kind, name_of(shop()), patch, namespace="kix-system", manager="thief")
    with pytest.raises(RefusedError, match="the record was made in another cluster"):
        deploys.run(shop("green"))
    assert "data" in deploys.get("v1", "ConfigMap", "web")
    assert deploys.get("v1", "ConfigMap", "web")["data"] == {"colour": "blue"}
    deploys.run(shop("green"), take_over=True)


def test_a_conflict_stops_before_the_first_write_with_field_manager_and_values(deploys: Deploys) -> None:
    deploys.run(shop())
    kind = deploys.kind("apps/v1", "Deployment")
    deploys.cluster.merge_patch(kind, "web", {"spec": {"replicas": 5}}, namespace="shop", manager="kubectl-edit")
    changed = build_of(_text().replace("registry.test/web:1", "registry.test/web:2"), facts=CLOSED)
    writes = deploys.cluster.requests["apply"]
    with pytest.raises(DeployFailedError, match="fields belong to other managers: Deployment shop/web"):
        deploys.run(changed)
    assert deploys.cluster.requests["apply"] == writes
    (stopped,) = [one for one in deploys.events if isinstance(one, Conflicted)]
    assert [(one.path, one.manager, one.live, one.desired) for one in stopped.conflicts] == [
        ("$.spec.replicas", "kubectl-edit", 5, 2)
    ]
    assert deploys.lines()[-2:] == [
        "✗ Deployment/web: fields belong to other managers",
        "    $.spec.replicas: live 5 (kubectl-edit), wanted 2",
    ]


def test_a_forced_deploy_takes_the_field_and_says_so_in_the_receipt(deploys: Deploys) -> None:
    deploys.run(shop())
    kind = deploys.kind("apps/v1", "Deployment")
    deploys.cluster.merge_patch(kind, "web", {"spec": {"replicas": 5}}, namespace="shop", manager="kubectl-edit")
    changed = build_of(_text().replace("registry.test/web:1", "registry.test/web:2"), facts=CLOSED)
    deploys.run(changed, force_conflicts=True)
    assert deploys.get("apps/v1", "Deployment", "web")["spec"]["replicas"] == 2
    assert deploys.finished.receipt.forced == ("Deployment/web@shop $.spec.replicas",)


def _text() -> str:
    return SHOP.replace("COLOUR", "blue")


def test_a_ceded_field_is_sent_at_first_and_left_to_whoever_takes_it(deploys: Deploys) -> None:
    text = _text().replace("{name: web, namespace: shop}\nspec:\n  replicas", "{name: web, namespace: shop, "
                           "annotations: {kix.run/cede: spec.replicas}}\nspec:\n  replicas")  # fmt: skip
    deploys.run(build_of(text, facts=CLOSED))
    assert deploys.get("apps/v1", "Deployment", "web")["spec"]["replicas"] == 2
    kind = deploys.kind("apps/v1", "Deployment")
    deploys.cluster.merge_patch(kind, "web", {"spec": {"replicas": 7}}, namespace="shop", manager="autoscaler")
    deploys.run(build_of(text.replace("web:1", "web:2"), facts=CLOSED))
    live = deploys.get("apps/v1", "Deployment", "web")
    assert live["spec"]["replicas"] == 7
    assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.test/web:2"
    (row,) = [row for row in _rows(deploys) if row.ref.kind == "Deployment"]
    assert row.left_out == (".spec.replicas",)
    (ceded,) = deploys.plan.conflicts
    assert (ceded.verdict, ceded.manager, ceded.live, ceded.desired) == ("ceded", "autoscaler", 7, 2)


def _rows(deploys: Deploys) -> tuple[Any, ...]:
    current = records(deploys).read().current
    assert current is not None
    return current.rows


def test_a_workload_that_fails_stops_the_waves_and_names_what_was_not_started() -> None:
    def stuck(body: Any) -> Any:
        return {"observedGeneration": 99, "conditions": [FAILED]} if body["kind"] == "Deployment" else None

    deploys = Deploys(cluster=MemoryCluster(status_of=stuck))
    text = _text() + (
        "---\napiVersion: networking.k8s.io/v1\nkind: Ingress\nmetadata: {name: web, namespace: shop}\n"
        "spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}\n"
    )
    with pytest.raises(DeployFailedError, match="wave 2 did not become ready: Deployment shop/web"):
        deploys.run(build_of(text, facts=CLOSED))
    (failed,) = [one for one in deploys.events if isinstance(one, Failed)]
    assert (failed.ref.short, failed.wave) == ("Deployment/web@shop", 2)
    assert failed.reason == "ProgressDeadlineExceeded: no progress"
    assert "Ingress" not in [ref.kind for one in deploys.events if isinstance(one, WaveStarted) for ref in one.refs]
    assert deploys.phases() == {next(iter(deploys.phases())): "Failed"}


FAILED = {"type": "Progressing", "status": "False", "reason": "ProgressDeadlineExceeded", "message": "no progress"}


def test_a_wave_that_is_not_ready_in_time_fails_with_what_it_waits_for() -> None:
    def never(body: Any) -> Any:
        return {"observedGeneration": 1} if body["kind"] == "Deployment" else None

    deploys = Deploys(cluster=MemoryCluster(status_of=never))
    with pytest.raises(DeployFailedError):
        deploys.run(shop(), timeout=0.3)
    assert "✗ Deployment/web: 0 of 2 replicas updated (after 0 s)" in deploys.lines()


def test_a_failed_deploy_keeps_the_old_record_current_and_its_own_rows(deploys: Deploys) -> None:
    deploys.run(shop())

    def never(body: Any) -> Any:
        return {"observedGeneration": 1} if body["kind"] == "Deployment" else None

    cluster = deploys.cluster
    assert isinstance(cluster, MemoryCluster)
    cluster._status_of = never
    broken = build_of(_text().replace("web:1", "web:2") + config_map("new"), facts=CLOSED)
    with pytest.raises(DeployFailedError):
        deploys.run(broken, timeout=0.2)
    cluster._status_of = None
    record = records(deploys).read()
    assert (record.current and record.current.name) == name_of(shop())
    assert [(one.name, one.phase) for one in record.open] == [(name_of(broken), Phase.FAILED)]
    deploys.run(shop(), prune=True)
    assert "new" not in deploys.names("v1", "ConfigMap", "shop")
    image = deploys.get("apps/v1", "Deployment", "web")["spec"]["template"]["spec"]["containers"][0]["image"]
    assert image == "registry.test/web:1"
    assert deploys.phases() == {name_of(shop()): "Active", name_of(broken): "Superseded"}


KILLED = """
import os, sys
from pathlib import Path
from kixbot.cluster.memory import MemoryCluster
from kixbot.ops.deploy import DeployOptions, deploy
from kixbot.ops.events import Applied
from kixbot.ops.receipt import Provenance
from tests.ops.deploys import shop

cluster = MemoryCluster(Path(sys.argv[1]))
for event in deploy(shop(), cluster, options=DeployOptions(), who=Provenance(), confirm=lambda _: True):
    if isinstance(event, Applied) and event.ref.kind == "ConfigMap":
        os._exit(9)
"""


def test_a_killed_deploy_leaves_its_record_and_the_next_one_goes_on(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], cwd=ROOT, check=False)
    assert done.returncode == 9
    deploys = Deploys(cluster=MemoryCluster(tmp_path))
    (left,) = records(deploys).read().open
    assert left.phase is Phase.APPLYING
    assert {row.ref.kind for row in left.rows} == {"Namespace", "ConfigMap", "Deployment", "Service"}
    with pytest.raises(RefusedError, match='cluster shop: locked by "kix"'):
        deploys.run(shop())
    expire(deploys)
    assert deploys.run(shop()) == [
        f"{name_of(shop())} Applying",
        "wave 0",
        "  Namespace/shop refreshed",
        "  Namespace/shop ready",
        "wave 1",
        "  ConfigMap/web refreshed",
        "  ConfigMap/web ready",
        "wave 2",
        "  Service/web created",
        "  Deployment/web created",
        "  Service/web ready",
        "  Deployment/web ready",
        f"{name_of(shop())} Active",
    ]


def expire(deploys: Deploys) -> None:
    """As if the holder had not renewed its Lease for a minute."""
    patch = {"spec": {"renewTime": "2020-01-01T00:00:00.000000Z"}}
    kind = deploys.kind("coordination.k8s.io/v1", "Lease")
    deploys.cluster.merge_patch(kind, "shop", patch, namespace="kix-system", manager="test")


def test_an_interrupted_deploy_marks_its_record_and_lets_go_of_the_lock(deploys: Deploys) -> None:
    build = shop()
    stream = deploy(
        build, deploys.cluster, options=DeployOptions(holder="first"), who=Provenance(), confirm=lambda _: True
    )
    while not isinstance(next(stream), Applied):
        pass
    with pytest.raises(KeyboardInterrupt):
        stream.throw(KeyboardInterrupt)  # type: ignore[attr-defined]  # it is a generator
    (left,) = records(deploys).read().open
    assert (left.phase, left.message) == (Phase.FAILED, "interrupted")
    Lock(deploys.cluster, name="shop", namespace="kix-system", holder="second").acquire()


def test_a_held_lock_refuses_and_names_its_holder(deploys: Deploys) -> None:
    deploys.run(shop())
    lock = Lock(deploys.cluster, name="shop", namespace="kix-system", holder="ci-run-17")
    with lock, pytest.raises(RefusedError, match='cluster shop: locked by "ci-run-17"'):
        deploys.run(shop("green"))
    assert deploys.get("v1", "ConfigMap", "web")["data"] == {"colour": "blue"}


def test_existing_objects_are_adopted_and_shown_as_such(deploys: Deploys) -> None:
    for body in (
        {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}},
        {
            "apiVersion": "v1",
            "kind": "ConfigMap",
            "metadata": {"name": "web", "namespace": "shop"},
            "data": {"mine": "1"},
        },
    ):
        deploys.cluster.create(deploys.kind("v1", body["kind"]), body, manager="helm")  # type: ignore[arg-type]
    lines = deploys.run(shop())
    assert "  Namespace/shop adopted" in lines
    assert "  ConfigMap/web adopted" in lines
    assert deploys.get("v1", "ConfigMap", "web")["data"] == {"colour": "blue", "mine": "1"}
    (change,) = [
        change for package in deploys.plan.packages for change in package.resources if change.ref.kind == "ConfigMap"
    ]
    assert (change.action, change.note) == ("adopted", "managed by helm")


def test_an_object_two_clusters_share_is_changed_only_by_the_one_that_held_it_first(deploys: Deploys) -> None:
    second = Deploys(cluster=deploys.cluster)

    def blog(colour: str = "blue") -> Build:
        return build_of(SHOP.replace("COLOUR", colour), facts=replace(CLOSED, name="blog"))

    deploys.run(shop())
    second.run(blog())
    live = deploys.get("v1", "ConfigMap", "web")["metadata"]
    assert live["labels"] == {"cluster.kix.run/blog": "true", "cluster.kix.run/shop": "true"}
    assert live["annotations"]["kix.run/activations"] == f"shop={name_of(shop())}"
    assert live["annotations"]["blog.kix.run/activations"] == f"blog={name_of(blog())}"
    with pytest.raises(RefusedError, match="ConfigMap shop/web: led by cluster shop, which alone may change it"):
        second.run(blog("green"))
    deploys.run(shop("green"))
    assert deploys.get("v1", "ConfigMap", "web")["data"] == {"colour": "green"}
    second.run(blog("green"))
    assert [event for event in second.events if isinstance(event, Applied) and event.action != "refreshed"] == []


def test_the_receipt_tells_who_what_and_with_which_images(deploys: Deploys) -> None:
    deploys.run(shop(), who=Provenance(actor="ann", run_url="https://ci.test/17"))
    receipt = deploys.finished.receipt
    assert receipt.id.startswith(f"{name_of(shop())}.")
    assert (receipt.actor, receipt.run_url, receipt.counts) == ("ann", "https://ci.test/17", {"created": 4})
    assert [image.reference for image in receipt.images] == ["registry.test/web:1"]
    stored = records(deploys).read().current
    assert stored is not None
    assert stored.receipt == receipt


def test_a_deploy_that_waited_for_another_plans_again_and_asks_again(deploys: Deploys) -> None:
    asked: list[str] = []
    other = Deploys(cluster=deploys.cluster)

    def confirm(plan: Plan) -> bool:
        asked.append(f"{plan.old_activation} -> {plan.new_activation}")
        if len(asked) == 1:
            other.run(shop("green"))
        return True

    deploys.run(shop("red"), confirm=confirm)
    green, red = name_of(shop("green")), name_of(shop("red"))
    assert asked == [f"None -> {red}", f"{green} -> {red}"]
    assert deploys.phases() == {green: "Superseded", red: "Active"}
    assert deploys.get("v1", "ConfigMap", "web")["data"] == {"colour": "red"}
