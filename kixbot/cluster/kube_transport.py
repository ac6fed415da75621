"""The transport to an API server: the kubernetes client's connection pool and authentication, and nothing else of it.

No library retries: urllib3 would silently repeat GET, PUT and DELETE on 429 and never PATCH.
"""

import base64
import binascii
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final
from urllib.parse import urlencode

import urllib3
from kubernetes.client.api_client import ApiClient
from urllib3.exceptions import HTTPError, SSLError

from kixbot.cluster.faults import BusyError, RequestError, UnreachableError, fault_of
from kixbot.retry import Clock, RetryLaterError, cluster_policy

CONNECT_SECONDS: Final = 10.0
READ_SECONDS: Final = 60.0  # the API server's own limit of a request
JSON: Final = "application/json"


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One HTTP request. `what` says it in words and starts every error's message; empty query values are left out."""

    method: str
    path: str
    what: str
    query: Mapping[str, str] = field(default_factory=dict)
    body: Mapping[str, Any] | Sequence[Mapping[str, Any]] | None = None
    content_type: str = JSON
    accept: str = JSON
    read_seconds: float = READ_SECONDS
    stream: bool = False


class KubeTransport:
    """Sends calls to one API server. `name` is the context people chose it by."""

    def __init__(self, client: ApiClient, *, name: str, clock: Clock) -> None:
        self._name, self._client, self._clock = name, client, clock
        self._pool: urllib3.PoolManager = client.rest_client.pool_manager
        self._host = str(client.configuration.host).rstrip("/")
        self._answered = False

    def send(self, call: Call) -> dict[str, Any]:
        """The decoded answer. Raises faults."""
        response = self.open(call)
        decoded = _decoded(response.data)
        if decoded is None:
            raise RequestError(f"{call.what}: the API server's answer is no JSON", status=response.status)
        return decoded

    def again(self, send: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Tried again while the API server is busy; while it does not answer only if it ever did."""
        result: dict[str, Any] = {}
        for attempt in cluster_policy(self._clock):
            with attempt:
                try:
                    result = send()
                except BusyError as error:
                    raise RetryLaterError(error) from error
                except UnreachableError as error:
                    if not self._answered:
                        raise
                    raise RetryLaterError(error) from error
        return result

    def open(self, call: Call) -> urllib3.BaseHTTPResponse:
        """The response, read already unless streamed. Raises faults for a status of 300 and more."""
        headers = {"Accept": call.accept, "User-Agent": "kix"}
        for setting in self._client.configuration.auth_settings().values():
            headers[str(setting["key"])] = str(setting["value"])
        payload = None
        if call.body is not None:
            headers["Content-Type"] = call.content_type
            payload = json.dumps(call.body, ensure_ascii=False).encode()
        asked = urlencode({name: value for name, value in call.query.items() if value})
        try:
            response = self._pool.request(
                call.method,
                f"{self._host}{call.path}{'?' + asked if asked else ''}",
                body=payload,
                headers=headers,
                timeout=urllib3.Timeout(connect=CONNECT_SECONDS, read=call.read_seconds),
                retries=False,
                redirect=False,
                preload_content=not call.stream,
            )
        except HTTPError as error:
            raise self.unreachable(error) from error
        self._answered = True
        if response.status >= 300:
            raise _refused(response, call)
        return response

    def unreachable(self, error: Exception) -> UnreachableError:
        """The error for a connection that failed or broke."""
        if isinstance(error, SSLError) or isinstance(error.__cause__, SSLError):
            return UnreachableError(
                f"cluster {self._name}: {self._host} is not trusted: {_cause(error)}",
                hint="check the context's certificate-authority",
            )
        return UnreachableError(
            f"cluster {self._name}: no answer from {self._host}: {_cause(error)}",
            hint="is the cluster up, and the VPN? kubectl get --raw /readyz",
        )

    def close(self) -> None:
        """Close the pool."""
        self._pool.clear()


def _refused(response: urllib3.BaseHTTPResponse, call: Call) -> RequestError:
    data = response.data
    content_type = response.headers.get("Content-Type", "")
    fault = fault_of(response.status, content_type, _decoded(data), data.decode("utf-8", "replace"), what=call.what)
    return _without_secrets(fault, call.body if isinstance(call.body, Mapping) else None)


def _cause(error: Exception) -> str:
    text = str(error).lower()
    for known in ("connection refused", "timed out", "name or service not known", "certificate verify failed",
                  "connection reset", "no route to host", "temporary failure in name resolution"):  # fmt: skip
        if known in text:
            return known
    return type(error).__name__


def _decoded(data: bytes) -> dict[str, Any] | None:
    try:
        body = json.loads(data)
    except ValueError:
        return None
    return body if isinstance(body, dict) else None


def _without_secrets(fault: RequestError, sent: Mapping[str, Any] | None) -> RequestError:
    """An API server quotes what it refuses; values of a Secret must not come back in an error."""
    if (sent or {}).get("kind") != "Secret":
        return fault
    values: set[str] = set()
    for value in ((sent or {}).get("data") or {}).values():
        values.add(str(value))
        try:
            values.add(base64.b64decode(str(value)).decode())
        except (binascii.Error, ValueError):
            continue
    for value in sorted(values, key=len, reverse=True):
        if value:
            fault.message = fault.message.replace(value, "(secret)")
    fault.args = (fault.message,)
    return fault
