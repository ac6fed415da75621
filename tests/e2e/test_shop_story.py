"""examples/shop on a GitHub and a control plane: pull request, review, merge, deploy in waves, pins, receipts."""

import base64
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.story import BOT, RUN_ID, left_by
from tests.e2e.story_shop import VALKEY, WEB, ShopStory, shop_story
from tests.parts.act import TOKEN as ACT_TOKEN
from tests.parts.registry import Registry

Golden = Callable[[str, str], None]


@pytest.fixture
def story(tmp_path: Path, image_registry: Registry) -> Iterator[ShopStory]:
    with shop_story(tmp_path, image_registry) as told:
        yield told


@pytest.mark.timeout(600)
def test_the_shop_goes_through_everything(story: ShopStory, golden: Golden, subtests: pytest.Subtests) -> None:
    """One test, since its chapters build on each other; each is judged on its own."""
    for judge in (
        the_first_push_deploys_everything_in_waves,
        the_review_is_a_comment_a_summary_three_statuses_and_outputs,
        the_merge_is_deployed_as_it_was_reviewed,
        the_cluster_holds_a_receipt_of_each_deploy,
        generated_passwords_stand_in_nothing_a_run_left,
        the_example_workflow_deploys_a_merge_with_the_action,
        a_moved_pin_is_committed_and_deployed_by_the_run_of_a_push,
        on_a_protected_branch_a_moved_pin_becomes_a_pull_request,
    ):
        with subtests.test(judge.__name__.replace("_", " ")):
            judge(story, golden)


def kubectl(story: ShopStory, *words: str) -> Any:
    """What kubectl prints as YAML."""
    assert story.plane
    command = [*story.plane.access.kubectl, *words, "-o", "yaml"]
    return yaml.safe_load(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def activation_of(log: str) -> str:
    """The activation that a deploy made the current one, by its log."""
    return next(line.split()[0] for line in log.splitlines() if line.endswith(" Active"))


def the_review_is_a_comment_a_summary_three_statuses_and_outputs(story: ShopStory, golden: Golden) -> None:
    run = story.reviewed.passed()
    world, head = story.world, story.head
    (comment,) = world.comments(story.proposed)[:1]
    golden("shop-review.md", world.scrub(comment, head=head, base=story.described))
    assert run.summary.rstrip("\n") == comment.partition("\n")[2].rstrip("\n")
    figures = re.search(r"0 errors, \d+ warnings?", comment)
    assert figures
    assert world.statuses(head) == {
        "kix/check": [("pending", "building base and head"), ("success", f"shop: {figures.group()}")],
        "kix/diff": [("pending", "building base and head"), ("success", "shop: 2 updated, 1 added, 0 removed")],
        "kix/diff/shop": [("success", "2 updated, 1 added, 0 removed")],
    }
    # On this event GITHUB_SHA is a throw-away merge: a status on it would show nowhere.
    assert world.statuses(str(world.store.find("refs/pull/1/merge"))) == {}
    assert len(run.calls) <= 15
    paths = {name: Path(run.outputs.pop(name)) for name in ("diff-path", "json-path")}
    assert all(path.is_relative_to(run.folder / "temp") for path in paths.values())
    assert run.outputs == {
        "changes": "true",
        "to-add": "1",
        "to-change": "2",
        "to-remove": "0",
        "clusters": "shop",
        "check": "pass",
        "failure-reason": "",
        "comment-url": "https://forge.invalid/acme/shop/pull/1#issuecomment-1000",
    }
    assert "    changed Deployment/web@shop" in paths["diff-path"].read_text()


def the_first_push_deploys_everything_in_waves(story: ShopStory, golden: Golden) -> None:
    run = story.first_deployed.passed()
    world = story.world
    golden("shop-first-deploy.txt", world.scrub(run.log, commit=story.described))
    waves = [line.split()[1:] for line in run.log.splitlines() if line.startswith("  wave ")]
    ours = {name.partition("/")[2] for name in ("/web", "/db")}
    assert {
        number: [word for word in words if word.partition("/")[2] in ours] for number, *words in waves if number != "0"
    } == {
        "1": ["Secret/db", "ConfigMap/web"],
        "2": ["Cluster/db"],
        "3": ["Service/web", "Deployment/web"],
        "4": ["HTTPRoute/web"],
    }
    assert world.statuses(story.described) == {
        "kix/deploy/shop": [("pending", "deploying"), ("success", "42 created in 5 waves")]
    }


def the_merge_is_deployed_as_it_was_reviewed(story: ShopStory, golden: Golden) -> None:
    run = story.deployed.passed()
    world, merged = story.world, story.merged
    (comment,) = world.comments(story.proposed)[1:]
    golden("shop-deploy.md", world.scrub(comment, merged=merged))
    assert "- pull request 1: deployed exactly what was reviewed" in comment
    assert world.scrub(run.log).splitlines()[1:] == [
        f"shop: deploying {merged[:12]}",
        f"  {run.outputs['activation']} Applying",
        "  wave 1 Secret/valkey Service/valkey",
        "  wave 2 Deployment/grafana StatefulSet/valkey",
        "  wave 3 Deployment/web",
        f"  {run.outputs['activation']} Active",
        "shop: deployed: 4 created, 3 changed in 4 waves",
        "pins: none moved",
    ]
    assert world.statuses(merged) == {
        "kix/deploy/shop": [("pending", "deploying"), ("success", "4 created, 3 changed in 4 waves")]
    }
    first, second = world.github.deployments()[:2]
    assert first == (story.described, "production", "kix:shop", "inactive")
    # Whatever is deployed later makes it inactive in its turn.
    assert (second[:3], second[3] in {"success", "inactive"}) == ((merged, "production", "kix:shop"), True)
    assert "deployed exactly what was reviewed" in run.summary


def the_cluster_holds_a_receipt_of_each_deploy(story: ShopStory, _: Golden) -> None:
    deployed = {"first": story.first_deployed.passed(), "merge": story.deployed.passed()}
    items = {one["metadata"]["name"]: one for one in kubectl(story, "get", "activations", "-A")["items"]}
    receipt = items[deployed["merge"].outputs["activation"]]["status"]["receipt"]
    assert receipt["commit"] == story.merged
    assert receipt["clean"] is True
    assert receipt["actor"] == "alice"
    assert receipt["runUrl"].endswith(f"/acme/shop/actions/runs/{RUN_ID}")
    images = {image["reference"].partition("@")[0] for image in receipt["images"]}
    assert images >= {f"{WEB}:1.5.0", VALKEY}
    assert receipt["id"] in story.world.comments(story.proposed)[1]
    first = items[deployed["first"].outputs["activation"]]["status"]
    assert (first["phase"], first["receipt"]["commit"]) == ("Superseded", story.described)


def the_example_workflow_deploys_a_merge_with_the_action(story: ShopStory, _: Golden) -> None:
    run = story.deployed_by_workflow
    world = story.world
    assert run.ok, run.log
    assert run.results == {"deploy": "success", "pins": "success"}
    (comment,) = world.comments(story.scaled)
    merged = str(world.github.state.pulls[story.scaled]["merge"])
    assert comment.splitlines()[1:4] == [f"### 🚀 `shop` runs `{merged[:12]}`", "", "1 changed in 1 wave"]
    assert world.statuses(merged)["kix/deploy/shop"][-1] == ("success", "1 changed in 1 wave")
    assert kubectl(story, "-n", "monitoring", "get", "deployment", "grafana")["spec"]["replicas"] == 3
    records = {one["metadata"]["name"]: one for one in kubectl(story, "get", "activations", "-A")["items"]}
    assert records[activation_of(run.log)]["status"]["receipt"]["commit"] == merged
    assert "pins: none moved" in run.log
    assert story.plane
    for canary in (ACT_TOKEN, story.plane.access.tokens["admin"]):
        assert canary not in run.log + run.summary + world.told()


def a_moved_pin_is_committed_and_deployed_by_the_run_of_a_push(story: ShopStory, _: Golden) -> None:
    run = story.pins_committed.passed()
    world = story.world
    moved = next(line for line in run.log.splitlines() if line.startswith("pins: committed "))
    commit = str(world.store.find(moved.split()[2]))
    (parent,) = world.store.parents(commit)
    assert world.store.changed(parent, commit) == ["pins.json"]
    assert world.github.state.signed[commit] == BOT
    assert world.store.message(commit).splitlines()[0] == "Move pin web to 1.5.1"
    assert world.statuses(commit) == {"kix/deploy/shop": [("pending", "deploying"), ("success", "1 changed in 1 wave")]}
    live = kubectl(story, "-n", "shop", "get", "deployment", "web")
    image = live["spec"]["template"]["spec"]["containers"][0]["image"]
    assert image == f"{WEB}:1.5.1@{story.publish(f'{WEB}:1.5.1').digest}"
    assert [line for line in run.log.splitlines() if line.startswith("shop: ")] == [
        f"shop: deploying {parent[:12]}",
        f"shop: unchanged: {activation_of(story.deployed_by_workflow.log)} is Active already",
        f"shop: deploying {commit[:12]}",
        "shop: deployed: 1 changed in 1 wave",
    ]


def on_a_protected_branch_a_moved_pin_becomes_a_pull_request(story: ShopStory, golden: Golden) -> None:
    run = story.pins_proposed.passed()
    world = story.world
    assert run.log.splitlines()[-2:] == [
        "pins: proposed in a pull request instead: main is protected",
        f"pins: opened pull request {max(world.github.state.pulls)} with 1 pin",
    ]
    pull = next(one for one in world.github.state.pulls.values() if one["head"] == "kix/pins")
    assert (pull["title"], pull["base"], pull["author"]) == ("Move pin web to 1.5.2", "main", BOT)
    golden("shop-pins.md", pull["body"])
    head = str(world.store.find("kix/pins"))
    assert world.store.changed(world.main, head) == ["pins.json"]
    assert world.store.parents(head) == [world.main]
    assert world.store.find("kix/pins-next") is None
    again = world.clock().passed()
    assert again.log.splitlines()[-1] == f"pins: pull request {max(world.github.state.pulls)} is up to date"
    assert str(world.store.find("kix/pins")) == head


def generated_passwords_stand_in_nothing_a_run_left(story: ShopStory, _: Golden) -> None:
    runs = (story.first_deployed, story.deployed)
    values = {
        value
        for name in ("db", "valkey")
        for value in kubectl(story, "-n", "shop", "get", "secret", name)["data"].values()
    }
    passwords = [base64.b64decode(value).decode() for value in values]
    assert any(len(password) >= 20 for password in passwords)
    left = [story.world.told()] + [text for run in runs for text in (str(run), *left_by(run))]
    assert story.plane
    generated = (password for password in passwords if len(password) >= 16)
    for secret in (*values, *generated, story.plane.access.tokens["admin"]):
        assert not any(secret in text for text in left)
