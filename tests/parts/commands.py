"""Runs a command of setup: silent when it works, its whole output when it does not."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path


class CommandError(Exception):
    """A command of setup failed; what it said has been printed."""


def run(command: Sequence[str | Path], *, cwd: Path | None = None, environment: Mapping[str, str] | None = None) -> str:
    """Returns its standard output."""
    done = subprocess.run(
        list(map(str, command)), cwd=cwd, env=environment, check=False, capture_output=True, text=True
    )
    if done.returncode != 0:
        print(done.stdout + done.stderr, file=sys.stderr)
        raise CommandError(f"{' '.join(map(str, command))}: exited with {done.returncode}")
    return done.stdout.strip()
