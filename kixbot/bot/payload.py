"""Reads values out of a CI environment and its payload, and names what is missing or of the wrong type."""

import re
from collections.abc import Mapping
from typing import Any

from kixbot.errors import UsageError

SHA = re.compile(r"[0-9a-f]{40}")


def get_sha(environment: Mapping[str, str], variable: str) -> str:
    """The commit an environment variable holds. Raises UsageError when it holds none."""
    value = environment.get(variable, "")
    if not SHA.fullmatch(value):
        raise UsageError(f"{variable}: not a commit of 40 hex digits", hint="run kixbot inside a CI job")
    return value


def known_sha(value: str | None) -> str | None:
    """The commit that a field holds, None for no commit and for the zeros of a branch that was not there."""
    return value if value and SHA.fullmatch(value) and value.strip("0") else None


class Payload:
    """Reads a payload by dotted paths, and names the path that is missing or of the wrong type."""

    def __init__(self, event: str, payload: Mapping[str, Any]) -> None:
        self._event = event
        self._payload = payload

    def find(self, path: str) -> Any:
        """The value at `path`, None when absent or null."""
        value: Any = self._payload
        for part in path.split("."):
            if not isinstance(value, Mapping):
                return None
            value = value.get(part)
        return value

    def find_text(self, path: str) -> str | None:
        """The string at `path`, None when absent, empty or not a string."""
        value = self.find(path)
        return value if isinstance(value, str) and value else None

    def get_text(self, path: str) -> str:
        """The string at `path`."""
        value = self.find_text(path)
        if value is None:
            raise self._error(path, "a text")
        return value

    def get_number(self, path: str) -> int:
        """The positive integer at `path`."""
        value = self.find(path)
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise self._error(path, "a number")
        return value

    def get_sha(self, path: str) -> str:
        """The commit at `path`."""
        value = self.find(path)
        if not isinstance(value, str) or not SHA.fullmatch(value):
            raise self._error(path, "a commit of 40 hex digits")
        return value

    def _error(self, path: str, expected: str) -> UsageError:
        return UsageError(
            f"event {self._event}: its payload holds no {path} that is {expected}",
            hint="the payload is the file GITHUB_EVENT_PATH names; leave it as the forge wrote it",
        )
