"""Which addresses a name may lead to, and which proxy stands before it."""

import ipaddress

import pytest

from kixbot.registry.addresses import AddressGuard, AddressRefusedError, is_public
from kixbot.registry.proxies import find_proxy
from kixbot.settings.model import RegistrySettings


@pytest.mark.parametrize(
    "address",
    [
        "127.0.0.1", "127.9.9.9", "10.0.0.1", "172.16.3.4", "192.168.1.1", "169.254.169.254", "0.0.0.0", "100.64.0.1",
        "224.0.0.1", "255.255.255.255", "::1", "::", "fe80::1", "fc00::1", "fd00:ec2::254", "ff02::1",
        "::ffff:169.254.169.254", "2002:a9fe:a9fe::", "64:ff9b::a9fe:a9fe",
    ],
)  # fmt: skip
def test_an_address_inside_is_not_public(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address", ["1.1.1.1", "140.82.112.34", "2606:4700::1111", "::ffff:1.1.1.1", "64:ff9b::101:101"]
)
def test_an_address_outside_is_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "0x7f000001", "::1", "169.254.169.254"])
def test_a_name_that_leads_inside_is_refused_unless_listed(host: str) -> None:
    with pytest.raises(AddressRefusedError, match=": not contacted: ") as caught:
        AddressGuard(rules=RegistrySettings()).resolve(host, 5000)
    assert caught.value.hint == f'if it is your registry: [registries] allow = ["{host}"] in kix.toml'
    assert AddressGuard(rules=RegistrySettings(allow=(host,))).resolve(host, 5000)


@pytest.mark.parametrize(
    ("rules", "listed"),
    [
        (RegistrySettings(allow=("127.0.0.1",)), True),
        (RegistrySettings(allow=("127.0.0.1:5000",)), True),
        (RegistrySettings(allow=("127.0.0.1:5001",)), False),
        (RegistrySettings(insecure=("127.0.0.1:5000",)), True),
        (RegistrySettings(mirrors={"docker.io": "127.0.0.1:5000/hub"}), True),
        (RegistrySettings(mirrors={"docker.io": "mirror.example"}), False),
    ],
)
def test_a_listing_is_for_a_host_or_for_one_port(rules: RegistrySettings, *, listed: bool) -> None:
    assert AddressGuard(rules=rules).is_listed("127.0.0.1", 5000) is listed


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "169.254.169.254", "127.1", "2852039166", "0x7f.1"])
def test_behind_a_proxy_literal_addresses_are_judged(host: str) -> None:
    guard = AddressGuard(rules=RegistrySettings())
    with pytest.raises(AddressRefusedError):
        guard.check_literal(host, 80)
    guard.check_literal("registry.example", 443)


PROXIES = {"HTTPS_PROXY": "http://user:pw@proxy:3128", "http_proxy": "plain:3128"}


@pytest.mark.parametrize(
    ("no_proxy", "host", "expected"),
    [
        ("", "ghcr.io", True),
        ("*", "ghcr.io", False),
        ("ghcr.io", "ghcr.io", False),
        ("ghcr.io", "pkg.ghcr.io", False),
        (".ghcr.io", "pkg.ghcr.io", False),
        ("ghcr.io", "notghcr.io", True),
        ("corp.example, ghcr.io:443", "ghcr.io", False),
        ("ghcr.io:8443", "ghcr.io", True),
        ("10.0.0.0/8", "10.1.2.3", False),
        ("10.0.0.0/8", "11.1.2.3", True),
        ("1.2.3.4", "1.2.3.4", False),
        ("", "localhost", False),
        ("", "127.0.0.1", False),
    ],
)
def test_no_proxy_names_hosts_subdomains_ports_and_networks(no_proxy: str, host: str, *, expected: bool) -> None:
    found = find_proxy({**PROXIES, "NO_PROXY": no_proxy}, scheme="https", host=host, port=443)
    assert found == ("http://user:pw@proxy:3128" if expected else None)


def test_each_scheme_has_its_proxy() -> None:
    assert find_proxy(PROXIES, scheme="http", host="ghcr.io", port=80) == "http://plain:3128"
    assert find_proxy({}, scheme="https", host="ghcr.io", port=443) is None
