"""HTTP to a registry: sizes, redirects, limits, faults. Knows no images and no logins.

Authorization goes to the origin it was made for and to no other: a redirect or a page link that leaves it goes
without. A host that gave up (down, or limited for longer than kix waits) is not asked again in this run.
"""

import email.utils
import json
import re
import socket
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

import urllib3
from urllib3.exceptions import (
    ConnectTimeoutError,
    HTTPError,
    LocationParseError,
    NameResolutionError,
    NewConnectionError,
    ProxyError,
    ReadTimeoutError,
    SSLError,
)

from kixbot import __version__
from kixbot.errors import RegistryError
from kixbot.registry.addresses import AddressGuard, AddressRefusedError
from kixbot.registry.interface import (
    RegistryAnswerError,
    RegistryLimitedError,
    RegistryUnreachableError,
)
from kixbot.registry.oci_connections import Connections
from kixbot.registry.reference import is_plain
from kixbot.registry.urls import join, origin
from kixbot.retry import Clock, RetryLaterError, registry_policy
from kixbot.settings.model import RegistrySettings

MAX_BODY = 4 * 2**20  # the specification's own limit for a manifest
_MAX_REDIRECTS = 5
_TIMEOUT = urllib3.Timeout(connect=10, read=30)
_FAULTS = frozenset({500, 502, 503, 504})
_REDIRECTS = frozenset({301, 302, 303, 307, 308})


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """Status, headers (names in lower case, all values) and the whole body; `url` is where it came from at last."""

    status: int
    url: str
    headers: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    body: bytes = b""

    def header(self, name: str) -> str:
        """The first value of a header, or an empty text."""
        return next(iter(self.headers.get(name, ())), "")

    @property
    def code(self) -> str:
        """The registry's error code (`MANIFEST_UNKNOWN`), or an empty text: nothing else of an error is repeated."""
        try:
            code = json.loads(self.body)["errors"][0]["code"]
        except (ValueError, LookupError, TypeError, RecursionError):
            return ""
        return code if isinstance(code, str) and re.fullmatch(r"[A-Z0-9_]{1,64}", code) else ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """One request. `authorization` is a header's value; it is dropped where a redirect leaves the origin."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    authorization: str | None = field(default=None, repr=False)
    body: bytes | None = field(default=None, repr=False)


class Transport:
    """Sends requests; safe from several threads."""

    def __init__(self, rules: RegistrySettings, *, environment: Mapping[str, str], clock: Clock) -> None:
        self._rules = rules
        self._clock = clock
        self._connections = Connections(AddressGuard(rules=rules), environment)
        self._given_up: dict[str, RegistryError] = {}
        self._lock = threading.Lock()

    def send(self, request: Request) -> Answer:
        """The answer, redirects followed, faults and limits waited out.

        Raises RegistryUnreachableError, RegistryLimitedError, or RegistryAnswerError for an address or a body that no
        registry sends.
        """
        host = origin(request.url)[1]
        with self._lock:
            if host in self._given_up:
                raise self._given_up[host]
        try:
            for attempt in registry_policy(self._clock):
                with attempt:
                    return self._follow(request)
        except AddressRefusedError:
            raise
        except (RegistryLimitedError, RegistryUnreachableError) as error:
            with self._lock:
                self._given_up[host] = error
            raise
        raise AssertionError("a policy ends by a return or by raising")

    def _follow(self, request: Request) -> Answer:
        for _ in range(_MAX_REDIRECTS + 1):
            answer = self._once(request)
            location = answer.header("location")
            if answer.status not in _REDIRECTS or not location or request.method not in ("GET", "HEAD"):
                return answer
            url = join(request.url, location)
            stays = origin(url) == origin(request.url)
            if request.url.startswith("https:") and not url.startswith("https:"):
                raise RegistryAnswerError(f"{origin(request.url)[1]}: redirects from https to an address without TLS")
            request = Request(
                method=request.method,
                url=url,
                headers=request.headers,
                authorization=request.authorization if stays else None,
            )
        raise RegistryAnswerError(f"{origin(request.url)[1]}: more than {_MAX_REDIRECTS} redirects")

    def _once(self, request: Request) -> Answer:
        scheme, host = self._checked_origin(request.url)
        parts = urlsplit(request.url)
        port = parts.port or (443 if scheme == "https" else 80)
        headers = {"User-Agent": f"kix/{__version__}", "Accept-Encoding": "identity", **request.headers}
        if request.authorization:
            headers["Authorization"] = request.authorization
        try:
            manager = self._connections.manager_for(scheme=scheme, host=parts.hostname or "", port=port)
            with manager.request(
                request.method,
                request.url,
                headers=headers,
                body=request.body,
                redirect=False,
                retries=False,
                timeout=_TIMEOUT,
                preload_content=False,
                decode_content=False,
            ) as response:
                body = response.read(MAX_BODY + 1, decode_content=False)
                if len(body) > MAX_BODY:
                    response.close()
                    raise RegistryAnswerError(f"{host}: an answer of more than {MAX_BODY >> 20} MiB")
                seen = {name.lower(): tuple(response.headers.getlist(name)) for name in response.headers}
                status = response.status
                response.release_conn()
        except (HTTPError, OSError) as error:
            raise _fault(host, error) from error
        self._raise_for_status(host, status, seen)
        return Answer(status=status, url=request.url, headers=seen, body=body)

    def _checked_origin(self, url: str) -> tuple[str, str]:
        scheme, host = origin(url)
        if scheme not in ("http", "https") or not host or "@" in urlsplit(url).netloc:
            raise RegistryAnswerError("a registry names an address that is not http or https")
        if scheme == "http" and not is_plain(host, self._rules):
            raise AddressRefusedError(
                f"{host}: not contacted without TLS", hint=f'[registries] insecure = ["{host}"] in kix.toml'
            )
        return scheme, host

    def _raise_for_status(self, host: str, status: int, headers: Mapping[str, tuple[str, ...]]) -> None:
        if status == HTTPStatus.TOO_MANY_REQUESTS:
            limited = RegistryLimitedError(
                f"{host}: limits how often it is asked (429)",
                hint=f"try again later, or log in: docker login {host}",
            )
            raise RetryLaterError(limited, after=retry_after(headers, self._clock.now()))
        if status in _FAULTS:
            raise RetryLaterError(RegistryUnreachableError(f"{host}: answers with a server fault ({status})"))


def retry_after(headers: Mapping[str, tuple[str, ...]], now: float) -> float | None:
    """Seconds to wait, from Retry-After (seconds or a date) or Docker Hub's X-Retry-After (a unix time)."""
    for name in ("retry-after", "x-retry-after"):
        value = next(iter(headers.get(name, ())), "").strip()
        if value.isascii() and value.isdigit():
            seconds = float(value[:12])
            # Nobody asks for thirty years: such a number is a unix time.
            return max(0.0, seconds - now) if seconds > 1e9 else seconds
        if value:
            try:
                return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - now)
            except ValueError:
                continue
    return None


def _fault(host: str, error: Exception) -> Exception:
    if isinstance(error, LocationParseError):
        return RegistryAnswerError(f"{host}: a registry names an address that is none")
    if isinstance(error, SSLError):
        return RegistryUnreachableError(
            f"{host}: its certificate is not accepted, or it does not speak TLS",
            hint="SSL_CERT_FILE names a file with your own authority; [registries] insecure lists hosts without TLS",
        )
    fault = RegistryUnreachableError(
        f"{host}: cannot be reached: {_cause(error)}",
        hint="is the registry up? [registries] mirrors in kix.toml and HTTPS_PROXY name another way to it",
    )
    cause = error.__cause__
    if isinstance(cause, socket.gaierror) and cause.errno == socket.EAI_NONAME:
        return fault
    return RetryLaterError(fault)


def _cause(error: Exception) -> str:
    match error:
        case NameResolutionError():
            return "its name does not resolve"
        case ReadTimeoutError():
            return "no answer in time"
        case ConnectTimeoutError() if not isinstance(error, NewConnectionError):
            return "no answer in time"
        case ProxyError():
            return "the proxy does not let it through"
        case _:
            cause = error.__cause__ or error.__context__
            if isinstance(cause, OSError) and cause.strerror:
                return cause.strerror.lower()
            return "the connection broke"
