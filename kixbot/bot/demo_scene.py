"""The demo's world, all of it in one folder: a sample repository on a local forge, a registry on loopback, a cluster.

Nothing here is played: commits, pull request, digests and records are made by the same code that works on GitHub, on
real registries and on real clusters.
"""

import shutil
from collections.abc import Mapping
from dataclasses import replace
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from kixbot.errors import UsageError
from kixbot.forges.local import LocalForge
from kixbot.forges.local_git import NO_COMMIT, Repository, create
from kixbot.forges.local_merge import merge_pull_request
from kixbot.forges.values import FileChange, PullRequest
from kixbot.model.pin import Pins
from kixbot.model.pinfile import decode, encode
from kixbot.ops.pin import add_pin, apply_changes, set_tag
from kixbot.registry import open_registry
from kixbot.registry.interface import Registry
from kixbot.registry.loopback import LoopbackRegistry
from kixbot.registry.memory import ImageRecipe, ImageStore, make_image
from kixbot.settings import RegistrySettings

IMAGE = "ghcr.io/acme/web"
# The sample's images by the keys its packages ask for. They exist on the loopback registry alone, made of values.
_IMAGES = {
    "cnpg-operator": "ghcr.io/cloudnative-pg/cloudnative-pg:1.27.0",
    "grafana": "docker.io/grafana/grafana:11.2.0",
    "postgresql": "ghcr.io/cloudnative-pg/postgresql:17.5",
    "valkey": "docker.io/valkey/valkey:8.0.2",
}
_LATER = "valkey"
CLUSTER = "shop"
PERSON = "alice"
_OURS = ".kix-demo"
_CLEARED = ("shop.git", "cluster", "review", "deploy", "comment.md", _OURS)

_CHANGED = """instances.shop.valkey.package = packages.valkey;
      instances.monitoring.grafana = {
        package = packages.grafana;
        config.replicas = 2;
      };"""

# What the pull request changes in the sample: (file, old text, new text); each old text stands there once.
EDITS = (
    ("web.nix", 'version = "1.4.2";', 'version = "1.5.0";'),
    ("clusters/shop.nix", "instances.monitoring.grafana.package = packages.grafana;", _CHANGED),
)


class Scene:
    """The folder and what stands in it. `registry` must be serving."""

    def __init__(self, folder: Path, store: ImageStore, registry: LoopbackRegistry) -> None:
        self.folder = folder
        self.forge_folder = folder / "shop.git"
        self.cluster_folder = folder / "cluster"
        self._store = store
        hosts = {host: f"{registry.host}/{host}" for host in ("docker.io", "ghcr.io")}
        self._rules = RegistrySettings(mirrors=hosts, insecure=(registry.host,))
        create(self.forge_folder)
        self._git = Repository(self.forge_folder)

    @property
    def forge(self) -> LocalForge:
        """The forge as a person sees it."""
        return LocalForge(self.forge_folder, viewer=PERSON)

    def publish(self, tag: str, *, revision: str) -> None:
        """Somebody pushes the shop's image."""
        self._push(f"{IMAGE}:{tag}", {"org.opencontainers.image.revision": revision})

    def _push(self, image: str, labels: Mapping[str, str]) -> None:
        name, _, tag = image.rpartition(":")
        recipe = ImageRecipe(created="2026-11-20T09:00:00Z", labels={"name": name, **labels}, user="10001")
        self._store.put(name, tag, make_image(recipe))

    def first_commit(self) -> str:
        """The sample on the default branch, its web image pinned."""
        sample = _read(files("kixbot") / "examples" / CLUSTER)
        for image in _IMAGES.values():
            self._push(image, {})
        pins = self._pin(Pins(), "web", f"{IMAGE}:1.4.2", update="^1.4")
        for key, image in _IMAGES.items():
            pins = pins if key == _LATER else self._pin(pins, key, image)
        sample["pins.json"] = encode(pins).encode()
        sample["kix.toml"] += self._bot_settings()
        empty = self._git.commit_tree(
            self._git.run("mktree", data=b"").decode().strip(), parents=(), message="Begin\n", author=PERSON
        )
        return self._commit("main", empty, sample, "Describe the shop", expected=NO_COMMIT)

    def open_pull_request(self) -> PullRequest:
        """Somebody proposes a change: web 1.4.2 → 1.5.0, valkey beside it, a second grafana."""
        base = self.forge.find_branch("main") or ""
        changed: dict[str, bytes] = {}
        for name, old, new in EDITS:
            text = (self.forge.find_file(name, ref=base) or b"").decode()
            if text.count(old) != 1:
                raise UsageError(f"examples/shop/{name}: the demo's change does not fit it any more")
            changed[name] = text.replace(old, new).encode()
        pins = decode((self.forge.find_file("pins.json", ref=base) or b"").decode())
        change = set_tag(pins, self._open_registry(), "web", "1.5.0")
        assert change is not None
        pins = self._pin(apply_changes(pins, (change,)), _LATER, _IMAGES[_LATER])
        changed["pins.json"] = encode(pins).encode()
        self._commit("web-1.5", base, changed, "Release web 1.5.0 with a cache", expected=NO_COMMIT)
        return self.forge.open_pull_request(
            head_ref="web-1.5",
            base_ref="main",
            title="Release web 1.5.0 with a cache",
            body="web 1.5.0 caches in valkey; grafana gets a second replica.",
        )

    def merge(self, number: int) -> str:
        """Somebody clicks merge; gives the new head of the default branch."""
        return merge_pull_request(self.forge_folder, number, by=PERSON)

    def _pin(self, pins: Pins, key: str, image: str, *, update: str | None = None) -> Pins:
        pin = add_pin(pins, self._open_registry(), image, key=key, update=update)
        return replace(pins, pins={**pins.pins, pin.key: pin})

    def _commit(self, branch: str, parent: str, changed: dict[str, bytes], subject: str, *, expected: str) -> str:
        changes = tuple(FileChange(path=path, content=content) for path, content in sorted(changed.items()))
        sha = self._git.commit(parent=parent, message=f"{subject}\n", author=PERSON, files=changes)
        self._git.move(branch, new=sha, expected=expected)
        return sha

    def _open_registry(self) -> Registry:
        return open_registry(self._rules, environment={}, home=self.folder, note=lambda _: None)

    def _bot_settings(self) -> bytes:
        mirrors = ", ".join(f'"{written}" = "{asked}"' for written, asked in self._rules.mirrors.items())
        insecure = self._rules.insecure[0]
        return (
            '\n[pins]\nmode = "commit"\non = ["merge"]\n\n'
            f'[registries]\nmirrors = {{ {mirrors} }}\ninsecure = ["{insecure}"]\n'
        ).encode()


def prepare(folder: Path) -> Path:
    """An empty folder for the demo: a new one, or an earlier demo's, whose own files are cleared.

    Raises UsageError for a folder that holds anything else.
    """
    folder = folder.absolute()
    if folder.exists() and any(folder.iterdir()) and not (folder / _OURS).is_file():
        raise UsageError(f"{folder}: holds files that are no demo's", hint="name another folder: kixbot demo DIR")
    for name in _CLEARED:
        path = folder / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _OURS).write_text("made by kixbot demo, which clears it when it is run again\n")
    return folder


def _read(folder: Traversable, prefix: str = "") -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for entry in folder.iterdir():
        if entry.is_dir():
            found |= _read(entry, f"{prefix}{entry.name}/")
        else:
            found[prefix + entry.name] = entry.read_bytes()
    return found
