"""examples/shop, from its definition to a real API server: operator, database, web app, route, in their waves."""

import json
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from kixbot.model.build import Build
from kixbot.ops.build import BuildRequest, build
from kixbot.ops.events import Applied, WaveStarted
from kixbot.ops.status import status
from kixbot.output.deploy_text import waves_text
from tests.e2e.operator_webhook import OperatorWebhook
from tests.e2e.test_deploy_real import open_as
from tests.ops.deploys import Deploys
from tests.parts.access import Access
from tests.parts.control_plane import ControlPlane

ROOT = Path(__file__).parent.parent.parent


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """A copy of the example, so that a test may change it."""
    folder = tmp_path / "shop"
    shutil.copytree(ROOT / "examples" / "shop", folder)
    return folder


def built(tree: Path) -> Build:
    return build(BuildRequest(directory=tree, targets=("shop",))).build


@pytest.fixture
def access(private_control_plane: ControlPlane) -> Access:
    return private_control_plane.access


@pytest.fixture
def deploys(access: Access, tmp_path: Path) -> Iterator[Deploys]:
    webhook = OperatorWebhook(
        access.api(), tmp_path / "webhook", namespace="cnpg-system", service="cnpg-webhook-service"
    )
    cluster = open_as(access)
    with webhook:
        yield Deploys(cluster=cluster)
    cluster.close()


def test_the_shop_goes_up_in_its_waves_and_leaves_its_receipt(
    tree: Path, deploys: Deploys, access: Access, golden: Callable[[str, str], None]
) -> None:
    first = built(tree)
    deploys.run(first, timeout=120)
    golden("shop-waves.txt", waves_text(deploys.plan.waves) + "\n")
    in_waves = {
        event.wave: [
            f"{ref.kind}/{ref.name}"
            for ref in event.refs
            if ref.namespace == "shop" and ref.name in ("web", "db") and ref.kind != "PackageInstance"
        ]
        for event in deploys.events
        if isinstance(event, WaveStarted) and event.wave > 0
    }
    assert in_waves == {
        1: ["Secret/db", "ConfigMap/web"],
        2: ["Cluster/db"],
        3: ["Service/web", "Deployment/web"],
        4: ["HTTPRoute/web"],
    }
    shown = subprocess.run(
        [*access.kubectl, "get", "activations", "-A", "-o", "json"], check=True, capture_output=True, text=True
    )
    (record,) = json.loads(shown.stdout)["items"]
    assert record["status"]["phase"] == "Active"
    assert record["status"]["receipt"]["id"] == deploys.finished.receipt.id
    assert packages(deploys) == {"web": (4, 4), "db": (2, 2)}
    found = status(deploys.cluster, "shop")
    assert {one.ref.short: one.state for one in found.objects if one.state != "ready"} == {}


def packages(deploys: Deploys) -> dict[str, tuple[int, int]]:
    kind = deploys.kind("kix.run/v1alpha1", "PackageInstance")
    listed = deploys.cluster.listing(kind, namespace="shop").items
    return {one["metadata"]["name"]: (one["status"]["ready"], one["status"]["total"]) for one in listed}


def test_a_new_image_writes_the_workload_and_nothing_it_depends_on(tree: Path, deploys: Deploys) -> None:
    deploys.run(built(tree), timeout=120)
    web = tree / "web.nix"
    text = web.read_text(encoding="utf-8")
    assert "1.4.2" in text
    web.write_text(text.replace("1.4.2", "1.5.0"), encoding="utf-8")
    deploys.run(built(tree), timeout=120)
    applied = [event.ref.short for event in deploys.events if isinstance(event, Applied)]
    assert applied == ["Deployment/web@shop", "PackageInstance/web@shop"]
    image = containers(deploys)["web"]
    assert image.startswith("ghcr.io/acme/web:1.5.0")
    first, second = sorted(deploys.phases().values())
    assert (first, second) == ("Active", "Superseded")
    # The operator wrote its own caBundle into the webhooks meanwhile; it stays, and is no change.
    name = "cnpg-mutating-webhook-configuration"
    live = deploys.get("admissionregistration.k8s.io/v1", "MutatingWebhookConfiguration", name, "")
    assert all(one["clientConfig"]["caBundle"] for one in live["webhooks"])


def containers(deploys: Deploys) -> dict[str, Any]:
    live = deploys.get("apps/v1", "Deployment", "web")
    return {one["name"]: one["image"] for one in live["spec"]["template"]["spec"]["containers"]}
