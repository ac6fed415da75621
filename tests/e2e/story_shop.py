"""The story of examples/shop: described, proposed, reviewed, merged, deployed to a real control plane, kept up to date.

Its chapters build on each other and each is lived once, when it is first asked for; so tests may ask in any order.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path

from tests.bot.action_folder import action_folder
from tests.bot.test_action import ACTION, for_act
from tests.bot.wheelhouse import find_python, wheelhouse
from tests.e2e import story_events as events
from tests.e2e.operator_webhook import OperatorWebhook
from tests.e2e.story import ROOT, Run, World, world
from tests.parts.act import Act, ActRun
from tests.parts.control_plane import ControlPlane
from tests.parts.registry import PushedImage, Registry
from tests.parts.stand_ins import PROVISIONER

PREFIX = "story"
WEB = "ghcr.io/acme/web"
IMAGES = {
    "cnpg-operator": "ghcr.io/cloudnative-pg/cloudnative-pg:1.27.0",
    "grafana": "docker.io/grafana/grafana:11.2.0",
    "postgresql": "ghcr.io/cloudnative-pg/postgresql:17.5",
    "web": f"{WEB}:1.4.2",
}
VALKEY = "docker.io/valkey/valkey:8.0.2"
EKS_STORAGE = {"metadata": {"name": "gp2"}, "provisioner": PROVISIONER, "volumeBindingMode": "WaitForFirstConsumer"}
"""What every EKS cluster has from its start."""
TITLE = "Release web 1.5.0 with a cache"


class ShopStory:
    """`reviewed`, `deployed`, … are runs of the bot; what they rest on is done by people before."""

    def __init__(self, world: World, registry: Registry, plane: ControlPlane | None) -> None:
        self.world = world
        self.plane = plane
        self._registry = registry

    def publish(self, image: str) -> PushedImage:
        """Somebody publishes an image, where the mirror map has its real name; each tag holds something else."""
        name, _, tag = image.rpartition(":")
        return self._registry.push(f"{PREFIX}/{name}", tag, content=tag, user="10001")

    @cached_property
    def described(self) -> str:
        """The example is on main, its images pinned by `kix pin add`; gives the commit."""
        for image in IMAGES.values():
            self.publish(image)
        clone = self.world.clone()
        for key, image in IMAGES.items():
            rule = ("--update", "^1.4") if key == "web" else ()
            self.world.kix(clone, "pin", "add", image, "--key", key, *rule)
        sha = self.world.push(clone, "main", "Pin the images")
        assert self.world.main == sha
        return sha

    @cached_property
    def first_deployed(self) -> Run:
        """The run of the first push: everything goes up, wave after wave."""
        return self.world.pushed(self.world.first, self.described)

    @cached_property
    def proposed(self) -> int:
        """web 1.4.2 → 1.5.0, valkey beside it, a second grafana, each with its pin; gives the pull request."""
        # What is out before the first deploy would be pinned by its run already.
        if self.plane is None:
            assert self.described
        else:
            self.first_deployed.passed()
        for image in (VALKEY, f"{WEB}:1.5.0"):
            self.publish(image)
        clone = self.world.clone()
        self.world.apply(clone, ROOT / "tests" / "e2e" / "shop-change.patch")
        self.world.kix(clone, "pin", "set", "web", "--tag", "1.5.0")
        self.world.kix(clone, "pin", "add", VALKEY, "--key", "valkey")
        self.world.push(clone, "web-1.5", TITLE)
        return self.world.propose("web-1.5", TITLE)

    @property
    def head(self) -> str:
        """The head of the pull request."""
        return str(self.world.github.head_of(self.proposed))

    @cached_property
    def reviewed(self) -> Run:
        """The run of the pull request."""
        return self.world.review(self.proposed)

    @cached_property
    def merged(self) -> str:
        """Somebody clicks merge; gives the commit on main."""
        self.reviewed.passed()
        return self.world.github.merge_pull(self.proposed)

    @cached_property
    def deployed(self) -> Run:
        """The run of the merge."""
        merged = self.merged
        return self.world.pushed(self.described, merged)

    @cached_property
    def scaled(self) -> int:
        """A third grafana is proposed and merged; gives the pull request."""
        self.deployed.passed()
        clone = self.world.clone()
        definition = clone / "clusters" / "shop.nix"
        definition.write_text(definition.read_text().replace("config.replicas = 2;", "config.replicas = 3;"))
        self.world.push(clone, "more-grafana", "Run a third grafana")
        number = self.world.propose("more-grafana", "Run a third grafana")
        self.world.github.merge_pull(number)
        return number

    @cached_property
    def deployed_by_workflow(self) -> ActRun:
        """The run of that merge by the example workflow and the action, as a user has them."""
        assert self.plane
        before, number = self.world.main, self.scaled
        after = self.world.main
        world, folder = self.world, self.world.folder / "act"
        world.check_out(folder / "checkout", after)
        (folder / "checkout" / "kix-deploy.yml").write_text(for_act("kix-deploy.yml"))
        assert number
        return Act(folder=folder / "home").run(
            folder / "checkout",
            event="push",
            payload=events.push(before=before, after=after),
            workflow="kix-deploy.yml",
            actor="alice",
            actions={ACTION: action_folder(folder / "action")},
            environment={
                "GITHUB_API_URL": world.github.api_url,
                "GITHUB_GRAPHQL_URL": world.github.graphql_url,
                "GITHUB_SERVER_URL": world.git.url,
                "KIX_WHEELHOUSE": str(wheelhouse()),
            },
            secrets={"KUBECONFIG": self.plane.access.kubeconfig.read_text()},
            path=os.pathsep.join((str(Path(find_python()).parent), "/usr/bin", "/bin")),
        )

    @cached_property
    def pins_committed(self) -> Run:
        """web 1.5.1 is out, and somebody pushes a word: the pin is committed and deployed by that push's run."""
        assert self.deployed_by_workflow.ok, self.deployed_by_workflow.log
        self.publish(f"{WEB}:1.5.1")
        before = self.world.main
        return self.world.pushed(before, self.world.write("main", {"README.md": "The shop.\n"}))

    @cached_property
    def pins_proposed(self) -> Run:
        """main is protected and web 1.5.2 is out: the pin becomes a pull request."""
        self.pins_committed.passed()
        self.world.github.state.protected.add("main")
        self.publish(f"{WEB}:1.5.2")
        return self.world.clock()


def shop_files(registry: Registry) -> dict[str, bytes]:
    """The example as it is committed, with this world's context and mirrors in its kix.toml."""
    example = ROOT / "examples" / "shop"
    files = {path.relative_to(example).as_posix(): path.read_bytes() for path in example.rglob("*") if path.is_file()}
    mirrors = ", ".join(f'"{host}" = "{registry.host}/{PREFIX}/{host}"' for host in ("docker.io", "ghcr.io"))
    added = (
        'context = "test"\nenvironment = "production"\n\n'
        '[pins]\nmode = "commit"\non = ["merge", "schedule"]\n\n'
        f'[registries]\nmirrors = {{ {mirrors} }}\ninsecure = ["{registry.host}"]\n'
    )
    return {**files, "kix.toml": files["kix.toml"] + added.encode()}


@contextmanager
def shop_story(folder: Path, registry: Registry, *, deploys: bool = True) -> Iterator[ShopStory]:
    """The story in its world; with `deploys`, beside a control plane where CloudNativePG's operator answers."""
    if not deploys:
        with world(folder / "world", shop_files(registry)) as made:
            yield ShopStory(made, registry, None)
        return
    plane = ControlPlane(folder / "control-plane")
    plane.start()
    try:
        plane.access.api().create("/apis/storage.k8s.io/v1/storageclasses", EKS_STORAGE)
        webhook = OperatorWebhook(
            plane.access.api(), folder / "webhook", namespace="cnpg-system", service="cnpg-webhook-service"
        )
        with webhook, world(folder / "world", shop_files(registry), kubeconfig=plane.access.kubeconfig) as made:
            yield ShopStory(made, registry, plane)
    finally:
        plane.stop()
