"""Runs a GitLab CI pipeline on this machine, without containers, as `gitlab-ci-local` does it.

A component of the checkout itself is found without a network when it is included at `$CI_COMMIT_SHA`:
`component: $CI_SERVER_FQDN/$CI_PROJECT_PATH/NAME@$CI_COMMIT_SHA`.
"""

import os
import re
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.parts.paths import NODE_MODULES

# A job's line: the job's name, padded, then `>` and what the job printed.
PRINTED = re.compile(r"^(\S+)\s+> (.*)$")


@dataclass(frozen=True, slots=True, kw_only=True)
class GitlabRun:
    """What a pipeline did."""

    ok: bool
    log: str
    """Everything that was printed."""
    printed: dict[str, str]
    """Job name to what the job itself printed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GitlabCi:
    """gitlab-ci-local with a home of its own in `folder`."""

    folder: Path

    def run(
        self, checkout: Path, *, variables: Mapping[str, str], repository: str = "acme/shop", path: str | None = None
    ) -> GitlabRun:
        """Runs the whole pipeline of the checkout, which must be a git repository with a commit.

        `variables` are what GitLab would set, such as CI_PIPELINE_SOURCE and CI_API_V4_URL. Artifacts are written into
        the checkout. `path` is PATH for the jobs (this process's when not given).
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        git = ["git", "-C", str(checkout), "remote"]
        if not subprocess.check_output(git, text=True).split():
            subprocess.run([*git, "add", "origin", f"https://gitlab.com/{repository}.git"], check=True)
        node = str(Path(sys.executable).with_name("node"))
        command = [node, str(NODE_MODULES.get("node_modules/gitlab-ci-local/dist/index.js"))]
        command += ["--force-shell-executor", "--no-color"]
        for name, value in variables.items():
            command += ["--variable", f"{name}={value}"]
        clean = {"HOME": str(self.folder), "PATH": os.environ["PATH"] if path is None else path}
        done = subprocess.run(command, cwd=checkout, env=clean, check=False, capture_output=True, text=True)
        log = done.stdout + done.stderr
        printed: dict[str, list[str]] = {}
        for line in log.splitlines():
            if found := PRINTED.match(line):
                printed.setdefault(found[1], []).append(found[2])
        return GitlabRun(
            ok=done.returncode == 0, log=log, printed={job: "\n".join(lines) for job, lines in printed.items()}
        )
