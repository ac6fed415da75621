"""TLS with an authority of one's own, through a proxy, as in a company's network."""

import base64
import contextlib
import socket
import ssl
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from kixbot.errors import SettingsError
from kixbot.registry import open_registry
from kixbot.registry.addresses import AddressRefusedError
from kixbot.registry.interface import Registry, RegistryAnswerError, RegistryUnreachableError
from kixbot.registry.loopback import Access, LoopbackRegistry, Reply
from kixbot.registry.memory import ImageStore
from kixbot.retry import Clock
from kixbot.settings.model import RegistrySettings
from tests.parts.certificates import Authority
from tests.registry.odd import CONTENT, on

NAME = "registry.company.example"


class Proxy:
    """Answers CONNECT and leads every tunnel to one port of this machine."""

    def __init__(self, port: int) -> None:
        self.heads: list[str] = []
        self._port = port
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._listener.getsockname()[1]}"
        threading.Thread(target=self._serve, daemon=True).start()

    def stop(self) -> None:
        self._listener.close()

    def _serve(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._tunnel, args=(client,), daemon=True).start()

    def _tunnel(self, client: socket.socket) -> None:
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            head += client.recv(1)
        self.heads.append(head.decode())
        client.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
        with client, socket.create_connection(("127.0.0.1", self._port)) as server:
            back = threading.Thread(target=self._copy, args=(server, client), daemon=True)
            back.start()
            self._copy(client, server)
            back.join()

    @staticmethod
    def _copy(source: socket.socket, sink: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    return Authority.make(tmp_path / "authority")


@pytest.fixture
def proxy(authority: Authority) -> Iterator[Proxy]:
    """A proxy before a registry that speaks TLS as NAME; it sends readers of the tag `away` to plain HTTP."""
    away = on("HEAD /v2/acme/web/manifests/away", Reply(status=307, headers={"Location": "http://127.0.0.1:1/x"}))
    pair = authority.server("registry", [NAME])
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    store = ImageStore()
    store.put("acme/web", "1.0", CONTENT)
    registry = LoopbackRegistry(store, access=Access.OPEN, intercept=away)
    registry._server.socket = context.wrap_socket(registry._server.socket, server_side=True)
    with registry:
        started = Proxy(int(registry.host.rpartition(":")[2]))
        yield started
        started.stop()


def client(folder: Path, *allow: str, **environment: str) -> Registry:
    clock = Clock(now=lambda: 0.0, sleep=lambda _: None)
    rules = RegistrySettings(allow=allow)
    return open_registry(rules, environment=environment, home=folder, note=pytest.fail, clock=clock)


def test_a_registry_behind_a_proxy_with_an_authority_of_ones_own_is_read(
    tmp_path: Path, proxy: Proxy, authority: Authority
) -> None:
    registry = client(
        tmp_path, HTTPS_PROXY=f"http://ann:p%40ss@{proxy.address}", SSL_CERT_FILE=str(authority.certificate)
    )
    assert registry.get_digest(f"{NAME}/acme/web", "1.0") == CONTENT.top
    assert registry.get_facts(f"{NAME}/acme/web", CONTENT.top).platforms == ("linux/amd64", "linux/arm64")
    (head,) = proxy.heads
    assert head.startswith(f"CONNECT {NAME}:443 HTTP/1.")
    assert f"Basic {base64.b64encode(b'ann:p@ss').decode()}" in head


def test_a_certificate_of_an_unknown_authority_is_refused(tmp_path: Path, proxy: Proxy) -> None:
    with pytest.raises(RegistryUnreachableError) as caught:
        client(tmp_path, HTTPS_PROXY=proxy.address).get_digest(f"{NAME}/acme/web", "1.0")
    assert caught.value.message == f"{NAME}: its certificate is not accepted, or it does not speak TLS"
    assert "SSL_CERT_FILE" in (caught.value.hint or "")
    assert len(proxy.heads) == 1


def test_a_redirect_never_leaves_tls(tmp_path: Path, proxy: Proxy, authority: Authority) -> None:
    registry = client(tmp_path, "127.0.0.1", HTTPS_PROXY=proxy.address, SSL_CERT_FILE=str(authority.certificate))
    with pytest.raises(RegistryAnswerError, match=f"{NAME}: redirects from https to an address without TLS"):
        registry.get_digest(f"{NAME}/acme/web", "away")


def test_a_certificate_for_another_name_is_refused(tmp_path: Path, proxy: Proxy, authority: Authority) -> None:
    registry = client(tmp_path, HTTPS_PROXY=proxy.address, SSL_CERT_FILE=str(authority.certificate))
    with pytest.raises(RegistryUnreachableError, match="its certificate is not accepted"):
        registry.get_digest("other.example/acme/web", "1.0")


def test_a_proxy_is_not_a_way_around_the_addresses_inside(tmp_path: Path, proxy: Proxy, authority: Authority) -> None:
    registry = client(tmp_path, HTTPS_PROXY=proxy.address, SSL_CERT_FILE=str(authority.certificate))
    with pytest.raises(AddressRefusedError):
        registry.get_digest("169.254.169.254/acme/web", "1.0")
    assert proxy.heads == []


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("SSL_CERT_FILE", "/nowhere.pem", "/nowhere.pem: SSL_CERT_FILE names no file of certificates"),
        ("HTTPS_PROXY", "socks5://canary@x", "the proxy of the environment is not an address"),
    ],
)
def test_an_environment_that_cannot_be_used_is_said(tmp_path: Path, name: str, value: str, message: str) -> None:
    with pytest.raises(SettingsError) as caught:
        client(tmp_path, **{name: value}).get_digest(f"{NAME}/acme/web", "1.0")
    assert caught.value.message == message
