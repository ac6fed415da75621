"""Snapshots: what stood in a cluster, compared with builds. On the embedded cluster and a real one."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from kixbot.errors import UsageError
from kixbot.ops.snapshot import Entry, Snapshot, decode, diff_snapshot, encode, is_snapshot, take
from kixbot.output.plan_text import text
from tests.ops.test_drift import CONFIG_MAP, DEPLOYMENT
from tests.ops.worlds import BLUE, World

SCHEMA = Path(__file__).parents[2] / "docs" / "schemas" / "snapshot.json"
SECRET = "---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: shop}\nstringData: {k: canary-7}\n"


def snapshot(world: World) -> Snapshot:
    """Taken, written and read again."""
    written = encode(take(world.cluster, world.name, record_namespace=world.records))
    assert is_snapshot(written)
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    assert list(Draft202012Validator(schema).iter_errors(json.loads(written))) == []
    return decode(written, file="s.json")


def test_the_build_that_was_deployed_does_not_differ_from_its_snapshot(world: World) -> None:
    more = BLUE.replace("envFrom", "resources: {limits: {memory: 1024Mi}}, envFrom") + SECRET
    world.deploy(more, allow_plain_secrets=True)
    world.patch(*DEPLOYMENT, {"metadata": {"annotations": {"x": "y"}}}, by="controller")
    taken = snapshot(world)
    assert "canary-7" not in encode(taken)
    plan = diff_snapshot(taken, world.build(more))
    assert plan.packages == ()
    assert plan.old_activation == plan.new_activation


def test_a_change_is_told_against_what_stood_there_drift_and_all(world: World) -> None:
    world.deploy()
    world.patch(*CONFIG_MAP, {"data": {"colour": "red"}})
    plan = diff_snapshot(snapshot(world), world.build(BLUE.replace("blue", "green")))
    assert text(plan).replace(world.name, "shop").splitlines()[:8] == [
        "2 packages: 1 unchanged, 1 changed, 0 added, 0 removed",
        "",
        "shop",
        "  ~ (manifests) (1 changed, 1 dep-affected)",
        "      ~ ConfigMap/web@shop",
        "          ~ $.data.colour:",
        '              old: "red"',
        '              new: "green"',
    ]


def test_what_is_new_and_what_is_gone(world: World) -> None:
    world.deploy()
    without = BLUE.rpartition("---\n")[0]
    plan = diff_snapshot(snapshot(world), world.build(without + SECRET))
    found = {(change.ref.kind, change.action) for package in plan.packages for change in package.resources}
    assert found == {("Secret", "added"), ("Service", "removed")}


def test_values_made_at_apply_are_no_change(world: World) -> None:
    built = world.build(SECRET)
    made = replace(built.resources[0], generated=("k",))
    taken = Snapshot(
        cluster=world.name,
        activation="before",
        entries=(Entry(ref=made.ref, manifest={k: v for k, v in made.manifest.items() if k != "data"}),),
    )
    assert diff_snapshot(taken, replace(built, resources=(made,))).packages == ()


@pytest.mark.parametrize(
    "damaged", ["{", '{"kind": "kix snapshot"}', '{"kind": "kix snapshot", "schema": 2}',
                '{"kind": "kix snapshot", "schema": 1, "cluster": "a", "activation": null, "resources": [1]}'],
)  # fmt: skip
def test_a_damaged_snapshot_is_one_clear_error(damaged: str) -> None:
    with pytest.raises(UsageError, match=r"s\.json: (a damaged snapshot|no snapshot that this kix reads)"):
        decode(damaged, file="s.json")
