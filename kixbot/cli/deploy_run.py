"""What deploy and rollback share: options that say times, events as lines, and an end by SIGTERM that is clean."""

import getpass
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime

from kixbot.cli.console import Console
from kixbot.errors import UsageError
from kixbot.ops.events import Event, Finished, Planned
from kixbot.output import deploy_log
from kixbot.output.deploy_text import Progress, plan_text, waves_text
from kixbot.output.plan_text import text as diff_text
from kixbot.output.receipt_text import receipt_text

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?")


def seconds_of(text: str) -> float:
    """`90`, `90s`, `5m`, `1h30m` in seconds. Raises UsageError."""
    found = _DURATION.fullmatch(text.strip())
    if not text.strip() or found is None or not any(found.groups()):
        raise UsageError(f"{text!r}: no duration", hint="write 90s, 5m or 1h30m")
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(hours * 3600 + minutes * 60 + seconds)


def user() -> str:
    """Who runs this process."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def holder() -> str:
    """What the lock says while this process holds it."""
    return f"{user()}@{socket.gethostname()}/{os.getpid()}"


class Printer:
    """Events to the terminal: the plan, the waves and the receipt are results, what goes on in between are notes."""

    def __init__(self, console: Console, *, log_format: str) -> None:
        self._console, self._json = console, log_format == "json"
        self._progress: Progress | None = None

    def say(self, event: Event) -> None:
        """Say one event."""
        if self._json:
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            self._console.result(deploy_log.line(event, now))
            sys.stdout.flush()
            return
        if isinstance(event, Planned):
            self._progress = Progress(event.plan)
            rest = plan_text(event.plan).removeprefix(waves_text(event.plan.waves))
            for line in f"{diff_text(event.plan).rstrip()}{rest}".rstrip().split("\n"):
                self._console.note(line)
            self._console.result(waves_text(event.plan.waves))
        elif isinstance(event, Finished):
            self._console.result(receipt_text(event.receipt))
        elif self._progress is not None:
            for line in self._progress.lines(event):
                self._console.note(line)


@contextmanager
def termination() -> Iterator[None]:
    """CI ends jobs by SIGTERM: it is then an interruption, so that the record is marked and the lock let go."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
