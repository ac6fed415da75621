"""Installs the npm packages that tests read as data: GitHub's published API description, webhooks and recordings."""

import shutil
import sys
from pathlib import Path

from tests.parts.commands import run
from tests.parts.paths import HERE, Part

OPENAPI = "api.github.com.json"  # 13 MB; the others (with references resolved, and of other servers) are 372 MB


def make(part: Part, folder: Path) -> str:
    """Installs exactly what npm/package-lock.json names, running no package's scripts; returns npm's version."""
    for name in ("package.json", "package-lock.json"):
        shutil.copyfile(HERE / part.recipe[0] / name, folder / name)
    own = Path(sys.executable).with_name("npm")
    npm = str(own) if own.exists() else "npm"
    options = ["--ignore-scripts", "--no-audit", "--no-fund", "--cache", str(folder / "npm-cache")]
    run([npm, "ci", *options], cwd=folder)
    shutil.rmtree(folder / "npm-cache", ignore_errors=True)
    for file in (folder / "node_modules" / "@octokit" / "openapi" / "generated").glob("*.json"):
        if file.name != OPENAPI:
            file.unlink()
    return f"npm {run([npm, '--version'])}"
