"""Limits, faults, redirects and addresses."""

import socket
from email.utils import formatdate
from pathlib import Path

import pytest

from kixbot.registry.addresses import AddressRefusedError
from kixbot.registry.interface import RegistryAnswerError, RegistryLimitedError, RegistryUnreachableError
from kixbot.registry.loopback import Access, LoopbackRegistry, Received, Reply
from kixbot.registry.memory import ImageStore
from kixbot.registry.oci_transport import retry_after
from kixbot.settings.model import RegistrySettings
from tests.registry.odd import CONTENT, NOW, bench, fault, manifest, on


class Times:
    """Answers so the first `count` times."""

    def __init__(self, count: int, reply: Reply) -> None:
        self.left = count
        self.reply = reply

    def __call__(self, _: Received) -> Reply | None:
        self.left -= 1
        return self.reply if self.left >= 0 else None


def test_a_limited_head_is_waited_out_and_never_becomes_a_get(tmp_path: Path) -> None:
    with bench(tmp_path, Times(1, fault(429, "TOOMANYREQUESTS", Retry_After="7"))) as b:
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top
        assert b.waits == [7]
        assert b.server.lines == [f"HEAD {manifest()}"] * 2


def test_a_limit_longer_than_half_a_minute_ends_at_once_and_the_host_is_not_asked_again(tmp_path: Path) -> None:
    with bench(tmp_path, on("", fault(429, Retry_After="3600"))) as b:
        with pytest.raises(RegistryLimitedError) as caught:
            b.registry.get_digest(b.image, "1.0")
        with pytest.raises(RegistryLimitedError):
            b.registry.get_tags(b.image)
        assert caught.value.message == f"{b.server.host}: limits how often it is asked (429)"
        assert caught.value.hint == f"try again later, or log in: docker login {b.server.host}"
        assert (b.waits, b.server.lines) == ([], [f"HEAD {manifest()}"])


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": ("5",)}, 5),
        ({"retry-after": (formatdate(NOW + 9, usegmt=True),)}, 9),
        ({"retry-after": (formatdate(NOW - 9, usegmt=True),)}, 0),
        ({"x-retry-after": (str(int(NOW) + 12),)}, 12),
        ({"retry-after": ("soon",)}, None),
        ({"retry-after": ("9" * 400,)}, 999_999_999_999 - NOW),
    ],
)
def test_a_limit_may_be_in_seconds_a_date_or_a_unix_time(
    headers: dict[str, tuple[str, ...]], seconds: float | None
) -> None:
    assert retry_after(headers, NOW) == seconds


def test_a_fault_is_tried_again_twice_and_then_said(tmp_path: Path) -> None:
    with bench(tmp_path, on("", fault(503))) as b:
        with pytest.raises(RegistryUnreachableError) as caught:
            b.registry.get_digest(b.image, "1.0")
        assert caught.value.message == f"{b.server.host}: answers with a server fault (503)"
        assert (b.waits, len(b.server.lines)) == ([1, 2], 3)
    with bench(tmp_path, Times(2, fault(502))) as b:
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top


def test_a_registry_that_is_down_is_one_message(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        host = f"127.0.0.1:{taken.getsockname()[1]}"  # bound, not listening: refused
        with bench(tmp_path) as b:
            with pytest.raises(RegistryUnreachableError) as caught:
                b.registry.get_digest(f"{host}/acme/web", "1.0")
            assert (caught.value.message, caught.value.hint) == (
                f"{host}: cannot be reached: connection refused",
                "is the registry up? [registries] mirrors in kix.toml and HTTPS_PROXY name another way to it",
            )
            assert b.waits == [1, 2]
            with pytest.raises(RegistryUnreachableError):
                b.registry.get_digest(f"{host}/acme/other", "1.0")
            assert b.waits == [1, 2]


def test_a_name_nobody_knows_is_not_tried_again(tmp_path: Path) -> None:
    said = r"^no-such-host\.invalid: cannot be reached: its name does not resolve$"
    with bench(tmp_path) as b, pytest.raises(RegistryUnreachableError, match=said):
        b.registry.get_digest("no-such-host.invalid/acme/web", "1.0")


def test_an_address_inside_is_not_contacted_unless_listed(tmp_path: Path) -> None:
    with bench(tmp_path, rules=lambda _: RegistrySettings()) as b:
        with pytest.raises(AddressRefusedError) as caught:
            b.registry.get_digest(b.image, "1.0")
        assert caught.value.message == (
            "127.0.0.1: not contacted: a loopback, link-local or private address, which no setting lists"
        )
        assert b.server.lines == []


def test_a_redirect_to_another_host_carries_no_authorization(tmp_path: Path) -> None:
    store = ImageStore()
    store.put("acme/web", "1.0", CONTENT)
    with LoopbackRegistry(store, access=Access.OPEN) as cdn:

        def send_away(received: Received) -> Reply | None:
            if "/blobs/" not in received.path:
                return None
            return Reply(status=307, headers={"Location": f"{cdn.url}{received.path}"})

        with bench(
            tmp_path,
            send_away,
            access=Access.BASIC,
            users={"ann": "pw"},
            docker=lambda host: {"auths": {host: {"username": "ann", "password": "pw"}}},
        ) as b:
            assert b.registry.get_facts(b.image, CONTENT.top).platforms == ("linux/amd64", "linux/arm64")
            assert any("authorization" in received.headers for received in b.server.requests)
        (received,) = cdn.requests
        assert "authorization" not in received.headers


def test_a_redirect_inside_the_host_keeps_the_login(tmp_path: Path) -> None:
    def move(received: Received) -> Reply | None:
        if received.path.startswith("/v2/acme/web/"):
            return Reply(status=301, headers={"Location": received.path.replace("acme/web", "acme/moved")})
        return None

    with bench(
        tmp_path, move, access=Access.BASIC, users={"ann": "pw"},
        docker=lambda host: {"auths": {host: {"username": "ann", "password": "pw"}}},
    ) as b:  # fmt: skip
        b.server._store.put("acme/moved", "1.0", CONTENT)
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top


@pytest.mark.parametrize(
    ("location", "message"),
    [
        ("http://169.254.169.254/latest/meta-data/", "169.254.169.254: not contacted"),
        ("https://10.0.0.1/x", "10.0.0.1: not contacted"),
        ("file:///etc/passwd", "an address that is not http or https"),
        ("http://user:pw@127.0.0.1/x", "an address that is not http or https"),
        ("http://[::1", "an address that is none"),
        ("http://127.0.0.1:99999/x", "an address that is none"),
        ("http://cdn.example/x", "cdn.example: not contacted without TLS"),
    ],
)
def test_a_redirect_leads_only_where_kix_may_go(tmp_path: Path, location: str, message: str) -> None:
    with bench(tmp_path, on("HEAD", Reply(status=302, headers={"Location": location}))) as b:
        with pytest.raises((AddressRefusedError, RegistryAnswerError)) as caught:
            b.registry.get_digest(b.image, "1.0")
        assert message in caught.value.message
        # One image's redirect does not make the registry unreachable.
        assert b.registry.get_tags(b.image).tags == ("1.0",)


def test_redirects_that_go_round_end(tmp_path: Path) -> None:
    with bench(tmp_path, on("HEAD", Reply(status=302, headers={"Location": manifest()}))) as b:
        with pytest.raises(RegistryAnswerError, match="more than 5 redirects"):
            b.registry.get_digest(b.image, "1.0")
        assert len(b.server.lines) == 6


def test_a_mirror_is_asked_in_place_of_the_written_name(tmp_path: Path) -> None:
    with bench(tmp_path, rules=lambda host: RegistrySettings(mirrors={"docker.io/nginxinc": f"{host}/acme"})) as b:
        assert b.registry.get_digest("nginxinc/web", "1.0") == CONTENT.top
        assert b.server.lines == [f"HEAD {manifest()}"]
