"""The global options of one invocation, handed to each command."""

from dataclasses import dataclass
from pathlib import Path

from kixbot.cli.console import Console


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """`directory` is where paths are relative to (`-C`), `config` the kix.toml named by `--config`."""

    directory: Path
    console: Console
    config: Path | None = None
    context: str | None = None
