"""A repository on GitHub with people, a bot and CI around it: what each does, and all that a run leaves behind.

GitHub is the loopback server that holds every message to the published description, its git is git's own server, and
each run of the bot is a process with the environment a runner gives it, in a shallow checkout as a runner makes it.
"""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.e2e import story_events as events
from tests.e2e.story_git import GitHost
from tests.forges.git_store import GitStore
from tests.forges.github_server import GitHubServer, Token
from tests.parts.act import TOKEN as ACT_TOKEN

ROOT = Path(__file__).parents[2]
BOT = "github-actions[bot]"
TOKEN = "ghs_canary0123456789abcdefghijklmnop"
SECRET = "canary-value-of-a-secret"
CANARIES = (TOKEN, SECRET)
"""What stands in the environment of every run and may show up in nothing that a run leaves."""

RUN_ID = "4711"
PROGRAM = "from kixbot.bot.main import main; main()"
COMMAND_LINE = "from kixbot.cli.main import main; main()"


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one run of the bot left: its end, its log, and what GitHub would show of it."""

    code: int
    log: str
    errors: str
    summary: str
    outputs: dict[str, str]
    calls: tuple[str, ...]
    """Each API call as `METHOD path`."""
    folder: Path

    def passed(self) -> "Run":
        """Itself, when it ended with 0."""
        assert self.code == 0, str(self)
        return self

    def __str__(self) -> str:
        return f"exit {self.code}\n{self.log}\n{self.errors}"


class World:
    """One repository. `kubeconfig` is what runs reach clusters with."""

    def __init__(self, folder: Path, files: Mapping[str, bytes], *, kubeconfig: Path | None = None) -> None:
        self.folder = folder
        self.kubeconfig = kubeconfig
        self.store = GitStore(folder / "shop.git")
        self.first = self.store.commit(None, "Describe the shop", list(files.items()))
        self.store.move("main", self.first, None)
        self.github = GitHubServer(self.store, repository=events.REPOSITORY)
        self.token = Token(login=BOT)
        self.github.tokens[TOKEN] = self.token
        self.github.tokens[ACT_TOKEN] = self.token
        self.git = GitHost(folder / "shop.git", events.REPOSITORY, frozenset({TOKEN, ACT_TOKEN}))
        self._runs = 0

    # What people do.

    def clone(self, name: str = "author") -> Path:
        """Somebody's clone, on main as it is now."""
        folder = self.folder / name
        if not folder.exists():
            _git(self.folder, "clone", "--quiet", str(self.store.folder), str(folder))
        _git(folder, "checkout", "--quiet", "main")
        _git(folder, "pull", "--quiet", "--ff-only")
        return folder

    def kix(self, folder: Path, *words: str) -> str:
        """`kix WORDS` at somebody's terminal; gives what it printed."""
        done = subprocess.run(
            [sys.executable, "-c", COMMAND_LINE, "-C", str(folder), *words],
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT), "HOME": str(self.folder)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def apply(self, folder: Path, patch: Path) -> None:
        """Somebody's change as a patch."""
        _git(folder, "apply", str(patch))

    def push(self, folder: Path, branch: str, message: str) -> str:
        """Somebody commits all of a clone and pushes it as a branch; gives the SHA."""
        _git(folder, "checkout", "--quiet", "-B", branch)
        _git(folder, "add", "--all")
        _git(folder, "commit", "--quiet", "--message", message)
        _git(folder, "push", "--quiet", "--force", "origin", branch)
        return _git(folder, "rev-parse", "HEAD")

    def write(self, branch: str, files: Mapping[str, str | None], message: str = "Change it") -> str:
        """Somebody pushes files on top of a branch, or of main where it is new."""
        old = self.store.find(f"refs/heads/{branch}")
        changed = [(path, None if text is None else text.encode()) for path, text in files.items()]
        made = self.store.commit(old or self.main, message, changed)
        assert self.store.move(branch, made, old)
        return made

    def propose(self, branch: str, title: str, *, fork: str | None = None) -> int:
        """Somebody opens a pull request."""
        return self.github.open_pull(head=branch, base="main", title=title, author="alice", fork=fork)

    @property
    def main(self) -> str:
        return str(self.store.find("main"))

    # What CI does.

    def review(self, number: int, *, action: str = "opened", **variables: str) -> Run:
        """The run of a pull request."""
        pull = self.github.state.pulls[number]
        head = str(self.github.head_of(number))
        fork = pull["fork"]
        payload = events.pull_request(
            number, head=head, head_ref=pull["head"], base=self.main, action=action, fork=fork
        )  # fmt: skip
        # The runner checks out a throw-away merge of head and base, without history.
        merged = self.store.merge(self.main, head, f"Merge {head} into {self.main}")
        self.store.git("update-ref", f"refs/pull/{number}/merge", merged)
        ref = f"refs/pull/{number}/merge"
        return self.run("pull_request", payload, sha=merged, ref=ref, **variables)

    def pushed(self, before: str, after: str, *, branch: str = "main", **variables: str) -> Run:
        """The run of a push."""
        ref = f"refs/heads/{branch}"
        return self.run("push", events.push(before=before, after=after, ref=ref), sha=after, ref=ref, **variables)

    def clock(self, **variables: str) -> Run:
        """The run of a schedule."""
        return self.run("schedule", events.schedule(), sha=self.main, ref="refs/heads/main", **variables)

    def run(self, name: str, payload: Mapping[str, Any], *, sha: str, ref: str, **variables: str) -> Run:
        """`kixbot run` in a job of this event, and nothing secret in anything it left."""
        folder = self._next_folder()
        checkout = folder / "workspace"
        self.check_out(checkout, sha)
        (folder / "event.json").write_text(json.dumps(payload))
        already = len(self.github.journal)
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, "run"],
            cwd=checkout,
            env={**self.environment(folder, name, sha, ref), **variables},
            capture_output=True,
            text=True,
            check=False,
        )
        run = Run(
            code=done.returncode,
            log=done.stdout,
            errors=done.stderr,
            summary=_read(folder / "summary.md"),
            outputs=read_outputs(_read(folder / "outputs")),
            calls=tuple(f"{one.method} {one.path}" for one in self.github.journal[already:]),
            folder=folder,
        )
        self._hold(run)
        return run

    def environment(self, folder: Path, name: str, sha: str, ref: str) -> dict[str, str]:
        """The variables of a job, as https://docs.github.com/en/actions/reference/variables-reference lists them."""
        kube = {"KUBECONFIG": str(self.kubeconfig)} if self.kubeconfig else {}
        return {
            "PATH": os.environ["PATH"],
            "HOME": str(folder / "home"),
            "PYTHONPATH": str(ROOT),
            "LANG": "C.UTF-8",
            "CI": "true",
            "GITHUB_ACTIONS": "true",
            "GITHUB_ACTOR": "alice",
            "GITHUB_API_URL": self.github.api_url,
            "GITHUB_EVENT_NAME": name,
            "GITHUB_EVENT_PATH": str(folder / "event.json"),
            "GITHUB_GRAPHQL_URL": self.github.graphql_url,
            "GITHUB_OUTPUT": str(folder / "outputs"),
            "GITHUB_REF": ref,
            "GITHUB_REF_NAME": ref.removeprefix("refs/heads/").removeprefix("refs/"),
            "GITHUB_REPOSITORY": events.REPOSITORY,
            "GITHUB_RUN_ATTEMPT": "1",
            "GITHUB_RUN_ID": RUN_ID,
            "GITHUB_SERVER_URL": self.git.url,
            "GITHUB_SHA": sha,
            "GITHUB_STEP_SUMMARY": str(folder / "summary.md"),
            "GITHUB_WORKSPACE": str(folder / "workspace"),
            "RUNNER_TEMP": str(folder / "temp"),
            "KIX_GITHUB_TOKEN": TOKEN,
            "DATABASE_PASSWORD": SECRET,
            **kube,
        }

    def _next_folder(self) -> Path:
        self._runs += 1
        folder = self.folder / f"run-{self._runs}"
        for name in ("home", "temp"):
            (folder / name).mkdir(parents=True)
        return folder

    def check_out(self, folder: Path, sha: str) -> None:
        """One commit without history and without a trace of the token, as `actions/checkout` leaves it."""
        _git(self.folder, "init", "--quiet", str(folder))
        # act takes the repository's name from this address; nothing is fetched from it.
        _git(folder, "remote", "add", "origin", f"https://github.com/{events.REPOSITORY}")
        _git(folder, "fetch", "--quiet", "--depth=1", f"file://{self.store.folder}", sha)
        _git(folder, "checkout", "--quiet", "--detach", sha)

    def _hold(self, run: Run) -> None:
        """What must be so of every run: nothing secret anywhere, no crash, no message GitHub would not know."""
        assert self.github.violations == []
        assert "Traceback" not in run.log + run.errors
        shown = run.log.replace(f"::add-mask::{TOKEN}\n", "", 1) + run.errors
        written = [shown, self.told(), *left_by(run)]
        for canary in CANARIES:
            assert not any(canary in text for text in written), f"{canary} in what a run left"

    # What can be read on the site.

    def told(self) -> str:
        """Everything the bot wrote to GitHub, as JSON."""
        state = self.github.state
        return json.dumps([state.comments, state.statuses, state.deployment_statuses, state.deployments, state.pulls])

    def statuses(self, sha: str) -> dict[str, list[tuple[str, str]]]:
        """Each context of a commit with its states and descriptions, oldest first."""
        found: dict[str, list[tuple[str, str]]] = {}
        for one in self.github.state.statuses:
            if one["sha"] == sha:
                found.setdefault(one["context"], []).append((one["state"], one["description"]))
        return found

    def comments(self, number: int) -> list[str]:
        """The bodies of a pull request's comments, oldest first."""
        return [one["body"] for one in self.github.state.comments.values() if one["number"] == number]

    def scrub(self, text: str, **commits: str) -> str:
        """A text with what differs from run to run replaced: addresses, times, and each commit by its part in it."""
        for name, sha in commits.items():
            # Short forms first would leave the tails of long ones behind.
            for length in (40, 12, 7):
                text = text.replace(sha[:length], name.upper())
        text = re.sub(r"127\.0\.0\.1:\d+", "HOST", text)
        text = re.sub(r"(?m)^deployed ( +).*$", r"deployed \1TIME", text)
        text = re.sub(r"(?m)^arch ( +).*$", r"arch \1MACHINE", text)
        text = re.sub(r"(receipt `[\w-]+)\.\d+`", r"\1.TIME`", text)
        # What is waited for, and how often it is told, depends on the machine's speed.
        text = re.sub(r"(?m)^ +\S+ waits: .*\n", "", text)
        return text.replace(str(self.folder), "FOLDER")


@contextmanager
def world(folder: Path, files: Mapping[str, bytes], *, kubeconfig: Path | None = None) -> Iterator[World]:
    """A world whose servers run."""
    folder.mkdir(parents=True, exist_ok=True)
    made = World(folder, files, kubeconfig=kubeconfig)
    try:
        with made.git:
            yield made
    finally:
        made.github.close()


def left_by(run: Run) -> list[str]:
    """The texts of all files a run left, its summary and outputs among them; the checkout was there before."""
    given = run.folder / "workspace"
    return [_read(file) for file in run.folder.rglob("*") if file.is_file() and not file.is_relative_to(given)]


def read_outputs(text: str) -> dict[str, str]:
    """The outputs of a step from its GITHUB_OUTPUT file."""
    return {name: value for name, _, value in re.findall(r"(?m)^([\w-]+)<<(\S+)\n(.*?)\n\2$", text, re.DOTALL)}


def _read(file: Path) -> str:
    return file.read_bytes().decode(errors="replace") if file.is_file() else ""


def _git(folder: Path, *words: str) -> str:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ALLOW_PROTOCOL": "file:http",
        **{f"GIT_{who}_NAME": "alice" for who in ("AUTHOR", "COMMITTER")},
        **{f"GIT_{who}_EMAIL": "alice@example.invalid" for who in ("AUTHOR", "COMMITTER")},
    }
    done = subprocess.run(
        ["git", "-C", str(folder), *words], env=environment, check=True, capture_output=True, text=True
    )
    return done.stdout.strip()
