"""Trees to evaluate, and both versions of Nix to evaluate them with."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from kixbot.sources.tree import Tree, working_tree
from tests.parts.second_nix import Nix

MakeTree = Callable[..., Tree]


@pytest.fixture
def make_tree(tmp_path: Path) -> MakeTree:
    """`make_tree({"a.nix": "…"}, folder="x")` writes files and gives them as a tree."""

    def make(files: dict[str, str], folder: str = "tree") -> Tree:
        root = tmp_path / folder
        for name, text in files.items():
            place = root / name
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(text)
        return working_tree(root)

    return make


@pytest.fixture(params=["first", "second"])
def each_nix(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Puts one Nix after the other first on PATH; gives its version."""
    nix: Nix = request.getfixturevalue(f"{request.param}_nix")
    # The unpacked Nix is started by a shell script that looks up programs; kix gives it an empty PATH.
    folder = tmp_path / "nix-bin"
    folder.mkdir()
    for name in ("nix-store", "nix-instantiate"):
        script = folder / name
        script.write_text(f'#!/bin/sh\nPATH=/usr/bin:/bin exec {nix.folder / name} "$@"\n')
        script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return nix.version
