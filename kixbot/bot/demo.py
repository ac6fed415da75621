"""`kixbot demo`: the whole job on a sample repository, told step by step. No network, no control plane, no account."""

import io
import re
from collections.abc import Callable
from pathlib import Path
from time import monotonic

import click

from kixbot.bot.demo_scene import CLUSTER, IMAGE, Scene, prepare
from kixbot.bot.main import run_event
from kixbot.bot.outputs import Outputs
from kixbot.bot.settings import load
from kixbot.cluster.memory import MemoryCluster
from kixbot.errors import ExitCode
from kixbot.ops.status import current_of, status
from kixbot.output.receipt_text import receipt_text
from kixbot.registry.loopback import LoopbackRegistry
from kixbot.registry.memory import ImageStore

Say = Callable[[str], object]

_FOLD = re.compile(r"<details><summary>(.*?)</summary>.*?</details>", re.DOTALL)
_TAG = re.compile(r"</?(code|sub|wbr)>")
_ENTITY = re.compile(r"&#(\d+);")


def run_demo(folder: Path | None, *, say: Say) -> int:
    """Run it in `folder` (default: `demo` here). Gives the exit code of the first run of the bot that fails."""
    began = monotonic()
    place = prepare(folder or Path("demo"))
    store = ImageStore()
    with LoopbackRegistry(store) as registry:
        try:
            _Play(Scene(place, store, registry), say).run()
        except _StoppedError as stopped:
            say("")
            say(click.style(f"The demo stopped: a run of the bot ended with exit code {int(stopped.code)}.", fg="red"))
            return int(stopped.code)
    say("")
    say(_dim(f"{monotonic() - began:.0f} seconds. Everything is in {place}: comment.md is the whole comment,"))
    say(_dim("shop.git the repository with its pull request and statuses, cluster the cluster's objects."))
    return int(ExitCode.DONE)


class _StoppedError(Exception):
    """A run of the bot did not end well; its log says why."""

    def __init__(self, code: ExitCode) -> None:
        super().__init__()
        self.code = code


class _Play:
    """The acts of the demo."""

    def __init__(self, scene: Scene, say: Say) -> None:
        self._scene = scene
        self._say = say

    def run(self) -> None:
        """All acts."""
        scene, say = self._scene, self._say
        say(_dim("A shop as one definition, its pull request reviewed, merged, deployed in waves, its image pinned."))
        say(_dim("Forge, cluster and registry are embedded; the code is the one that runs on the real ones."))
        scene.publish("1.4.2", revision="4f2b9c1")
        self._act(1, "The default branch is deployed")
        self._bot(f"push:{scene.first_commit()}", "deploy")

        scene.publish("1.5.0", revision="9d03e7a")
        pull = scene.open_pull_request()
        self._act(2, f"Pull request {pull.number} is reviewed: {pull.title}")
        self._bot(f"pull-request:{pull.number}", "review")
        self._show_comment(pull.number)

        scene.publish("1.5.1", revision="c5510fe")
        self._act(3, f"It is merged and deployed; meanwhile {IMAGE} 1.5.1 is out, so the pin moves and is deployed too")
        self._bot(f"push:{scene.merge(pull.number)}", "deploy")

        self._act(4, "The receipt, as the cluster keeps it")
        cluster = MemoryCluster(scene.cluster_folder / CLUSTER)
        receipt = current_of(status(cluster, CLUSTER)).receipt
        assert receipt is not None
        self._lines(receipt_text(receipt, whole_digests=True))

    def _act(self, number: int, title: str) -> None:
        self._say("")
        self._say(click.style(f"{number}. {title}", bold=True))

    def _bot(self, event: str, folder: str) -> None:
        """One run of `kixbot run`, as a CI job would do it."""
        scene = self._scene
        environment = {
            "KIX_LOCAL_FORGE": str(scene.forge_folder),
            "KIX_LOCAL_EVENT": event,
            "KIX_EMBEDDED": str(scene.cluster_folder),
        }
        self._say(_dim(f"   $ KIX_LOCAL_EVENT={event} kixbot run"))
        log = io.StringIO()
        outputs = Outputs(environment, scene.folder / folder, log)
        try:
            code = run_event("run", load({}, environment), environment, outputs)
        finally:
            self._lines(log.getvalue().rstrip("\n"))
        if code is not ExitCode.DONE:
            raise _StoppedError(code)

    def _show_comment(self, number: int) -> None:
        """The comment as a reader sees it, its details folded."""
        body = self._scene.forge.list_comments(number)[0].body
        (self._scene.folder / "comment.md").write_text(body, encoding="utf-8")
        text = _FOLD.sub(r"▸ \1", body.partition("\n")[2])
        text = _ENTITY.sub(lambda match: chr(int(match.group(1))), _TAG.sub("", text))
        self._say("")
        for line in text.strip("\n").split("\n"):
            heading = line.startswith(("#", "**"))
            self._say(f"   {_bar()} " + (click.style(line, bold=True) if heading else line.rstrip()))

    def _lines(self, text: str) -> None:
        for line in text.split("\n"):
            self._say(f"   {line}".rstrip())


def _dim(text: str) -> str:
    return click.style(text, dim=True)


def _bar() -> str:
    return click.style("│", fg="cyan")
