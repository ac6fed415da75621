"""Two versions of Nix: the one on PATH, and Debian 13's, which lies in the cache."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.parts.paths import SECOND_NIX


class NixMissingError(Exception):
    """There is no Nix on PATH."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Nix:
    """One version of Nix; `folder` holds nix-instantiate and the rest."""

    folder: Path
    version: str

    def environment(self, base: Mapping[str, str] = os.environ) -> dict[str, str]:
        """The environment in which this one is found first."""
        return {**base, "PATH": f"{self.folder}{os.pathsep}{base.get('PATH', '')}"}

    def evaluate(self, expression: str) -> str:
        """The value of an expression as JSON text."""
        command = [str(self.folder / "nix-instantiate"), "--eval", "--strict", "--json", "--expr", expression]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def first_nix() -> Nix:
    found = shutil.which("nix-instantiate")
    if found is None:
        raise NixMissingError("nix-instantiate is not on PATH\nhint: make setup")
    return _nix(Path(found).parent)


def second_nix() -> Nix:
    return _nix(SECOND_NIX.get("bin/nix-instantiate").parent)


def _nix(folder: Path) -> Nix:
    command = [str(folder / "nix-instantiate"), "--version"]
    said = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return Nix(folder=folder, version=said.split()[-1])
