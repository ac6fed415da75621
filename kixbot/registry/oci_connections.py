"""urllib3's pools with kix's rules: every name is judged before it is connected to, bytes arrive as they were sent."""

import socket
import ssl
import threading
from collections.abc import Mapping
from urllib.parse import unquote, urlsplit

import urllib3
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.exceptions import ConnectTimeoutError, NameResolutionError, NewConnectionError
from urllib3.util import make_headers

from kixbot.errors import SettingsError
from kixbot.registry.addresses import AddressGuard
from kixbot.registry.proxies import find_proxy

_THREADS = 16  # connections kept per host; ops asks with at most as many threads
_HOSTS = 32


class Connections:
    """Gives the pool manager for an address: direct, or through the proxy the environment names."""

    def __init__(self, guard: AddressGuard, environment: Mapping[str, str]) -> None:
        self._guard = guard
        self._environment = environment
        self._context = _tls_context(environment.get("SSL_CERT_FILE"))
        self._managers: dict[str | None, urllib3.PoolManager] = {}
        self._lock = threading.Lock()

    def manager_for(self, *, scheme: str, host: str, port: int) -> urllib3.PoolManager:
        """The manager. Raises RegistryUnreachableError for a literal address that needs a listing."""
        proxy = find_proxy(self._environment, scheme=scheme, host=host, port=port)
        if proxy is not None:
            self._guard.check_literal(host, port)
        with self._lock:
            if proxy not in self._managers:
                self._managers[proxy] = self._through(proxy) if proxy else self._direct()
            return self._managers[proxy]

    def _direct(self) -> urllib3.PoolManager:
        manager = urllib3.PoolManager(num_pools=_HOSTS, maxsize=_THREADS, ssl_context=self._context)
        manager.pool_classes_by_scheme = _guarded_pools(self._guard)
        return manager

    def _through(self, proxy: str) -> urllib3.PoolManager:
        parts = urlsplit(proxy)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise SettingsError("the proxy of the environment is not an address", hint="HTTPS_PROXY=http://host:port")
        headers = {}
        if parts.username:
            pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
            headers = make_headers(proxy_basic_auth=pair)
        address = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"
        return urllib3.ProxyManager(
            address, num_pools=_HOSTS, maxsize=_THREADS, ssl_context=self._context, proxy_headers=headers
        )


def _tls_context(file: str | None) -> ssl.SSLContext:
    context = ssl.create_default_context()
    if file:
        try:
            context.load_verify_locations(cafile=file)
        except OSError as error:  # ssl.SSLError is one
            raise SettingsError(f"{file}: SSL_CERT_FILE names no file of certificates") from error
    return context


def _guarded_pools(guard: AddressGuard) -> dict[str, type[HTTPConnectionPool]]:
    """Pools whose connections resolve through the guard, so that the address that was judged is the one used."""

    class GuardedConnection(HTTPConnection):
        def _new_conn(self) -> socket.socket:
            return _connect(self, guard)

    class GuardedTlsConnection(HTTPSConnection):
        def _new_conn(self) -> socket.socket:
            return _connect(self, guard)

    class GuardedPool(HTTPConnectionPool):
        ConnectionCls = GuardedConnection

    class GuardedTlsPool(HTTPSConnectionPool):
        ConnectionCls = GuardedTlsConnection

    return {"http": GuardedPool, "https": GuardedTlsPool}


def _connect(connection: HTTPConnection, guard: AddressGuard) -> socket.socket:
    host = connection.host.strip("[]")
    port = connection.port or connection.default_port
    timeout = connection.timeout if isinstance(connection.timeout, int | float) else None
    try:
        addresses = guard.resolve(host, port)
    except (socket.gaierror, UnicodeError) as error:
        cause = error if isinstance(error, socket.gaierror) else socket.gaierror(socket.EAI_NONAME, "bad name")
        raise NameResolutionError(host, connection, cause) from error
    last: OSError = OSError("no address")
    for address in addresses:
        try:
            opened = socket.create_connection((address, port), timeout)
        except OSError as error:
            last = error
        else:
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return opened
    if isinstance(last, TimeoutError):
        raise ConnectTimeoutError(connection, "timed out") from last
    raise NewConnectionError(connection, "not connected") from last
