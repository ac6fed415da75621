"""kix as people type it, in this process: arguments to exit code, stdout and stderr."""

from pathlib import Path

from kixbot.boundary import guard
from kixbot.cli.console import Console
from kixbot.cli.main import run


def kix(folder: Path, *words: str) -> int:
    """Run kix in a folder; output goes to stdout and stderr."""
    return guard(lambda: run(["-C", str(folder), *words]), Console().say_error)
