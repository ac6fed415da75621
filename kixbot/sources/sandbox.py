"""A child process that may do nothing but compute: no environment, no network where that can be had, bounds on all.

Its output is read up to a cap, of its messages the tail is kept, and it is killed with all its children when its time
is over. How it ended is told apart, since people need to know whether to fix a definition or a machine.
"""

import functools
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import IO

from kixbot.sources import launch


class End(Enum):
    """How a child ended."""

    EXITED = "exited"
    KILLED = "killed"
    TIMED_OUT = "timed out"
    OUT_OF_CPU = "used up its processor time"
    TOO_MUCH_OUTPUT = "printed too much"


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """Memory in bytes, time in seconds. `seconds` is wall time."""

    address_space: int = 4 * 2**30
    stack: int = 256 * 2**20
    cpu_seconds: int = 300
    file_size: int = 2**30
    seconds: float = 300
    output: int = 256 * 2**20
    messages: int = 2**20


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a child said. `code` is its exit code when it exited, else the signal's number."""

    end: End
    code: int
    output: bytes
    messages: str


def run(
    command: Sequence[str],
    *,
    env: Mapping[str, str],
    folder: Path,
    bounds: Bounds | None = None,
    stdin: IO[bytes] | None = None,
    network: bool = True,
    confined: bool = False,
) -> Outcome:
    """Run a program by its absolute path with exactly this environment, in a session of its own.

    `network=False` takes the network away where the machine allows it (`isolation`). `confined` leaves the program
    `folder` alone, beside what programs need to run, where the kernel has Landlock.
    """
    limits = bounds or Bounds()
    wrapped = [
        *(() if network else isolation()),
        sys.executable, "-I", "-S", launch.__file__, str(limits.address_space), str(limits.stack),
        str(limits.cpu_seconds), str(limits.file_size), str(folder) if confined else "", *command,
    ]  # fmt: skip
    with subprocess.Popen(
        wrapped,
        stdin=stdin if stdin is not None else subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(env),
        cwd=folder,
        start_new_session=True,
    ) as process:
        return _watch(process, limits)


def _watch(process: "subprocess.Popen[bytes]", limits: Bounds) -> Outcome:
    assert process.stdout is not None
    assert process.stderr is not None
    out = _Head(process.stdout, limits.output, lambda: _kill(process))
    err = _Tail(process.stderr, limits.messages)
    late = threading.Event()

    def end_it() -> None:
        late.set()
        _kill(process)

    timer = threading.Timer(limits.seconds, end_it)
    timer.start()
    try:
        _, status, used = os.wait4(process.pid, 0)
    except BaseException:
        _kill(process)
        raise
    finally:
        timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    # What the child leaves running holds the pipes: it is ended with the group.
    _kill(process)
    out.join(1)
    err.join(1)
    return Outcome(
        end=_end(process.returncode, used.ru_utime + used.ru_stime, limits, is_late=late.is_set(), out=out),
        code=abs(process.returncode),
        output=out.data,
        messages=err.data.decode(errors="replace"),
    )


def _end(code: int, cpu_seconds: float, limits: Bounds, *, is_late: bool, out: "_Head") -> End:
    if out.overflowed:
        return End.TOO_MUCH_OUTPUT
    if is_late:
        return End.TIMED_OUT
    if code >= 0:
        return End.EXITED
    # SIGXCPU says it, but a garbage collector may use that signal for itself; then SIGKILL follows.
    return End.OUT_OF_CPU if cpu_seconds >= limits.cpu_seconds - 0.1 else End.KILLED


def _kill(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return


@functools.cache
def isolation() -> tuple[str, ...]:
    """The prefix that takes the network away: `unshare -n` as root, `-rn` as a user; empty where neither works."""
    unshare = shutil.which("unshare")
    nothing = shutil.which("true")
    if unshare is None or nothing is None:
        return ()
    flags = "-n" if os.geteuid() == 0 else "-rn"
    tried = subprocess.run([unshare, flags, nothing], capture_output=True, check=False, stdin=subprocess.DEVNULL)
    return (unshare, flags) if tried.returncode == 0 else ()


class _Head(threading.Thread):
    """Reads a stream up to a cap; past it, calls `overflow` and drops the rest."""

    def __init__(self, stream: IO[bytes], cap: int, overflow: Callable[[], None]) -> None:
        super().__init__(daemon=True)
        self._stream, self._cap, self._overflow = stream, cap, overflow
        self._chunks: list[bytes] = []
        self.overflowed = False
        self.start()

    def run(self) -> None:
        size = 0
        while chunk := self._stream.read(2**16):
            size += len(chunk)
            if size > self._cap:
                self.overflowed = True
                self._chunks.clear()
                self._overflow()
                return
            self._chunks.append(chunk)

    @property
    def data(self) -> bytes:
        """What was read."""
        return b"".join(self._chunks)


class _Tail(threading.Thread):
    """Reads a stream to its end and keeps the last bytes."""

    def __init__(self, stream: IO[bytes], cap: int) -> None:
        super().__init__(daemon=True)
        self._stream, self._cap = stream, cap
        self.data = b""
        self.start()

    def run(self) -> None:
        while chunk := self._stream.read(2**16):
            self.data = (self.data + chunk)[-self._cap :]
