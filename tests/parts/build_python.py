"""Installs Python packages that must not stand in the environment itself: another version of one that does."""

import sys
from pathlib import Path

from tests.parts.commands import run
from tests.parts.paths import HERE, Part


def make(part: Part, folder: Path) -> str:
    """Installs exactly what the part's lock file names into folder/packages; returns the version of Python."""
    target: list[str | Path] = ["--target", folder / "packages", "--python", sys.executable]
    uv = Path(sys.executable).with_name("uv")
    run([uv, "pip", "install", "--compile-bytecode", *target, "--require-hashes", "-r", HERE / part.recipe[0]])
    return f"Python {sys.version.split()[0]}"
