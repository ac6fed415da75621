"""The least of a Kubernetes client, for tests and stand-ins: JSON over urllib3 with a token.

It is not the project's own client and shares no code with it, so that a fault of that one cannot hide here.
"""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import urllib3

Body = dict[str, Any]


class ApiError(Exception):
    """The API server refused; `status` is the HTTP status."""

    def __init__(self, method: str, path: str, status: int, text: str) -> None:
        super().__init__(f"{method} {path}: {status}: {text}")
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeApi:
    """One user's door to an API server. Paths are whole, such as `/api/v1/namespaces`."""

    server: str
    token: str
    ca_file: Path
    pool: urllib3.PoolManager = field(init=False)

    def __post_init__(self) -> None:
        pool = urllib3.PoolManager(ca_certs=str(self.ca_file), maxsize=8, retries=False)
        object.__setattr__(self, "pool", pool)

    def call(self, method: str, path: str, body: Body | None = None, content_type: str = "application/json") -> Body:
        """Raises ApiError for every status from 400 on."""
        answer = self.pool.request(
            method,
            self.server + path,
            body=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": content_type},
            timeout=30,
        )
        text = answer.data.decode()
        if answer.status >= 400:
            raise ApiError(method, path, answer.status, text)
        decoded: Body = json.loads(text) if text.startswith("{") else {"text": text}
        return decoded

    def get(self, path: str) -> Body:
        return self.call("GET", path)

    def create(self, path: str, body: Body) -> Body:
        return self.call("POST", path, body)

    def delete(self, path: str) -> Body:
        return self.call("DELETE", path)

    def merge(self, path: str, body: Body) -> Body:
        """A JSON merge patch."""
        return self.call("PATCH", path, body, "application/merge-patch+json")

    def apply(self, path: str, body: Body, manager: str = "test") -> Body:
        """A server-side apply with force."""
        return self.call("PATCH", f"{path}?fieldManager={manager}&force=true", body, "application/apply-patch+yaml")

    def wait_for(self, path: str, is_so: Callable[[Body], bool], *, within: float = 30) -> Body:
        """Reads the path until the predicate holds (404 counts as not yet); raises TimeoutError with what it last saw."""
        deadline = time.monotonic() + within
        seen: Body = {}
        while time.monotonic() < deadline:
            try:
                seen = self.get(path)
            except ApiError as error:
                if error.status != 404:
                    raise
            else:
                if is_so(seen):
                    return seen
            time.sleep(0.05)
        raise TimeoutError(f"{path}: not so within {within:.0f} s: {json.dumps(seen)[:2000]}")

    def watch(self, path: str, *, seconds: int) -> Iterator[Body]:
        """The events of one watch from now on, existing objects first as ADDED; ends after these seconds."""
        answer = self.pool.request(
            "GET",
            f"{self.server}{path}?watch=1&timeoutSeconds={seconds}",
            headers={"Authorization": f"Bearer {self.token}"},
            timeout=urllib3.Timeout(connect=5, read=seconds + 5),
            preload_content=False,
        )
        try:
            if answer.status >= 400:
                raise ApiError("GET", path, answer.status, answer.read().decode())
            rest = b""
            for chunk in answer.stream(65536):
                *lines, rest = (rest + chunk).split(b"\n")
                yield from (json.loads(line) for line in lines if line)
        finally:
            answer.close()
            answer.release_conn()


def condition(body: Body, kind: str) -> str:
    """The status of a condition, or "" when there is none."""
    for item in body.get("status", {}).get("conditions") or []:  # a new CRD's are null
        if item["type"] == kind:
            return str(item["status"])
    return ""
