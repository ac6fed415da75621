"""Review, merge, deploy and pins on each real forge's loopback server, by the environment that forge's CI sets."""

import io
import json
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from kixbot.bot.main import run_event
from kixbot.bot.outputs import Outputs
from kixbot.bot.settings import load
from kixbot.errors import UsageError
from kixbot.model.pin import Pins
from kixbot.model.pinfile import decode, encode
from kixbot.ops.pin import add_pin
from kixbot.output.marker import find_marker
from kixbot.registry.loopback import LoopbackRegistry
from kixbot.registry.memory import ImageRecipe, ImageStore, MemoryRegistry, make_image
from tests.bot import payloads
from tests.bot.shop_world import SETTINGS, WEB, both
from tests.forges.github_world import GitHubWorld, github_world
from tests.forges.gitlab_world import GitLabWorld, gitlab_world

BOT = "kix-bot"
NEW = WEB.replace("1.4.2", "1.5.0")


@dataclass
class Scene:
    """A forge, a folder for checkouts, and how a run of its CI is told what happened."""

    name: str
    world: GitHubWorld | GitLabWorld
    folder: Path
    log: str = ""

    def commit(self, branch: str, files: dict[str, str]) -> str:
        return self.world.commit(branch, {name: text.encode() for name, text in files.items()})

    def checkout(self, sha: str) -> Path:
        folder = self.folder / f"checkout-{sha[:8]}"
        if not folder.exists():
            subprocess.run(["git", "clone", "--quiet", str(self.world.server.store.folder), str(folder)], check=True)
        return folder

    @property
    def remotes(self) -> str:
        """Where git fetches from: the forge's own repository, under the address that its CI names."""
        link = self.folder / "remotes" / "acme" / ("shop" if self.name == "github" else "shop.git")
        if not link.exists():
            link.parent.mkdir(parents=True)
            link.symlink_to(self.world.server.store.folder)
            self.world.server.store.git("config", "uploadpack.allowAnySHA1InWant", "true")
        return f"file://{self.folder}/remotes"

    def run(self, environment: dict[str, str], sha: str) -> int:
        ci = {
            "KIX_EMBEDDED": str(self.folder / "clusters"),
            **(self._github(sha) if self.name == "github" else self._gitlab(sha)),
            **environment,
        }
        log = io.StringIO()
        try:
            payload = json.loads(Path(ci["GITHUB_EVENT_PATH"]).read_text()) if "GITHUB_EVENT_PATH" in ci else {}
            assert isinstance(payload, dict)
            return int(run_event("run", load({}, ci), ci, Outputs(ci, self.folder / "out", log)))
        finally:
            self.log = log.getvalue()

    def _github(self, sha: str) -> dict[str, str]:
        return {
            "GITHUB_REPOSITORY": self.world.server.repository,  # type: ignore[union-attr]
            "GITHUB_API_URL": self.world.server.api_url,
            "GITHUB_GRAPHQL_URL": self.world.server.graphql_url,  # type: ignore[union-attr]
            "GITHUB_WORKSPACE": str(self.checkout(sha)),
            "GITHUB_SERVER_URL": self.remotes,
            "GITHUB_SHA": payloads.MERGE,
            "KIX_GITHUB_TOKEN": "secret",
        }

    def _gitlab(self, sha: str) -> dict[str, str]:
        return {
            "GITLAB_CI": "true",
            "CI_PROJECT_ID": "1",
            "CI_PROJECT_PATH": "acme/shop",
            "CI_API_V4_URL": self.world.server.api_url,
            "CI_PROJECT_DIR": str(self.checkout(sha)),
            "CI_PROJECT_URL": f"{self.remotes}/acme/shop",
            "CI_DEFAULT_BRANCH": "main",
            "CI_COMMIT_SHA": sha,
            "KIX_GITLAB_TOKEN": "secret",
        }

    def review(self, number: int, head: str) -> int:
        if self.name == "gitlab":
            source = {
                "CI_PIPELINE_SOURCE": "merge_request_event",
                "CI_MERGE_REQUEST_IID": str(number),
                "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
                "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "1",
            }
            return self.run(source, head)
        payload = payloads.pull_request()
        payload["pull_request"]["number"] = number
        payload["pull_request"]["head"]["sha"] = head
        return self._with_payload("pull_request", payload, head)

    def push(self, sha: str) -> int:
        if self.name == "gitlab":
            return self.run({"CI_PIPELINE_SOURCE": "push", "CI_COMMIT_BRANCH": "main"}, sha)
        return self._with_payload("push", {**payloads.push(), "after": sha}, sha)

    def _with_payload(self, name: str, payload: object, sha: str) -> int:
        file = self.folder / "event.json"
        file.write_text(json.dumps(payload))
        return self.run({"GITHUB_EVENT_NAME": name, "GITHUB_EVENT_PATH": str(file)}, sha)


@pytest.fixture(params=["github", "gitlab"])
def scene(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Scene]:
    opening = github_world if request.param == "github" else gitlab_world
    with opening(tmp_path / "world", BOT) as world:
        yield Scene(name=request.param, world=world, folder=tmp_path)


def test_a_change_is_reviewed_merged_and_deployed(scene: Scene) -> None:
    base = scene.commit("main", {"kix.toml": SETTINGS, **both(WEB)})
    assert scene.push(base) == 0, scene.log
    head = scene.commit("bump", both(NEW))
    number = scene.world.open("bump")
    assert scene.review(number, head) == 0, scene.log
    assert scene.review(number, head) == 0, scene.log
    (comment,) = scene.world.forge.list_comments(number)
    marker = find_marker(comment.body)
    assert marker is not None
    assert (comment.author, marker.head) == (BOT, head)
    assert {state for state, _ in scene.world.statuses(head).values()} == {"success"}
    merge = scene.world.merge(number)
    assert scene.push(merge) == 0, scene.log
    assert scene.world.statuses(merge) == {
        "kix/deploy/staging": ("success", "1 changed in 1 wave"),
        "kix/deploy/production": ("success", "1 changed in 1 wave"),
    }
    told = [one.body for one in scene.world.forge.list_comments(number)][1:]
    assert ["### 🚀 `staging` runs" in told[0], "### 🚀 `production` runs" in told[1]] == [True, True]
    assert "deployed exactly what was reviewed" in told[0]
    assert [(environment, state) for _, environment, _, state in scene.world.deployments()][2:] == [
        ("staging", "success"),
        ("live", "success"),
    ]


def test_a_token_that_may_not_write_is_told_and_changes_no_answer(scene: Scene) -> None:
    scene.commit("main", {"kix.toml": SETTINGS, **both(WEB)})
    head = scene.commit("bump", both(NEW))
    number = scene.world.open("bump")
    for permission in ("statuses: write", "pull-requests: write"):
        scene.world.deny(permission)
    assert scene.review(number, head) == 0, scene.log
    assert scene.world.forge.list_comments(number) == ()
    assert "warning: " in scene.log


def test_a_moved_pin_is_committed_through_the_forges_own_api(scene: Scene) -> None:
    store = ImageStore()
    with LoopbackRegistry(store) as registry:
        for path in ("ghcr.io/acme/web", "acme/web"):
            store.put(path, "1.4.2", make_image(ImageRecipe(user="10001")))
        pin = add_pin(Pins(), MemoryRegistry(store), "ghcr.io/acme/web:1.4.2", key="web", update="^1.4")
        more = (
            f'[pins]\nmode = "commit"\non = ["merge"]\n[registries]\nmirrors = {{ "ghcr.io" = "{registry.host}" }}\n'
            f'insecure = ["{registry.host}"]\n'
        )
        files = {"kix.toml": SETTINGS + more, "pins.json": encode(Pins(pins={"web": pin})), **both(WEB)}
        base = scene.commit("main", files)
        store.put("acme/web", "1.5.0", make_image(ImageRecipe(user="10002")))
        assert scene.push(base) == 0, scene.log
    head = scene.world.forge.find_branch("main")
    assert head != base
    pins = decode((scene.world.forge.find_file("pins.json", ref="main") or b"").decode())
    assert pins.pins["web"].tag == "1.5.0"
    assert f"staging: deploying {str(head)[:12]}" in scene.log


def test_a_review_of_three_clusters_takes_at_most_fifteen_calls(tmp_path: Path) -> None:
    with github_world(tmp_path / "world", BOT) as world:
        scene = Scene(name="github", world=world, folder=tmp_path)
        three = SETTINGS + '[clusters.third]\npath = "staging"\n'
        scene.commit("main", {"kix.toml": three, **both(WEB)})
        head = scene.commit("bump", both(NEW))
        number = world.open("bump")
        before = len(world.server.journal)
        assert scene.review(number, head) == 0, scene.log
        calls = [f"{seen.method} {seen.path}" for seen in world.server.journal[before:]]
        assert len(calls) <= 15, calls


def test_without_a_project_token_gitlab_runs_say_what_to_give(tmp_path: Path) -> None:
    with gitlab_world(tmp_path / "world", BOT) as world:
        scene = Scene(name="gitlab", world=world, folder=tmp_path)
        base = scene.commit("main", {"kix.toml": SETTINGS, **both(WEB)})
        variables = {
            "CI_PIPELINE_SOURCE": "push",
            "CI_COMMIT_BRANCH": "main",
            "KIX_GITLAB_TOKEN": "",
            "CI_JOB_TOKEN": "job",
        }
        with pytest.raises(UsageError) as error:
            scene.run(variables, base)
        assert error.value.hint == "give the variable KIX_GITLAB_TOKEN a project token with the api scope"
