"""Runs a GitHub Actions workflow on this machine, without containers, as `act` does it.

What act is not: it does not enforce permissions, environments or the size of a summary, gives every run the number 1,
takes the repository's name from the checkout's remote, and copies the checkout where GitHub would clone it. Remote
actions other than checkout and those given as folders would need the internet.
"""

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.parts.paths import ACT

TOKEN = "act-test-token"


@dataclass(frozen=True, slots=True, kw_only=True)
class ActRun:
    """What a run of one workflow did."""

    ok: bool
    """Every job succeeded."""
    log: str
    """What the steps printed, one after the other; act's own lines begin with `act: `."""
    outputs: dict[str, str]
    """The outputs of all steps by name."""
    summary: str
    results: dict[str, str]
    """Job id to its result, such as `success`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Act:
    """act with a home of its own in `folder`, so that nobody's settings or caches take part."""

    folder: Path

    def run(
        self,
        checkout: Path,
        *,
        event: str,
        payload: Mapping[str, Any],
        workflow: str,
        repository: str = "acme/shop",
        actor: str = "octocat",
        actions: Mapping[str, Path] | None = None,
        environment: Mapping[str, str] | None = None,
        secrets: Mapping[str, str] | None = None,
        path: str | None = None,
    ) -> ActRun:
        """Runs the checkout's `workflow` (a path in it) for an event.

        `actions` gives local folders for actions, such as `{"acme/kix@v1": Path(…)}`. The checkout must be a git
        repository with a commit; it gets a remote of the repository's name when it has none. Jobs see `environment`
        (API addresses, say), the secrets, GITHUB_TOKEN, and `path` as PATH (this process's when not given).
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        _name_remote(checkout, repository)
        written = self.folder / "event.json"
        written.write_text(json.dumps(payload))
        command = [str(ACT.get("bin/act")), event, "--json", "--no-cache-server", "--workflows", workflow]
        command += ["--eventpath", str(written), "--actor", actor, "--platform", "ubuntu-latest=-self-hosted"]
        for name, folder in (actions or {}).items():
            command += ["--local-repository", f"{name}={folder}"]
        for name, value in (environment or {}).items():
            command += ["--env", f"{name}={value}"]
        for name, value in {"GITHUB_TOKEN": TOKEN, **(secrets or {})}.items():
            command += ["--secret", f"{name}={value}"]
        clean = {"HOME": str(self.folder), "PATH": os.environ["PATH"] if path is None else path}
        done = subprocess.run(command, cwd=checkout, env=clean, check=False, capture_output=True, text=True)
        return _read(done)


def _name_remote(checkout: Path, repository: str) -> None:
    git = ["git", "-C", str(checkout), "remote"]
    if not subprocess.check_output(git, text=True).split():
        subprocess.run([*git, "add", "origin", f"https://github.com/{repository}.git"], check=True)


def _read(done: subprocess.CompletedProcess[str]) -> ActRun:
    log, summary = [], []
    outputs: dict[str, str] = {}
    results: dict[str, str] = {}
    for line in (done.stdout + done.stderr).splitlines():
        entry = json.loads(line) if line.startswith("{") else {"msg": line}
        message = str(entry.get("msg", "")).rstrip("\n")
        match entry.get("command"):
            case "set-output":
                outputs[entry["name"]] = entry["arg"]
            case "summary" if len(entry["stepID"]) == 1:  # a composite action's is told again for each of its steps
                summary.append(entry["content"])
            case _:
                log.append(message if entry.get("raw_output") else f"act: {message}")
        if "jobResult" in entry:
            results[entry["jobID"]] = entry["jobResult"]
    return ActRun(
        ok=done.returncode == 0, log="\n".join(log), outputs=outputs, summary="".join(summary), results=results
    )
