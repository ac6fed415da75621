"""The embedded registry over HTTP, on a free port of 127.0.0.1: the reading half of the distribution API.

    store = ImageStore()
    store.put("ghcr.io/acme/web", "1.5.0", make_image(ImageRecipe()))
    with LoopbackRegistry(store) as server:
        rules = RegistrySettings(mirrors={"ghcr.io": f"{server.host}/ghcr.io"})

Access is by token (`Access.TOKEN`), by user and password (`Access.BASIC`) or open. `intercept` sees each request
first and may answer in its place: so tests give it the habits of other registries.
"""

import base64
import json
import secrets
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from enum import Enum
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self
from urllib.parse import parse_qs, urlencode, urlsplit

from kixbot.registry.memory import ImageStore

_MAX_BODY = 65536
_PAGE = 1000


class Access(Enum):
    """How a reader proves who it is."""

    OPEN = "open"
    BASIC = "basic"
    TOKEN = "token"  # noqa: S105  a way of access, no secret


@dataclass(frozen=True, slots=True, kw_only=True)
class Received:
    """One request. Header names in lower case."""

    method: str
    path: str
    query: Mapping[str, list[str]]
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def line(self) -> str:
        """Method and address."""
        query = urlencode([(name, value) for name, values in self.query.items() for value in values])
        return f"{self.method} {self.path}" + (f"?{query}" if query else "")


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """One answer. A HEAD gets its headers, the length included, without the body."""

    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes = b""


Intercept = Callable[[Received], Reply | None]


class LoopbackRegistry:
    """A server for the time of a `with`. `users` may read everything; without them anybody may, with a token too."""

    def __init__(
        self,
        store: ImageStore,
        *,
        access: Access = Access.TOKEN,
        users: Mapping[str, str] | None = None,
        intercept: Intercept | None = None,
    ) -> None:
        self.requests: list[Received] = []
        self._store = store
        self._access = access
        self._users = users
        self._intercept = intercept
        self._tokens: dict[str, str] = {}
        self._server = _Server(self)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def host(self) -> str:
        """Address and port, as an image's name begins."""
        return f"127.0.0.1:{self._server.server_address[1]}"

    @property
    def url(self) -> str:
        """The address as a URL."""
        return f"http://{self.host}"

    @property
    def lines(self) -> list[str]:
        """Method and address of every request so far."""
        return [received.line for received in self.requests]

    def answer(self, received: Received) -> Reply:
        """What the registry says to one request."""
        self.requests.append(received)
        intercepted = self._intercept(received) if self._intercept else None
        if intercepted is not None:
            return intercepted
        if received.path == "/token" and self._access is Access.TOKEN:
            return self._issue(received)
        name, kind, last = _take_apart(received.path)
        if not self._may_read(received, name):
            return self._challenge(name)
        if received.path in ("/v2", "/v2/"):
            return Reply(body=b"{}")
        match kind:
            case "tags":
                return self._tags(name, received.query)
            case "manifests":
                stored = self._store.find_manifest(name, last)
                if stored is None:
                    return _fault(HTTPStatus.NOT_FOUND, "MANIFEST_UNKNOWN")
                return Reply(
                    headers={"Content-Type": stored.media_type, "Docker-Content-Digest": stored.digest},
                    body=stored.body,
                )
            case "blobs":
                blob = self._store.find_blob(name, last)
                if blob is None:
                    return _fault(HTTPStatus.NOT_FOUND, "BLOB_UNKNOWN")
                return Reply(headers={"Content-Type": "application/octet-stream"}, body=blob)
            case _:
                return _fault(HTTPStatus.NOT_FOUND, "UNSUPPORTED")

    def _tags(self, name: str, query: Mapping[str, list[str]]) -> Reply:
        tags = self._store.find_tags(name)
        if tags is None:
            return _fault(HTTPStatus.NOT_FOUND, "NAME_UNKNOWN")
        asked = query.get("n", [str(_PAGE)])[0]
        size = int(asked) if asked.isdigit() and 0 < int(asked[:9]) <= _PAGE else _PAGE
        after = query.get("last", [""])[0]
        rest = [tag for tag in tags if tag > after]
        page = rest[:size]
        headers = {"Content-Type": "application/json"}
        if len(rest) > size:
            following = urlencode({"n": size, "last": page[-1]})
            headers["Link"] = f'</v2/{name}/tags/list?{following}>; rel="next"'
        return Reply(headers=headers, body=json.dumps({"name": name, "tags": page}).encode())

    def _may_read(self, received: Received, name: str) -> bool:
        scheme, _, value = received.headers.get("authorization", "").partition(" ")
        match self._access:
            case Access.OPEN:
                return True
            case Access.BASIC:
                return scheme == "Basic" and self._is_user(value)
            case Access.TOKEN:
                return scheme == "Bearer" and self._tokens.get(value) in (f"repository:{name}:pull", "*")

    def _is_user(self, encoded: str) -> bool:
        try:
            user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except ValueError:
            return False
        return self._users is not None and self._users.get(user) == password

    def _challenge(self, name: str) -> Reply:
        if self._access is Access.BASIC:
            header = 'Basic realm="kix"'
        else:
            header = f'Bearer realm="{self.url}/token",service="kix"'
            header += f',scope="repository:{name}:pull"' if name else ""
        reply = _fault(HTTPStatus.UNAUTHORIZED, "UNAUTHORIZED")
        return Reply(status=reply.status, headers={**reply.headers, "WWW-Authenticate": header}, body=reply.body)

    def _issue(self, received: Received) -> Reply:
        scheme, _, value = received.headers.get("authorization", "").partition(" ")
        if (scheme == "Basic" or self._users is not None) and not self._is_user(value):
            return _fault(HTTPStatus.UNAUTHORIZED, "UNAUTHORIZED")
        token = secrets.token_urlsafe(24)
        self._tokens[token] = next(iter(received.query.get("scope", [])), "")
        return Reply(headers={"Content-Type": "application/json"}, body=json.dumps({"token": token}).encode())


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False  # kept-alive connections of a client would hold it

    def __init__(self, registry: LoopbackRegistry) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.registry = registry


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet: else each answer waits 40 ms for an acknowledgement
    disable_nagle_algorithm = True
    server: _Server

    def _respond(self) -> None:
        parts = urlsplit(self.path)
        length = self.headers.get("Content-Length", "0")
        body = self.rfile.read(min(int(length), _MAX_BODY)) if length.isdigit() else b""
        reply = self.server.registry.answer(
            Received(
                method=self.command,
                path=parts.path,
                query=parse_qs(parts.query, keep_blank_values=True),
                headers={name.lower(): value for name, value in self.headers.items()},
                body=body,
            )
        )
        self.send_response(reply.status)
        for name, value in reply.headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(reply.body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(reply.body)

    do_GET = do_HEAD = do_POST = do_PUT = _respond  # noqa: N815  http.server's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  http.server's signature
        """Say nothing: stderr is for people."""


def _take_apart(path: str) -> tuple[str, str, str]:
    """Repository, kind (`manifests`, `blobs`, `tags`) and what is asked for of an address."""
    words = path.removeprefix("/v2/").split("/")
    if not path.startswith("/v2/") or len(words) < 3:
        return "", "", ""
    return "/".join(words[:-2]), words[-2], words[-1]


def _fault(status: HTTPStatus, code: str) -> Reply:
    body = json.dumps({"errors": [{"code": code, "message": code.lower().replace("_", " ")}]}).encode()
    return Reply(status=int(status), headers={"Content-Type": "application/json"}, body=body)
