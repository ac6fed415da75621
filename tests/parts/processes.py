"""Child processes that cannot outlive whoever started them."""

import contextlib
import os
import random
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

_given: set[int] = set()


class StartError(Exception):
    """A part exited or did not answer in time; the message holds the end of its log."""


def spawn(command: Sequence[str | Path], *, log: Path, environment: Mapping[str, str] | None = None) -> "Process":
    """Starts a command in a process group of its own. The kernel kills it when the calling thread ends."""
    arguments = ["setpriv", "--pdeathsig", "KILL", "--", *map(str, command)]
    with log.open("ab") as output:
        child = subprocess.Popen(
            arguments,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=dict(os.environ if environment is None else environment),
            start_new_session=True,
        )
    return Process(child, log)


class Process:
    """One running part."""

    def __init__(self, child: subprocess.Popen[bytes], log: Path) -> None:
        self._child = child
        self.log = log

    @property
    def pid(self) -> int:
        return self._child.pid

    @property
    def is_running(self) -> bool:
        return self._child.poll() is None

    def stop(self, *, patience: float = 5.0) -> None:
        """Ends the whole process group: asks first, kills after `patience` seconds, and returns when it is gone."""
        self.signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._child.wait(patience)
        self.kill()

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self._child.wait()

    def signal(self, number: signal.Signals) -> None:
        """Sends a signal to the group, such as SIGSTOP for a part that hangs."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._child.pid, number)

    def wait_until(self, is_ready: Callable[[], bool], *, within: float) -> None:
        """Asks until it is ready; raises StartError when the process has exited or the seconds are over."""
        deadline = time.monotonic() + within
        while not is_ready():
            if not self.is_running:
                raise StartError(f"{self.log.stem}: exited with {self._child.returncode}\n{tail(self.log)}")
            if time.monotonic() > deadline:
                raise StartError(f"{self.log.stem}: not ready within {within:.0f} s\n{tail(self.log)}")
            time.sleep(0.05)


def free_port() -> int:
    """A loopback port that nobody listens on, from below the range that outgoing connections take theirs from."""
    while True:
        port = random.randrange(20_000, 32_000)
        if port in _given:
            continue
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        _given.add(port)
        return port


def is_listening(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def tail(log: Path, lines: int = 15) -> str:
    return "\n".join(log.read_text(errors="replace").splitlines()[-lines:])
