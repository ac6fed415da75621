"""A namespace moves from another tool to kix and back, on a real API server, and no pod is restarted by it."""

from collections.abc import Iterator
from typing import Any

import pytest

from kixbot.ops import destroy
from kixbot.ops.takeover import Adoption
from tests.ops.worlds import World, real
from tests.parts.access import Access


@pytest.fixture
def world(control_plane: Access, kube_prefix: str) -> Iterator[World]:
    with real(control_plane, kube_prefix) as found:
        yield found


def pods(world: World) -> set[str]:
    """The uids of the pods that run."""
    kind = world.deploys.kind("v1", "Pod")
    return {one["metadata"]["uid"] for one in world.cluster.listing(kind, namespace=world.name).items}


def apply_all(world: World, manager: str, mark: dict[str, Any]) -> None:
    """What the tool's controller does: a forced server-side apply of everything, with its mark."""
    for resource in sorted(world.build().resources, key=lambda one: one.ref.kind != "Namespace"):
        kind = world.deploys.kind(resource.api_version, resource.ref.kind)
        body = {**resource.manifest, "metadata": {**resource.manifest["metadata"], **mark}}
        world.cluster.apply(kind, body, manager=manager, force=True)


@pytest.mark.parametrize(
    ("manager", "mark"),
    [
        ("argocd-controller", {"annotations": {"argocd.argoproj.io/tracking-id": "gone-app:x"}}),
        ("kustomize-controller", {"labels": {"kustomize.toolkit.fluxcd.io/name": "gone"}}),
    ],
)
def test_a_namespace_moves_to_kix_and_back_without_a_restart(world: World, manager: str, mark: dict[str, Any]) -> None:
    apply_all(world, manager, mark)
    world.deploy(timeout=60, adopt=(Adoption(manager=manager),))
    running = pods(world)
    assert running
    live = world.live("apps/v1", "Deployment", "web")
    assert manager not in {entry["manager"] for entry in live["metadata"]["managedFields"]}
    assert not set(mark.get("annotations", {})) & set(live["metadata"]["annotations"])
    assert not set(mark.get("labels", {})) & set(live["metadata"]["labels"])
    done = list(destroy.destroy(world.cluster, world.name, record_namespace=world.records, keep_objects=True))
    assert all(one.kept for one in done if one.ref is not None)
    apply_all(world, manager, mark)
    after = world.live("apps/v1", "Deployment", "web")
    assert after["spec"] == live["spec"]
    assert "kix.run/activations" not in after["metadata"]["annotations"]
    assert f"cluster.kix.run/{world.name}" not in (after["metadata"].get("labels") or {})
    assert pods(world) == running
