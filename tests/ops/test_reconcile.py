"""`--reconcile`: what drifted comes back, what kix never held stays, and a hold stops everything."""

import pytest

from kixbot.errors import DeployFailedError, RefusedError
from kixbot.model.activation import Hold
from kixbot.ops.hold import release
from tests.ops.test_drift import CONFIG_MAP, DEPLOYMENT, ENV
from tests.ops.worlds import BLUE, World


def test_drifted_fields_come_back_and_the_receipt_says_which_were_taken(world: World) -> None:
    text = BLUE.replace("{colour: blue}", "{colour: blue, size: large}")
    world.deploy(text)
    world.patch(*CONFIG_MAP, {"data": {"colour": "red", "size": None, "extra": "1"}})
    world.patch(*DEPLOYMENT, {"spec": {"replicas": 5}}, by="kubectl", subresource="scale" if world.is_real else "")
    world.deploy(text)
    assert world.live(*CONFIG_MAP)["data"] == {"colour": "red", "extra": "1"}
    world.deploy(text, reconcile=True)
    assert world.live(*CONFIG_MAP)["data"] == {"colour": "blue", "size": "large", "extra": "1"}
    assert world.live(*DEPLOYMENT)["spec"]["replicas"] == 2
    assert world.drift().resources == ()
    assert world.deploys.finished.receipt.forced == (
        f"ConfigMap/web@{world.name} $.data.colour",
        f"Deployment/web@{world.name} $.spec.replicas",
    )
    assert world.deploys.finished.receipt.counts["changed"] == 2


def test_a_deleted_object_and_an_order_come_back(world: World) -> None:
    text = BLUE.replace("envFrom", ENV)
    world.deploy(text)
    world.delete(*CONFIG_MAP)
    containers = world.live(*DEPLOYMENT)["spec"]["template"]["spec"]["containers"]
    containers[0]["env"].reverse()
    world.patch(*DEPLOYMENT, {"spec": {"template": {"spec": {"containers": containers}}}})
    world.deploy(text, reconcile=True)
    assert world.live(*CONFIG_MAP)["data"] == {"colour": "blue"}
    env = world.live(*DEPLOYMENT)["spec"]["template"]["spec"]["containers"][0]["env"]
    assert [one["name"] for one in env] == ["A", "B"]
    assert world.drift().resources == ()


def test_ceded_fields_are_not_put_back(world: World) -> None:
    text = BLUE.replace(
        "metadata: {name: web, namespace: shop}\nspec:\n  replicas: 2",
        "metadata: {name: web, namespace: shop, annotations: {kix.run/cede: spec.replicas}}\nspec:\n  replicas: 2",
    )
    world.deploy(text)
    subresource = "scale" if world.is_real else ""
    world.patch(*DEPLOYMENT, {"spec": {"replicas": 5}}, by="kube-controller-manager", subresource=subresource)
    world.patch(*DEPLOYMENT, {"spec": {"template": {"metadata": {"labels": {"app": "web", "x": "y"}}}}})
    world.deploy(text, reconcile=True)
    assert world.live(*DEPLOYMENT)["spec"]["replicas"] == 5


def test_a_field_that_kix_never_held_stays_a_conflict(world: World) -> None:
    world.deploy()
    world.patch(*CONFIG_MAP, {"data": {"colour": "red", "size": "small"}})
    text = BLUE.replace("{colour: blue}", "{colour: blue, size: large}")
    with pytest.raises(DeployFailedError, match="fields belong to other managers: ConfigMap"):
        world.deploy(text, reconcile=True)
    assert world.live(*CONFIG_MAP)["data"] == {"colour": "red", "size": "small"}


def test_without_drift_reconciling_writes_and_asks_nothing_more(world: World) -> None:
    world.deploy()
    before = world.cluster.requests.copy()
    world.deploy()
    plain = world.cluster.requests - before
    before = world.cluster.requests.copy()
    world.deploy(reconcile=True)
    assert world.cluster.requests - before == plain
    assert plain["dry-run"] == 0


def test_a_hold_refuses_deploys_until_it_is_released(world: World) -> None:
    world.deploy(hold=Hold(who="ann", why="rolled back", since="2026-11-29T10:00:00Z"))
    green = BLUE.replace("blue", "green")
    with pytest.raises(RefusedError) as refused:
        world.deploy(green)
    assert refused.value.message == (f"cluster {world.name}: held by ann since 2026-11-29T10:00:00Z: rolled back")
    assert refused.value.hint == f"kix release {world.name}"
    assert world.live(*CONFIG_MAP)["data"] == {"colour": "blue"}
    assert release(world.cluster, world.name, record_namespace=world.records).who == "ann"
    with pytest.raises(RefusedError, match="nothing holds it"):
        release(world.cluster, world.name, record_namespace=world.records)
    world.deploy(green)
    assert world.live(*CONFIG_MAP)["data"] == {"colour": "green"}


def test_a_hold_ends_by_itself_when_its_time_is_over(world: World) -> None:
    world.deploy(hold=Hold(who="ann", why="night", until="2026-01-01T00:00:00Z"))
    world.deploy(BLUE.replace("blue", "green"), hold=Hold(who="ann", why="night", until="2999-01-01T00:00:00Z"))
    with pytest.raises(RefusedError, match="held by ann until 2999-01-01T00:00:00Z: night"):
        world.deploy()
    world.deploy(through_hold=True)
