"""A watch on the embedded cluster: compare what is there with what was, a few times a second."""

import time
from collections.abc import Callable, Iterator
from typing import Any

from kixbot.cluster.interface import WatchEvent


class MemoryWatch:
    """`read` gives the objects now; events are those with a resourceVersion after `since`, and what went away."""

    def __init__(self, read: Callable[[], list[dict[str, Any]]], *, since: int, seconds: float) -> None:
        self._read = read
        self._since, self._deadline, self._closed = since, time.monotonic() + seconds, False

    def __iter__(self) -> Iterator[WatchEvent]:
        known: dict[tuple[str, str], dict[str, Any]] = {}
        while not self._closed and time.monotonic() < self._deadline:
            now = {_place(body): body for body in self._read()}
            for place in sorted(known.keys() - now.keys()):
                yield WatchEvent(type="DELETED", body=known[place])
            for body in sorted(now.values(), key=_version):
                if _version(body) > self._since:
                    self._since = _version(body)
                    yield WatchEvent(type="MODIFIED", body=body)
            known = now
            time.sleep(0.02)

    def close(self) -> None:
        """End the iteration at its next turn."""
        self._closed = True


def _place(body: dict[str, Any]) -> tuple[str, str]:
    return str(body["metadata"].get("namespace", "")), str(body["metadata"]["name"])


def _version(body: dict[str, Any]) -> int:
    return int(body["metadata"]["resourceVersion"])
