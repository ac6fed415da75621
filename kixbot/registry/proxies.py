"""Which proxy a request goes through, by the environment's variables. Pure.

Rules as Go's httpproxy, which docker follows: HTTPS_PROXY and HTTP_PROXY by scheme, NO_PROXY with names (their
subdomains too), addresses and networks; this machine is never behind a proxy.
"""

import ipaddress
from collections.abc import Mapping


def find_proxy(environment: Mapping[str, str], *, scheme: str, host: str, port: int) -> str | None:
    """The proxy's address for a request, or None: direct."""
    name = f"{scheme}_proxy"
    proxy = environment.get(name) or environment.get(name.upper())
    if not proxy or _is_direct(host, port, environment.get("no_proxy") or environment.get("NO_PROXY") or ""):
        return None
    return proxy if "://" in proxy else f"http://{proxy}"


def _is_direct(host: str, port: int, listed: str) -> bool:
    address = _find_address(host)
    if host == "localhost" or (address is not None and address.is_loopback):
        return True
    return any(_matches(host, address, port, word.strip().lower()) for word in listed.split(",") if word.strip())


def _matches(host: str, address: ipaddress.IPv4Address | ipaddress.IPv6Address | None, port: int, word: str) -> bool:
    if word == "*":
        return True
    if address is not None and "/" in word:
        try:
            return address in ipaddress.ip_network(word, strict=False)
        except ValueError:
            return False
    name, colon, wanted = word.rpartition(":")
    if colon and wanted.isdigit() and ":" not in name:
        if int(wanted) != port:
            return False
        word = name
    if address is not None:
        return _find_address(word) == address
    word = word.removeprefix("*")
    return host == word.removeprefix(".") or host.endswith(f".{word.removeprefix('.')}")


def _find_address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
