"""The wheels that action.yml installs, fetched once per lock into the project's cache, so that act needs no network."""

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.parts.paths import PROJECT, cache

LOCKS = (PROJECT / "kixbot" / "requirements.txt", PROJECT / "tests" / "parts" / "requirements-uv.txt")


def find_python() -> str:
    """The python3 that a runner would find on PATH, with pip: not a virtual environment's."""
    for folder in os.environ["PATH"].split(os.pathsep):
        python = Path(folder) / "python3"
        if python.exists() and not (Path(folder).parent / "pyvenv.cfg").exists():
            return str(python)
    return sys.executable


def wheelhouse() -> Path:
    """The folder; filled under a lock, whole or not at all."""
    digest = hashlib.sha256(b"".join(lock.read_bytes() for lock in LOCKS)).hexdigest()[:12]
    folder = cache() / f"wheelhouse-{digest}-py{sys.version_info[0]}{sys.version_info[1]}"
    cache().mkdir(parents=True, exist_ok=True)
    with (cache() / "wheelhouse.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.is_dir():
            making = folder.with_suffix(".making")
            shutil.rmtree(making, ignore_errors=True)
            for file in LOCKS:
                command = [find_python(), "-m", "pip", "download", "--quiet", "--no-deps", "--require-hashes"]
                subprocess.run([*command, "-r", str(file), "-d", str(making)], check=True)
            making.rename(folder)
    return folder
