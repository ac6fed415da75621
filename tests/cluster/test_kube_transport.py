"""The real transport against a server on loopback that throttles, breaks and lies."""

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from kixbot.cluster.faults import BusyError, RejectedError, RequestError, UnauthorizedError, UnreachableError
from kixbot.cluster.interface import ApiKind
from kixbot.cluster.kube import KubeCluster, open_kube
from kixbot.errors import ClusterError
from kixbot.retry import Clock

CONFIG_MAP = ApiKind(group="", version="v1", kind="ConfigMap", plural="configmaps", namespaced=True)
SECRET = ApiKind(group="", version="v1", kind="Secret", plural="secrets", namespaced=True)
BODY = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "shop"}, "data": {"k": "v"}}
OK: "Answer" = (200, {}, json.dumps(BODY))
Answer = tuple[int, dict[str, str], str] | None


@dataclass
class Server:
    """Answers from a list, the last one for ever; None breaks the connection. Remembers what was asked."""

    answers: list[Answer] = field(default_factory=list)
    asked: list[tuple[str, str]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    port: int = 0

    def next(self) -> Answer:
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@pytest.fixture
def server() -> Iterator[Server]:
    state = Server()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def answer(self) -> None:
            length = int(self.headers.get("Content-Length") or 0)
            self.rfile.read(length)
            state.asked.append((self.command, self.path))
            state.headers.append(dict(self.headers))
            found = state.next()
            if found is None:
                self.close_connection = True
                return
            status, headers, text = found
            self.send_response(status)
            standard = {"Content-Type": "application/json", "Content-Length": str(len(text.encode()))}
            for name, value in {**standard, **headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(text.encode())

        def do_GET(self) -> None:
            self.answer()

        def do_PATCH(self) -> None:
            self.answer()

        def log_message(self, *_: object) -> None:
            """Tests have their own words."""

    httpd = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    state.port = httpd.server_address[1]
    threading.Thread(target=httpd.serve_forever, daemon=True).start()
    yield state
    httpd.shutdown()
    httpd.server_close()


@dataclass
class FakeTime:
    """A clock whose sleeps take no time and are remembered."""

    slept: list[float] = field(default_factory=list)

    @property
    def clock(self) -> Clock:
        return Clock(now=lambda: 1000.0 + sum(self.slept), sleep=self.slept.append)


@pytest.fixture
def time() -> FakeTime:
    return FakeTime()


@pytest.fixture
def cluster(server: Server, time: FakeTime, tmp_path: Path) -> Iterator[KubeCluster]:
    file = tmp_path / "config"
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": f"http://127.0.0.1:{server.port}"}}],
        "users": [{"name": "u", "user": {"token": "t0ken"}}],
        "contexts": [{"name": "prod", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "prod",
    }
    file.write_text(json.dumps(document), encoding="utf-8")
    found = open_kube(context="prod", kubeconfig=str(file), environment={}, clock=time.clock)
    yield found
    found.close()


def busy(status: int) -> Answer:
    return (status, {"Retry-After": "1"}, json.dumps({"kind": "Status", "message": "busy", "code": status}))


def test_a_read_is_tried_again_while_the_api_server_is_busy(
    server: Server, cluster: KubeCluster, time: FakeTime
) -> None:
    server.answers = [busy(429), busy(503), OK]
    assert cluster.get(CONFIG_MAP, "a", "shop")["data"] == {"k": "v"}
    assert server.asked == [("GET", "/api/v1/namespaces/shop/configmaps/a")] * 3
    assert time.slept == [0.5, 1.0]
    assert cluster.requests["get"] == 3
    assert server.headers[0]["authorization"] == "Bearer t0ken"


def test_a_read_gives_up_after_a_minute_with_the_servers_own_words(
    server: Server, cluster: KubeCluster, time: FakeTime
) -> None:
    server.answers = [busy(429)]
    with pytest.raises(BusyError, match="get ConfigMap shop/a: busy"):
        cluster.get(CONFIG_MAP, "a", "shop")
    assert len(server.asked) == 8
    assert sum(time.slept) <= 60


def test_a_dry_run_is_tried_again_and_a_write_is_not(server: Server, cluster: KubeCluster) -> None:
    server.answers = [busy(503), OK]
    cluster.apply(CONFIG_MAP, BODY, manager="kix", dry_run=True)
    assert len(server.asked) == 2
    server.answers = [busy(503), OK]
    with pytest.raises(BusyError):
        cluster.apply(CONFIG_MAP, BODY, manager="kix")
    assert len(server.asked) == 3


def test_a_connection_that_breaks_is_made_again_once_the_server_has_answered(
    server: Server, cluster: KubeCluster
) -> None:
    server.answers = [None, OK]
    with pytest.raises(UnreachableError, match=f"cluster prod: no answer from http://127.0.0.1:{server.port}"):
        cluster.get(CONFIG_MAP, "a", "shop")
    cluster.get(CONFIG_MAP, "a", "shop")
    server.answers = [None, OK]
    assert cluster.get(CONFIG_MAP, "a", "shop")["data"] == {"k": "v"}


def test_a_redirect_is_not_followed_and_takes_no_token_elsewhere(server: Server, cluster: KubeCluster) -> None:
    server.answers = [(302, {"Location": f"http://127.0.0.1:{server.port}/elsewhere"}, "")]
    with pytest.raises(RequestError):
        cluster.get(CONFIG_MAP, "a", "shop")
    assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("answer", "kind", "said"),
    [
        ((200, {}, "<html>"), RequestError, "get ConfigMap shop/a: the API server's answer is no JSON"),
        ((401, {}, "{}"), UnauthorizedError, "get ConfigMap shop/a: the API server does not accept the credentials"),
        ((418, {"Content-Type": "text/plain"}, "teapot"), RejectedError, "get ConfigMap shop/a: teapot"),
    ],
)
def test_an_odd_answer_is_one_clear_error(
    server: Server, cluster: KubeCluster, answer: Answer, kind: type[RequestError], said: str
) -> None:
    server.answers = [answer]
    with pytest.raises(kind) as caught:
        cluster.get(CONFIG_MAP, "a", "shop")
    assert caught.value.message == said
    assert "t0ken" not in caught.value.message


def test_a_server_without_aggregated_discovery_is_named_as_too_old(server: Server, cluster: KubeCluster) -> None:
    server.answers = [(200, {}, '{"kind": "APIVersions", "versions": ["v1"]}')]
    with pytest.raises(ClusterError, match="the API server has no aggregated discovery") as caught:
        cluster.discover()
    assert caught.value.hint == "kix needs Kubernetes 1.27 or newer"


@pytest.mark.parametrize("value", ["canary-17", "Y2FuYXJ5LTE3"])
def test_a_refusal_never_quotes_a_secrets_value(server: Server, cluster: KubeCluster, value: str) -> None:
    message = f'failed to create typed patch object: .data.k: expected string, got "{value}"'
    server.answers = [(500, {}, json.dumps({"kind": "Status", "message": message}))]
    body = {**BODY, "kind": "Secret", "data": {"k": "Y2FuYXJ5LTE3"}}
    with pytest.raises(RequestError) as caught:
        cluster.apply(SECRET, body, manager="kix")
    assert value not in str(caught.value) + caught.value.message
    assert "(secret)" in caught.value.message


def test_names_and_selectors_cannot_change_the_path(server: Server, cluster: KubeCluster) -> None:
    server.answers = [OK]
    cluster.get(CONFIG_MAP, "../secrets/x?watch=1", "shop/../kube-system")
    cluster.listing(CONFIG_MAP, namespace="shop", label_selector="a=b&watch=1")
    assert [path for _, path in server.asked] == [
        "/api/v1/namespaces/shop%2F..%2Fkube-system/configmaps/..%2Fsecrets%2Fx%3Fwatch%3D1",
        "/api/v1/namespaces/shop/configmaps?labelSelector=a%3Db%26watch%3D1",
    ]


@pytest.mark.parametrize("broken", [{"Content-Length": "9999", "Connection": "close"}, {}])
def test_a_watch_that_breaks_in_the_middle_is_unreachable_not_ended(
    server: Server, cluster: KubeCluster, broken: dict[str, str]
) -> None:
    server.answers = [(200, broken, json.dumps({"type": "MODIFIED", "object": BODY}) + "\nno JSON\n")]
    with pytest.raises(UnreachableError):
        list(cluster.watch(CONFIG_MAP, namespace="shop", resource_version="1", seconds=5))
