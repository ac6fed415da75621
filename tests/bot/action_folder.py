"""The action as a user's runner gets it: a copy of the files it needs, apart from the tree that people and tests change.

act copies an action's folder before each job; a file of a cache that vanishes meanwhile would fail it.
"""

import shutil
from pathlib import Path

from tests.parts.paths import PROJECT

UV_LOCK = Path("tests/parts/requirements-uv.txt")


def action_folder(folder: Path) -> Path:
    """A new `folder` with the action in it."""
    unwanted = shutil.ignore_patterns("__pycache__")
    for name in ("kixbot", "templates"):
        shutil.copytree(PROJECT / name, folder / name, symlinks=True, ignore=unwanted)
    (folder / UV_LOCK).parent.mkdir(parents=True)
    for file in (Path("action.yml"), UV_LOCK):
        shutil.copyfile(PROJECT / file, folder / file)
    return folder
