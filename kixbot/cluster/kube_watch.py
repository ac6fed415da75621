"""A watch on a real API server: one JSON event a line."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import urllib3
from urllib3.exceptions import HTTPError

from kixbot.cluster.faults import UnreachableError, fault_of
from kixbot.cluster.interface import ApiKind, WatchEvent


class KubeWatch:
    """Iterates over a streaming response. Bookmarks are swallowed; an ERROR event is raised as its fault."""

    def __init__(
        self,
        response: urllib3.BaseHTTPResponse,
        kind: ApiKind,
        *,
        what: str,
        unreachable: Callable[[Exception], UnreachableError],
    ) -> None:
        self._response, self._kind, self._what, self._unreachable = response, kind, what, unreachable
        self._closed = False

    def __iter__(self) -> Iterator[WatchEvent]:
        try:
            for line in self._lines():
                event = self._event(line)
                if event is not None:
                    yield event
        finally:
            self._response.close()

    def _lines(self) -> Iterator[bytes]:
        rest = b""
        try:
            for chunk in self._response.stream(65536, decode_content=True):
                *lines, rest = (rest + chunk).split(b"\n")
                yield from (line for line in lines if line.strip())
        except (HTTPError, OSError, ValueError, AttributeError) as error:
            # Closing from another thread surfaces as any of these in the one that reads.
            if not self._closed:
                raise self._unreachable(error) from error

    def _event(self, line: bytes) -> WatchEvent | None:
        try:
            document: dict[str, Any] = json.loads(line)
            body: dict[str, Any] = document.get("object") or {}
        except (ValueError, AttributeError) as error:
            raise self._unreachable(error) from error
        match document.get("type"):
            case "ADDED" | "MODIFIED" | "DELETED" as kind:
                typed = {**body, "apiVersion": self._kind.api_version, "kind": self._kind.kind}
                return WatchEvent(type=kind, body=typed)
            case "ERROR":
                raise fault_of(int(body.get("code") or 500), "application/json", body, "", what=self._what)
        return None

    def close(self) -> None:
        """End it, from any thread."""
        self._closed = True
        try:
            self._response.shutdown()
        except (AttributeError, ValueError, OSError, RuntimeError):
            self._response.close()
