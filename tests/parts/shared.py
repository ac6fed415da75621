"""One control plane for a whole test run, however many workers pytest-xdist has.

The first worker that asks starts a keeper, a process of its own that no worker waits for; the others find it. The
keeper ends with the run: it watches the process that owns the run (xdist's controller, or pytest itself) and stops
everything when that is gone, in whichever way it went.
"""

import fcntl
import os
import select
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.parts.access import Access, User
from tests.parts.control_plane import ControlPlane
from tests.parts.paths import PROJECT
from tests.parts.processes import StartError, tail

# Users that tests may bind roles to. Names are shared by all tests of a run: bind them in a test's own namespaces.
USERS = (User(name="editor"), User(name="viewer"), User(name="nobody"))
PATIENCE = 120.0


def shared_control_plane(folder: Path, owner: int) -> Access:
    """The control plane whose keeper lies in this folder, started when there is none yet; `owner` is a process id."""
    folder.mkdir(parents=True, exist_ok=True)
    answer, log = folder / "access.json", folder / "keeper.log"
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not answer.is_file():
            _start_keeper(folder, owner, log)
            deadline = time.monotonic() + PATIENCE
            while not answer.is_file():
                if (folder / "failed").exists() or time.monotonic() > deadline:
                    raise StartError(f"the shared control plane did not start; {log}:\n{tail(log, 40)}")
                time.sleep(0.05)
    return Access.from_json(answer.read_text())


def _start_keeper(folder: Path, owner: int, log: Path) -> None:
    """Starts the keeper as nobody's child, so that pytest neither waits for it nor warns about it."""
    (folder / "failed").unlink(missing_ok=True)
    command = [sys.executable, "-m", "tests.parts.shared", str(folder), str(owner)]
    with log.open("ab") as output:
        subprocess.run(
            command, cwd=PROJECT, stdin=subprocess.DEVNULL, stdout=output, stderr=output, check=True, close_fds=True
        )


def _keep(folder: Path, owner: int) -> None:
    watched = os.pidfd_open(owner)
    plane = ControlPlane(folder / "plane", users=USERS)
    try:
        access = plane.start()
        written = folder / "access.json.new"
        written.write_text(access.to_json())
        written.rename(folder / "access.json")
        select.select([watched], [], [])
    finally:
        (folder / "failed").touch()
        (folder / "access.json").unlink(missing_ok=True)
        plane.stop()
        shutil.rmtree(folder / "plane" / "etcd", ignore_errors=True)


def main() -> int:
    folder, owner = Path(sys.argv[1]), int(sys.argv[2])
    if os.fork():
        return 0
    os.setsid()
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    _keep(folder, owner)
    return 0


if __name__ == "__main__":
    sys.exit(main())
