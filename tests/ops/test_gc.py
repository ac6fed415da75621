"""Retiring records and destroying clusters: what goes, what stays and why. On the embedded cluster and a real one."""

from dataclasses import replace

import pytest

from kixbot.cluster.memory import MemoryCluster
from kixbot.cluster.record_rows import read_rows
from kixbot.cluster.records import Record, Records
from kixbot.errors import RefusedError
from kixbot.model.activation import Activation, Phase
from kixbot.model.build import Build
from kixbot.ops import destroy, gc
from kixbot.ops.status import status
from tests.builds import CLOSED, build_of
from tests.ops.deploys import SHOP, Deploys, config_map
from tests.ops.worlds import BLUE, World, embedded


def activation(name: str, at: str | None, phase: Phase = Phase.SUPERSEDED) -> Activation:
    return Activation(
        name=name, cluster="shop", phase=phase, source_path="", source_kind="manifests", commit=None, repository=None,
        cluster_uid="u", activated_at=at, created_at="2026-01-01T00:00:00Z",
    )  # fmt: skip


def test_the_youngest_by_activation_stay_with_the_current_and_unfinished_ones() -> None:
    old = [activation(f"a{number:02}", f"2026-11-{number:02}T00:00:00Z") for number in range(1, 15)]
    current, failed = activation("now", "2026-10-01T00:00:00Z"), activation("failed", None, Phase.FAILED)
    record = Record(
        lease=None,  # type: ignore[arg-type]
        activations=(*old, current, failed, activation("never", None)),
        current=current,
        open=(failed,),
    )
    gone, stay = gc.split(record, keep=10)
    assert [one.name for one in gone] == ["never", "a01", "a02", "a03", "a04", "a05", "a06"]
    assert {one.name for one in stay} == {"now", "failed", *(f"a{number:02}" for number in range(7, 15))}


def versions(world: World, count: int) -> list[Build]:
    """A build that differs each time, the first of them with one ConfigMap more."""
    return [
        world.build(SHOP.replace("COLOUR", f"c{number}") + (config_map("old") if number == 0 else ""))
        for number in range(count)
    ]


def deployed(world: World, builds: list[Build]) -> None:
    """Deploys them in turn, an hour apart as their records say."""
    for hour, build in enumerate(builds):
        world.deploy(build)
        assert build.activation is not None
        kind = world.deploys.kind("kix.run/v1alpha1", "Activation")
        patch = {"status": {"activatedAt": f"2026-01-01T{hour:02}:00:00Z"}}
        world.cluster.merge_patch(
            kind, build.activation.name, patch, namespace=world.records, manager="test", subresource="status"
        )


def test_what_only_a_retired_record_lists_is_deleted_and_what_another_lists_is_not(world: World) -> None:
    builds = versions(world, 11)
    deployed(world, builds)
    found = gc.plan(world.cluster, world.name, record_namespace=world.records)
    assert [one.name for one in found.retired] == [
        build.activation.name for build in builds[:-10] if build.activation is not None
    ]
    # The current record still lists what left the build and was never pruned, so it stays.
    assert found.leftovers == ()
    done = list(gc.collect(world.cluster, world.name, found, record_namespace=world.records))
    assert len(done) == len(builds) - 10
    names = {one.name for one in world.observe().record.activations}
    assert len(names) == 10
    assert "old" in world.deploys.names("v1", "ConfigMap", world.name)
    world.deploy(builds[-1], prune=True)
    assert "old" not in world.deploys.names("v1", "ConfigMap", world.name)
    assert gc.plan(world.cluster, world.name, record_namespace=world.records).retired == ()


def test_a_retired_records_own_objects_go_by_the_rules_of_pruning() -> None:
    world = embedded()
    builds = versions(world, 11)
    deployed(world, builds)
    # The current record lost the row: nobody but the oldest record lists the object any more.
    for one in world.observe().record.activations:
        records = Records(world.cluster, cluster="shop", namespace=world.records)
        rows = [row for row in read_rows(world.cluster, one.name, namespace=world.records) if row.ref.name != "old"]
        first = builds[0].activation
        if first is None or one.name != first.name:
            records.write_rows(replace(one, rows=tuple(rows)))
    found = gc.plan(world.cluster, "shop", record_namespace=world.records)
    assert [(one.ref.short, one.kept) for one in found.leftovers] == [("ConfigMap/old@shop", None)]
    done = [(one.ref.short if one.ref else "record", one.kept) for one in
            gc.collect(world.cluster, "shop", found, record_namespace=world.records)]  # fmt: skip
    assert done == [("ConfigMap/old@shop", None), ("record", None)]


def test_a_destroyed_cluster_leaves_its_namespaces_and_no_record(world: World) -> None:
    world.deploy(BLUE + config_map("old"))
    world.deploy()
    done = list(destroy.destroy(world.cluster, world.name, record_namespace=world.records))
    told = [(one.ref.short if one.ref else "record", one.kept) for one in done]
    assert (
        f"Namespace/{world.name}",
        "a Namespace is never deleted with what is in it; no longer tracked",
    ) in told
    assert [kept for name, kept in told if not name.startswith("Namespace")] == [None] * (len(told) - 1)
    assert told.count(("record", None)) == 2
    assert [name for name in world.deploys.names("v1", "ConfigMap", world.name) if not name.endswith(".crt")] == []
    assert world.deploys.names("v1", "Service", world.name) == []
    namespace = world.cluster.get(world.deploys.kind("v1", "Namespace"), world.name)
    assert not any("kix.run" in name for name in namespace["metadata"].get("labels") or {})
    assert not any("kix.run" in name for name in namespace["metadata"].get("annotations") or {})
    assert status(world.cluster, world.name, record_namespace=world.records).current is None
    with pytest.raises(RefusedError, match="nothing was deployed, or it was destroyed already"):
        destroy.plan(world.cluster, world.name, record_namespace=world.records)


def test_a_failed_first_deploy_can_be_destroyed() -> None:
    world = embedded()
    with pytest.raises(RefusedError):
        world.deploy(confirm=lambda _: False)
    cluster = MemoryCluster(status_of=lambda body: {} if body["kind"] == "Deployment" else None)
    world = World(deploys=Deploys(cluster=cluster), name="shop", records="kix-system")
    with pytest.raises(Exception, match="did not become ready"):
        world.deploy(timeout=0)
    done = list(destroy.destroy(cluster, "shop"))
    assert sum(one.ref is not None and one.kept is None for one in done) == 3


def test_what_two_clusters_share_stays_when_one_of_them_is_destroyed(world: World) -> None:
    first = build_of(BLUE.replace("shop", world.name), facts=replace(CLOSED, name=f"{world.name}a"))
    second = build_of(BLUE.replace("shop", world.name), facts=replace(CLOSED, name=f"{world.name}b"))
    world.deploys.run(first, record_namespace=world.records)
    world.deploys.run(second, record_namespace=world.records)
    done = list(destroy.destroy(world.cluster, f"{world.name}a", record_namespace=world.records))
    kept = {one.ref.kind: one.kept for one in done if one.ref is not None}
    assert kept["ConfigMap"] == f"cluster {world.name}b holds it too; left to cluster {world.name}b"
    live = world.live("v1", "ConfigMap", "web")
    assert live["data"] == {"colour": "blue"}
    assert live["metadata"]["labels"] == {f"cluster.kix.run/{world.name}b": "true"}
    assert [key for key in live["metadata"]["annotations"] if not key.startswith(f"{world.name}b.")] == []
    changed = build_of(
        BLUE.replace("shop", world.name).replace("blue", "green"), facts=replace(CLOSED, name=f"{world.name}b")
    )
    world.deploys.run(changed, record_namespace=world.records)
    assert world.live("v1", "ConfigMap", "web")["data"] == {"colour": "green"}
