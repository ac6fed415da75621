"""What a run leaves in its CI job: outputs, job summary, annotations, files, and a log that nothing steers.

GitHub reads workflow commands out of every line of the log, and outputs out of a file with delimiters; both are
closed to values from outside here.
"""

import os
import re
import secrets
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Literal, TextIO

from kixbot.output.budget import SUMMARY_BYTES, utf8_bytes
from kixbot.output.terminal import escape, escape_block

_SECTION = re.compile(r"section_(start|end):\d+:", re.ASCII)
_SHORT = 4096
"""Characters of one output; longer texts go through files."""
_MOST_ANNOTATIONS = 10
"""Of each level, per step: GitHub shows no more."""

Level = Literal["error", "warning", "notice"]


def log_line(text: str) -> str:
    """One line for a CI log: controls escaped, workflow commands and section marks broken."""
    broken = escape(text).replace("::", ": :").replace("##[", "## [").replace("##vso[", "## vso [")
    return _SECTION.sub(lambda match: match.group().replace(":", " "), broken)


class Outputs:
    """Writes for one run. `environment` is the CI's; `folder` takes files (made when the first is written)."""

    def __init__(
        self, environment: Mapping[str, str], folder: Path | None = None, stream: TextIO | None = None
    ) -> None:
        self._environment = environment
        self._folder = folder
        self._stream = stream or sys.stdout
        self._annotated: dict[str, int] = {}
        self.values: dict[str, str] = {}

    def say(self, text: str) -> None:
        """Lines for the log, made harmless."""
        for line in text.split("\n"):
            print(log_line(line), file=self._stream, flush=True)

    def mask(self, secret: str) -> None:
        """Tells the CI never to show a secret, each of its lines."""
        if self._is_github:
            for line in secret.splitlines():
                if line.strip():
                    print(f"::add-mask::{line}", file=self._stream, flush=True)

    def set(self, name: str, value: object) -> None:
        """An output of the action. A long value is cut: it belongs into a file."""
        text = str(value)[:_SHORT]
        self.values[name] = text
        target = self._environment.get("GITHUB_OUTPUT")
        if target:
            delimiter = f"kix-{secrets.token_hex(16)}"
            with Path(target).open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"{name}<<{delimiter}\n{text}\n{delimiter}\n")

    def summary(self, render: Callable[[int], str]) -> None:
        """The job summary: `render` gets the bytes that are left of the step's limit."""
        target = self._environment.get("GITHUB_STEP_SUMMARY")
        if not target:
            return
        path = Path(target)
        used = path.stat().st_size if path.exists() else 0
        text = render(max(SUMMARY_BYTES - used - 1, 0))
        if used + utf8_bytes(text) < SUMMARY_BYTES:
            with path.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(text + "\n")

    def annotate(self, level: Level, message: str, *, file: str | None = None, line: int | None = None) -> None:
        """A note at a line of the change, by a workflow command; past what is shown, nothing."""
        if not self._is_github or self._annotated.get(level, 0) >= _MOST_ANNOTATIONS:
            return
        self._annotated[level] = self._annotated.get(level, 0) + 1
        places = [f"file={_property(file)}"] if file else []
        places += [f"line={line}"] if file and line else []
        places.append("title=kix")
        print(f"::{level} {','.join(places)}::{_data(message)}", file=self._stream, flush=True)

    def write(self, name: str, text: str) -> Path:
        """A file of this run, replaced as one step; gives its path."""
        if self._folder is None:
            self._folder = Path(tempfile.mkdtemp(prefix="kix-", dir=self._environment.get("RUNNER_TEMP") or None))
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / name
        handle, temporary = tempfile.mkstemp(dir=self._folder, prefix=".new-")
        with os.fdopen(handle, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
        Path(temporary).replace(path)
        path.chmod(0o644)
        return path

    @property
    def _is_github(self) -> bool:
        return bool(self._environment.get("GITHUB_ACTIONS"))


def _data(text: str) -> str:
    return escape_block(text).replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(text: str) -> str:
    return _data(text).replace(":", "%3A").replace(",", "%2C")
