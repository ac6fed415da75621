"""A JSON server on loopback: routes, a journal of every request, faults on demand, and a published description as judge."""

import json
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, parse_qsl, unquote, urlsplit

from tests.forges.api_description import Description, DescriptionError


@dataclass(frozen=True, kw_only=True)
class Request:
    """What came in. `path` is without the API's prefix and still quoted; `values` are the template's, unquoted."""

    method: str
    path: str
    query: Mapping[str, str]
    body: Any
    headers: Mapping[str, str]
    values: Mapping[str, str] = field(default_factory=dict)
    lists: Mapping[str, list[str]] = field(default_factory=dict)
    """Query parameters with all their values, for those that repeat."""


@dataclass(frozen=True, kw_only=True)
class Answer:
    """What goes out. `drop` closes the connection instead, after the request was carried out or before."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(kw_only=True)
class Fault:
    """The next `times` requests that `method` and `contains` match answer `answer`, None drops the connection.

    `after`: the request is carried out first, and only its answer is lost or replaced.
    """

    method: str
    contains: str
    answer: Answer | None
    times: int = 1
    after: bool = False


class LoopbackServer(ABC):
    """Runs until `close`. `violations` must stay empty: it lists what the description did not allow."""

    def __init__(self, description: Description, *, prefix: str = "") -> None:
        self.description = description
        self.prefix = prefix
        self.journal: list[Request] = []
        self.faults: list[Fault] = []
        self.violations: list[str] = []
        self.interfere: Callable[[Request], object] | None = None
        """Somebody else's act between the arrival of a request and its being carried out."""
        self.lock = threading.RLock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _serve(self) -> None:
                outer._serve(self)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = do_HEAD = _serve  # noqa: N815

            def log_message(self, format: str, *args: object) -> None:  # noqa: A002
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()

    @property
    def origin(self) -> str:
        """`http://127.0.0.1:PORT`."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def close(self) -> None:
        """Stops serving and closes the socket."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @abstractmethod
    def dispatch(self, request: Request) -> Answer:
        """The answer to a request, each forge's own."""

    def _serve(self, handler: BaseHTTPRequestHandler) -> None:
        parts = urlsplit(handler.path)
        length = int(handler.headers.get("content-length") or 0)
        raw = handler.rfile.read(length)
        request = Request(
            method=handler.command,
            path=parts.path.removeprefix(self.prefix),
            query=dict(parse_qsl(parts.query, keep_blank_values=True)),
            lists=parse_qs(parts.query, keep_blank_values=True),
            body=json.loads(raw) if raw else None,
            headers={name.lower(): value for name, value in handler.headers.items()},
        )
        with self.lock:
            self.journal.append(request)
            if self.interfere:
                self.interfere(request)
            fault = self._next_fault(request)
            try:
                answer = fault.answer if fault and not fault.after else self._judged(request, parts.query)
            except DescriptionError as error:
                self.violations.append(str(error))
                answer = Answer(status=400, body={"message": str(error)})
            if fault and fault.after:
                answer = fault.answer
        if answer is None:
            handler.close_connection = True
            handler.connection.close()
            return
        payload = b"" if answer.body is None else json.dumps(answer.body).encode()
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(payload)))
        handler.end_headers()
        if handler.command != "HEAD":
            handler.wfile.write(payload)

    def _next_fault(self, request: Request) -> Fault | None:
        for fault in self.faults:
            if fault.times and fault.method == request.method and fault.contains in request.path:
                fault.times -= 1
                return fault
        return None

    def _judged(self, request: Request, query: str) -> Answer:
        found = self.description.find(request.method, request.path)
        if found is None:
            return self.dispatch(request)
        template, _ = found
        self.description.check_request(request.method, template, query, request.body)
        values = _values(template, request.path)
        answer = self.dispatch(Request(**{**request.__dict__, "values": values}))
        self.description.check_response(request.method, template, answer.status, answer.body)
        return answer


def _values(template: str, path: str) -> Mapping[str, str]:
    """The template's parameters; the last one takes what is left, since it may hold slashes."""
    values, steps, have = {}, template.split("/"), path.split("/")
    for index, step in enumerate(steps):
        if step.startswith("{"):
            rest = have[index:] if index == len(steps) - 1 else have[index : index + 1]
            values[step.strip("{}")] = unquote("/".join(rest))
    return values


def page_of(items: list[Any], request: Request, address: str, *, size: int = 30) -> tuple[list[Any], Mapping[str, str]]:
    """One page and its Link header, as both forges page."""
    size = min(int(request.query.get("per_page", size)), 100)
    number = int(request.query.get("page", 1))
    shown = items[(number - 1) * size : number * size]
    if number * size >= len(items):
        return shown, {}
    query = "&".join(f"{key}={value}" for key, value in {**request.query, "page": number + 1}.items())
    return shown, {"link": f'<{address}?{query}>; rel="next"'}


Route = Callable[[Request], Answer]
