"""A deploy that is killed between an apply and its bookkeeping leaves a content change behind, and no drift."""

from collections.abc import Mapping
from typing import Any

import pytest

from kixbot.cluster.faults import UnreachableError
from kixbot.cluster.interface import ApiKind, Cluster
from kixbot.errors import KixError
from kixbot.ops.deploy import DeployOptions, deploy
from kixbot.ops.plan import live_plan
from kixbot.ops.receipt import Provenance
from kixbot.retry import Clock
from tests.ops.test_drift import CONFIG_MAP
from tests.ops.worlds import BLUE, World


class Cut:
    """A cluster whose line is cut for good right after kix applied one kind of object."""

    def __init__(self, cluster: Cluster, after: str) -> None:
        self._cluster, self._after, self._dead = cluster, after, False

    def apply(self, kind: ApiKind, body: Mapping[str, Any], **options: Any) -> dict[str, Any]:
        self._alive()
        done = self._cluster.apply(kind, body, **options)
        if options["manager"] == "kix" and kind.kind == self._after and not options.get("dry_run"):
            self._dead = True
        return done

    def _alive(self) -> None:
        if self._dead:
            raise UnreachableError("cluster: the line is cut")

    def __getattr__(self, name: str) -> Any:
        self._alive()
        return getattr(self._cluster, name)


def cut_off(world: World, text: str, after: str) -> None:
    cluster: Any = Cut(world.cluster, after)
    options = DeployOptions(record_namespace=world.records, holder="cut")
    clock = Clock(sleep=lambda _: None)
    with pytest.raises(KixError):
        for _ in deploy(
            world.build(text), cluster, options=options, who=Provenance(), confirm=lambda _: True, clock=clock
        ):
            pass


def test_a_value_that_kix_itself_applied_and_could_not_record_is_a_change_and_no_drift(world: World) -> None:
    world.deploy()
    green = BLUE.replace("blue", "green")
    cut_off(world, green, "ConfigMap")
    assert world.live(*CONFIG_MAP)["data"] == {"colour": "green"}
    assert world.told(world.build()) == []
    plan = live_plan(world.build(), world.cluster, record_namespace=world.records).plan
    (changed,) = [change for package in plan.packages for change in package.resources if change.ref.kind == "ConfigMap"]
    assert [(change.path, getattr(change, "old", None)) for change in changed.changes] == [("$.data.colour", "green")]
