"""action.yml under act, against GitHub on loopback: the example workflow reviews, the deploy one deploys."""

import os
import re
import subprocess
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.bot import shop_example
from tests.bot.action_folder import action_folder
from tests.bot.payloads import pull_request, push
from tests.bot.shop_world import SETTINGS, WEB, both
from tests.bot.wheelhouse import find_python, wheelhouse
from tests.forges.github_world import GitHubWorld, github_world
from tests.parts.act import Act, ActRun
from tests.parts.paths import PROJECT

BOT = "github-actions[bot]"
ACTION = "kix-run/kix@v1"
EXAMPLES = PROJECT / "examples" / "github"
NOT_IN_ACT = re.compile(r"^  queue: max .*\n|^      deployment: false .*\n", re.MULTILINE)
"""What act 0.2.89 does not know: the two keys are taken out for it, and nothing else."""
APT = re.compile(r"^      - name: Install Nix.*\n        run: .*\n", re.MULTILINE)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[GitHubWorld]:
    with github_world(tmp_path / "world", BOT) as opened:
        opened.server.tokens["act-test-token"] = opened.server.tokens["secret"]
        yield opened


def for_act(name: str) -> str:
    """An example workflow as act can run it on this machine."""
    text = (EXAMPLES / name).read_text()
    return APT.sub("", NOT_IN_ACT.sub("", text))


def clone(world: GitHubWorld, folder: Path, sha: str, workflow: str) -> Path:
    """What actions/checkout leaves: the commit's files and its history."""
    git = ["git", "-c", "advice.detachedHead=false"]
    subprocess.run([*git, "clone", "--quiet", str(world.server.store.folder), str(folder)], check=True)
    subprocess.run([*git, "-C", str(folder), "checkout", "--quiet", sha], check=True)
    (folder / "workflow.yml").write_text(workflow)
    subprocess.run(
        [*git, "-C", str(folder), "remote", "set-url", "origin", "https://github.com/acme/shop.git"], check=True
    )
    return folder


def run(world: GitHubWorld, act: Act, checkout: Path, event: str, payload: Mapping[str, object], **more: str) -> ActRun:
    return act.run(
        checkout,
        event=event,
        payload=payload,
        workflow="workflow.yml",
        actions={ACTION: action_folder(act.folder.parent / "action")},
        environment={
            "GITHUB_API_URL": world.server.api_url,
            "GITHUB_GRAPHQL_URL": world.server.graphql_url,
            "KIX_WHEELHOUSE": str(wheelhouse()),
            **more,
        },
        secrets={"KUBECONFIG": "canary-kubeconfig"},
        path=os.pathsep.join((str(Path(find_python()).parent), "/usr/bin", "/bin")),
    )


def files() -> dict[str, bytes | None]:
    return {name: text.encode() for name, text in {"kix.toml": SETTINGS, **both(WEB)}.items()}


def test_the_copies_for_act_differ_from_the_examples_in_two_keys_alone() -> None:
    for name in ("kix-review.yml", "kix-deploy.yml"):
        text = (EXAMPLES / name).read_text()
        kept = NOT_IN_ACT.sub("", text).splitlines()
        gone = [line.strip().split(" #")[0] for line in text.splitlines() if line not in kept]
        assert gone == ([] if name == "kix-review.yml" else ["queue: max", "deployment: false"])


def test_the_examples_change_is_reviewed_by_the_example_workflow(
    world: GitHubWorld, act: Act, tmp_path: Path, golden: Callable[[str, str], None]
) -> None:
    base = world.commit("main", shop_example.files())
    head = world.commit("bump", shop_example.changed())
    number = world.open("bump")
    payload = pull_request()
    payload["number"] = payload["pull_request"]["number"] = number
    payload["pull_request"]["head"]["sha"] = head
    payload["pull_request"]["base"]["sha"] = base
    checkout = clone(world, tmp_path / "checkout", head, for_act("kix-review.yml"))
    done = run(world, act, checkout, "pull_request", payload)
    assert done.ok, done.log
    (comment,) = world.forge.list_comments(number)
    assert comment.author == BOT
    golden(shop_example.GOLDEN, shop_example.normalised(comment.body, head, base))
    assert {name: state for name, (state, _) in world.statuses(head).items()} == {
        "kix/check": "success",
        "kix/diff": "success",
        "kix/diff/shop": "success",
    }
    assert (done.outputs["to-add"], done.outputs["to-change"], done.outputs["check"]) == ("1", "2", "pass")
    assert "✅ kix says yes" in done.summary
    assert "act-test-token" not in done.log + done.summary + comment.body


def test_a_push_is_deployed_by_the_example_workflow(world: GitHubWorld, act: Act, tmp_path: Path) -> None:
    sha = world.commit("main", files())
    payload = push()
    payload["after"] = sha
    checkout = clone(world, tmp_path / "checkout", sha, for_act("kix-deploy.yml"))
    done = run(world, act, checkout, "push", payload, KIX_EMBEDDED=str(tmp_path / "clusters"))
    assert done.ok, done.log
    assert {name: state for name, (state, _) in world.statuses(sha).items()} == {
        "kix/deploy/staging": "success",
        "kix/deploy/production": "success",
    }
    assert [(environment, state) for _, environment, _, state in world.deployments()] == [
        ("staging", "success"),
        ("live", "success"),
    ]
    assert "canary-kubeconfig" not in done.log + done.summary
    assert "pins: none moved" in done.log
