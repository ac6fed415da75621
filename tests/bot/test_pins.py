"""Pins that move in a registry on loopback, committed or proposed by the bot."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kixbot.forges.local_git import Repository
from kixbot.model.pin import Pins
from kixbot.model.pinfile import decode, encode
from kixbot.ops.pin import add_pin
from kixbot.registry.loopback import LoopbackRegistry
from kixbot.registry.memory import ImageRecipe, ImageStore, MemoryRegistry, make_image
from tests.bot.shop_world import SETTINGS, WEB, Run, Shop

IMAGE = "ghcr.io/acme/web"


class Registry:
    """A registry on loopback with one image, and the shop that pins it."""

    def __init__(self, folder: Path, server: LoopbackRegistry, store: ImageStore) -> None:
        self.folder = folder
        self._server = server
        self._store = store
        self.publish("1.4.2")

    def publish(self, tag: str) -> str:
        labels = {"org.opencontainers.image.revision": f"revision of {tag} @alice"}
        return self._store.put(IMAGE, tag, make_image(ImageRecipe(labels={"tag": tag, **labels}, user="10001")))

    def shop(self, mode: str, on: str = "merge", more: str = "") -> Shop:
        host = self._server.host
        settings = (
            f'{SETTINGS}[pins]\nmode = "{mode}"\non = ["{on}"]\n{more}'
            f'[registries]\nmirrors = {{ "ghcr.io" = "{host}" }}\ninsecure = ["{host}"]\n'
        )
        pin = add_pin(Pins(), MemoryRegistry(self._store), f"{IMAGE}:1.4.2", key="web", update="^1.4")
        return Shop(self.folder, settings, **{"pins.json": encode(Pins(pins={"web": pin}))})


class _Store(ImageStore):
    """Mirrored at its root: the written name's host is not part of the path."""

    def put(self, path: str, tag: str, content: object) -> str:
        super().put(path.partition("/")[2], tag, content)  # type: ignore[arg-type]
        return super().put(path, tag, content)  # type: ignore[arg-type]


@pytest.fixture
def registry(tmp_path: Path) -> Iterator[Registry]:
    store = _Store()
    with LoopbackRegistry(store) as server:
        yield Registry(tmp_path, server, store)


def pinned(shop: Shop, ref: str = "main") -> str:
    return decode((shop.world.forge.find_file("pins.json", ref=ref) or b"").decode()).pins["web"].tag


def pins_run(shop: Shop) -> Run:
    return shop.run("schedule", what="pins")


def test_a_moved_pin_is_committed_and_the_commit_is_deployed_by_the_same_run(registry: Registry) -> None:
    shop = registry.shop("commit")
    registry.publish("1.5.0")
    run = shop.push(shop.base)
    assert run.code == 0, run.log
    head = shop.world.forge.find_branch("main")
    assert head is not None
    assert head != shop.base
    assert pinned(shop) == "1.5.0"
    commit = shop.world.forge.compare(shop.base, head).commits[0]
    assert commit.message.startswith("Move pin web to 1.5.0\n\nweb: 1.4.2 to 1.5.0 (sha256:")
    assert f"staging: deploying {head[:12]}" in run.log
    current = shop.current("staging")
    assert current is not None
    # Plain manifests name no pin, so the activation stays; what counts is that the loop ends here.
    assert shop.push(head).log.endswith("pins: none moved\n")


def test_nothing_moved_means_no_commit(registry: Registry) -> None:
    shop = registry.shop("commit")
    run = pins_run(shop)
    assert (run.code, run.log) == (0, "pins: none moved\n")
    assert shop.world.forge.find_branch("main") == shop.base


def test_a_proposal_carries_its_evidence_and_is_brought_up_to_date_in_place(registry: Registry) -> None:
    shop = registry.shop("pull-request")
    registry.publish("1.5.0")
    assert pins_run(shop).code == 0
    assert pins_run(shop).log.endswith("pins: pull request 1 is up to date\n")
    registry.publish("1.6.0")
    shop.write("main", {"README": "words\n"})
    assert "brought pull request 1 up to date" in pins_run(shop).log
    pull = shop.world.forge.get_pull_request(1)
    assert pull.title == "Move pin web to 1.6.0"
    assert pinned(shop, "kix/pins") == "1.6.0"
    assert pinned(shop) == "1.4.2"
    assert len(shop.world.forge.compare("main", "kix/pins").commits) == 1
    for text in ("`web`", f"`{IMAGE}`", "1.4.2 → 1.6.0", "`revision of 1.6.0 @alice`", "linux/amd64", "`production`"):
        assert text in pull.body
    assert "The check passes with these pins." in pull.body


def test_a_protected_branch_gets_a_pull_request_that_says_why(registry: Registry) -> None:
    shop = registry.shop("commit")
    shop.world.protect("main")
    registry.publish("1.5.0")
    run = pins_run(shop)
    assert run.code == 0, run.log
    assert "pins: proposed in a pull request instead: main is protected" in run.log
    assert shop.world.forge.find_branch("main") == shop.base
    assert "Not committed directly: `main is protected`" in shop.world.forge.get_pull_request(1).body


def test_rules_for_direct_commits_that_need_eyes_lead_to_a_pull_request(registry: Registry) -> None:
    shop = registry.shop("commit", more='min-age = "3d"\n')
    registry.publish("1.5.0")
    assert "proposed in a pull request instead: min-age" in pins_run(shop).log
    assert shop.world.forge.find_branch("main") == shop.base


def test_a_pin_branch_with_somebody_elses_commit_is_left_alone(registry: Registry) -> None:
    shop = registry.shop("pull-request")
    registry.publish("1.5.0")
    foreign = shop.write("kix/pins", {"pins.json": "{}"})
    run = pins_run(shop)
    assert run.code == 1
    assert "branch kix/pins: holds commits or files that are not kixbot's" in run.log
    assert shop.world.forge.find_branch("kix/pins") == foreign


def test_the_settings_of_this_run_win_over_kix_toml(registry: Registry) -> None:
    shop = registry.shop("commit")
    registry.publish("1.5.0")
    run = shop.run("schedule", what="pins", KIX_PINS_MODE="off")
    assert (run.code, run.log) == (0, "pins: off\n")


def test_a_registry_that_is_down_is_an_error_of_the_outside_that_names_the_pin(tmp_path: Path) -> None:
    store = _Store()
    with LoopbackRegistry(store) as server:
        shop = Registry(tmp_path, server, store).shop("commit")
    run = pins_run(shop)
    assert run.code == 4
    assert "warning: pin web: " in run.log
    assert shop.world.forge.find_branch("main") == shop.base


def test_a_branch_that_moves_meanwhile_is_looked_at_again(registry: Registry, tmp_path: Path) -> None:
    shop = registry.shop("commit")
    registry.publish("1.5.0")
    late = shop.write("main", {"README": "words\n"})
    run = shop.run(f"push:{shop.base}", what="pins")
    assert run.log == f"pins: main has moved on to {late[:12]}; its own run looks at the pins\n"
    assert shop.world.forge.find_branch("main") == late


def test_other_fields_of_the_pins_file_stay(registry: Registry) -> None:
    shop = registry.shop("commit")
    data = json.loads(shop.world.forge.find_file("pins.json", ref="main") or b"")
    data["team"] = "shop"
    data["pins"]["web"]["note"] = "kept"
    shop.write("main", {"pins.json": json.dumps(data)})
    registry.publish("1.5.0")
    assert pins_run(shop).code == 0
    after = json.loads(shop.world.forge.find_file("pins.json", ref="main") or b"")
    assert (after["team"], after["pins"]["web"]["note"], after["pins"]["web"]["tag"]) == ("shop", "kept", "1.5.0")


def test_the_default_branch_is_moved_by_one_commit_that_touches_the_pins_alone(registry: Registry) -> None:
    shop = registry.shop("commit")
    registry.publish("1.5.0")
    pins_run(shop)
    compared = shop.world.forge.compare(shop.base, "main")
    assert (len(compared.commits), compared.files) == (1, ("pins.json",))
    assert Repository(shop.world.folder).text("fsck", "--no-dangling") == ""


def test_pins_whose_check_does_not_pass_are_proposed_not_committed(registry: Registry) -> None:
    shop = registry.shop("commit")
    shop.write("main", {"staging/web.yaml": WEB.replace("app: web}, ports", "app: wbe}, ports")})
    registry.publish("1.5.0")
    run = pins_run(shop)
    assert "proposed in a pull request instead: the check does not pass: staging: " in run.log
    assert "The check does not pass with these pins:" in shop.world.forge.get_pull_request(1).body
