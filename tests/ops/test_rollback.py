"""Going back: to which activation, and what is proved to stand again. On the embedded cluster and a real one."""

from dataclasses import replace

import pytest

from kixbot.cluster.records import Record
from kixbot.errors import RefusedError
from kixbot.model.activation import Activation, Phase
from kixbot.ops.rollback import commit_of, require_same_build, target_of, unproven
from tests.ops.deploys import config_map, shop
from tests.ops.test_drift import CONFIG_MAP, DEPLOYMENT
from tests.ops.worlds import BLUE, World


def activation(name: str, at: str | None, commit: str | None = "c" * 40) -> Activation:
    return Activation(
        name=name, cluster="shop", phase=Phase.SUPERSEDED, source_path=f"/nix/store/{name}", source_kind="manifests",
        commit=commit, repository=None, cluster_uid="u", activated_at=at,
    )  # fmt: skip


ONE, TWO, NOW = (activation(name, f"2026-11-2{at}T00:00:00Z") for at, name in enumerate(("one", "two", "now")))
RECORD = Record(lease=None, activations=(TWO, ONE, NOW, activation("failed", None)), current=NOW)  # type: ignore[arg-type]


def test_without_a_name_it_goes_to_what_was_current_before() -> None:
    assert target_of(RECORD, "shop", None) is TWO
    assert target_of(RECORD, "shop", "one") is ONE
    assert target_of(RECORD, "shop", "now") is NOW


@pytest.mark.parametrize(
    ("record", "name", "said"),
    [
        (replace(RECORD, current=None), None, "cluster shop: nothing was deployed yet"),
        (replace(RECORD, activations=(NOW,)), None, "cluster shop: there is no earlier activation to go back to"),
        (RECORD, "failed", "cluster shop: no activation failed was ever active"),
    ],
)
def test_what_was_never_active_is_no_target(record: Record, name: str | None, said: str) -> None:
    with pytest.raises(RefusedError) as refused:
        target_of(record, "shop", name)
    assert refused.value.message == said


@pytest.mark.parametrize("commit", [None, "main", "c" * 39, "C" * 40, "--upload-pack=x"])
def test_a_record_without_a_commit_cannot_be_built_anew(commit: str | None) -> None:
    with pytest.raises(RefusedError):
        commit_of(activation("one", None, commit))
    assert commit_of(ONE) == "c" * 40


def test_a_build_that_is_not_the_recorded_one_is_refused() -> None:
    build = shop()
    assert build.activation is not None
    require_same_build(build, replace(ONE, source_path=build.activation.path))
    with pytest.raises(RefusedError, match=r"its commit builds shop-.* today, not what was deployed"):
        require_same_build(build, replace(ONE, source_path=build.activation.path.replace("shop", "other")))


def test_an_earlier_build_is_current_again_and_nothing_is_left_unproven(world: World) -> None:
    world.deploy()
    world.deploy(BLUE.replace("blue", "green") + config_map("new"))
    world.deploy(through_hold=True, prune=True)
    assert world.live(*CONFIG_MAP)["data"] == {"colour": "blue"}
    assert unproven(world.build(), world.cluster, record_namespace=world.records) == ()
    phases = {one.name: one.phase for one in world.observe().record.activations}
    build = world.build()
    assert build.activation is not None
    assert phases.pop(build.activation.name) is Phase.ACTIVE
    assert set(phases.values()) == {Phase.SUPERSEDED}
    names = world.deploys.names("v1", "ConfigMap", world.name)
    assert "new" not in names


def test_each_field_that_did_not_return_is_named(world: World) -> None:
    world.deploy()
    world.patch(*DEPLOYMENT, {"spec": {"replicas": 5}}, by="kubectl", subresource="scale" if world.is_real else "")
    world.delete("v1", "Service", "web")
    left = unproven(world.build(), world.cluster, record_namespace=world.records)
    told = {(one.ref.kind, one.note, tuple(change.path for change in one.changes)) for one in left}
    assert told == {("Deployment", None, ("$.spec.replicas",)), ("Service", "not there", ())}


def test_the_proof_writes_nothing_and_asks_once_an_object(world: World) -> None:
    world.deploy()
    before = world.cluster.requests.copy()
    assert unproven(world.build(), world.cluster, record_namespace=world.records) == ()
    cost = world.cluster.requests - before
    assert cost["dry-run"] == len(world.build().resources)
    assert not {"apply", "patch", "create", "delete"} & set(cost)
