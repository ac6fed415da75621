"""Which addresses a registry's name may lead to: public ones, and what the settings list.

A reference, a realm and a redirect come from outside; none of them may make kix speak to a cloud's metadata service
or to a machine of the internal network. The name is resolved once and the checked address is what is connected to.
"""

import ipaddress
import socket
from dataclasses import dataclass

from kixbot.registry.interface import RegistryUnreachableError
from kixbot.registry.reference import is_listed, split_host
from kixbot.settings.model import RegistrySettings


class AddressRefusedError(RegistryUnreachableError):
    """An address kix does not contact: private and not listed, or without TLS and not listed."""


Address = ipaddress.IPv4Address | ipaddress.IPv6Address

_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")  # RFC 6052


@dataclass(frozen=True, slots=True, kw_only=True)
class AddressGuard:
    """Judges names and addresses by the rules of the settings."""

    rules: RegistrySettings

    def is_listed(self, host: str, port: int) -> bool:
        """Do the settings name the host, so that its addresses may be private?"""
        written = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
        mirrors = tuple(target.partition("/")[0].lower() for target in self.rules.mirrors.values())
        return is_listed(written, (*self.rules.allow, *self.rules.insecure, *mirrors))

    def resolve(self, host: str, port: int) -> tuple[str, ...]:
        """The addresses of a name, each of them allowed.

        Raises socket.gaierror for an unknown name and AddressRefusedError for an address that needs a listing.
        """
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        addresses = tuple(dict.fromkeys(str(entry[4][0]) for entry in found))
        if not self.is_listed(host, port):
            for address in addresses:
                self._check(host, address)
        return addresses

    def check_literal(self, host: str, port: int) -> None:
        """Judge a name that a proxy will resolve: literal addresses and this machine's own name only."""
        if self.is_listed(host, port):
            return
        if split_host(host)[0] == "localhost":
            raise _refusal(host, "this machine itself")
        try:
            address = str(ipaddress.ip_address(host))
        except ValueError:
            try:
                # 127.1 and 0x7f000001 are addresses too, to whoever resolves them.
                address = socket.inet_ntoa(socket.inet_aton(host))
            except OSError:
                return
        self._check(host, address)

    def _check(self, host: str, address: str) -> None:
        if not is_public(ipaddress.ip_address(address.partition("%")[0])):
            raise _refusal(host, "a loopback, link-local or private address")


def is_public(address: Address) -> bool:
    """Is this an address of the open internet? Addresses that carry an IPv4 address are judged by that one."""
    if isinstance(address, ipaddress.IPv6Address):
        inner = address.ipv4_mapped or address.sixtofour
        if inner is None and address in _NAT64:
            inner = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if inner is not None:
            return is_public(inner)
    return address.is_global and not address.is_multicast


def _refusal(host: str, what: str) -> AddressRefusedError:
    return AddressRefusedError(
        f"{host}: not contacted: {what}, which no setting lists",
        hint=f'if it is your registry: [registries] allow = ["{host}"] in kix.toml',
    )
