"""Challenges, tokens and logins of registries that differ."""

import base64
import json
from collections.abc import Callable
from pathlib import Path
from urllib.parse import parse_qs

import pytest

from kixbot.ops.parallel import each
from kixbot.registry.addresses import AddressRefusedError
from kixbot.registry.interface import ImageDeniedError, RegistryAnswerError
from kixbot.registry.loopback import Access, LoopbackRegistry, Received, Reply
from kixbot.registry.memory import ImageStore
from kixbot.settings.model import RegistrySettings
from tests.registry.odd import CONTENT, Bench, bench, fault, manifest, on

ANN = {"ann": "pw"}
SCOPE = "repository%3Aacme%2Fweb%3Apull"


def login(host: str) -> dict[str, object]:
    return {"auths": {host: {"username": "ann", "password": "pw"}}}


def stale(host: str) -> dict[str, object]:
    return {"auths": {host: {"username": "ann", "password": "canary-old"}}}


def identity(host: str) -> dict[str, object]:
    return {"auths": {host: {"identitytoken": "canary-refresh"}}}


def token(text: str = "t0ken", name: str = "token") -> Reply:
    return Reply(body=json.dumps({name: text, "expires_in": 300}).encode())


def challenged(header: str, accepted: str = "Bearer t0ken") -> Callable[[Received], Reply | None]:
    """Asks for what the header says, then lets `accepted` in."""

    def intercept(received: Received) -> Reply | None:
        if received.path == "/token" or received.headers.get("authorization") == accepted:
            return token() if received.path == "/token" else None
        return Reply(status=401, headers={"WWW-Authenticate": header})

    return intercept


def test_a_token_is_fetched_once_per_repository_and_used_again(tmp_path: Path) -> None:
    with bench(tmp_path, access=Access.TOKEN) as b:
        for _ in range(3):
            assert b.registry.get_digest(b.image, "1.0") == CONTENT.top
        assert b.server.lines == [
            f"HEAD {manifest()}", f"GET /token?service=kix&scope={SCOPE}", *[f"HEAD {manifest()}"] * 3,
        ]  # fmt: skip


def test_fifty_pins_of_forty_repositories_cost_one_token_each_and_one_head_each(tmp_path: Path) -> None:
    with bench(tmp_path, access=Access.TOKEN) as b:
        for number in range(40):
            b.server._store.put(f"acme/app{number}", "1.0", CONTENT)
        # The first answer tells how this registry gives tokens.
        b.registry.get_digest(f"{b.server.host}/acme/app0", "1.0")
        images = [f"{b.server.host}/acme/app{number % 40}" for number in range(50)]
        found = each(lambda image: b.registry.get_digest(image, "1.0"), images, threads=16)
        assert set(found) == {CONTENT.top}
        assert len(b.asked("GET /token")) == 40
        assert len(b.asked("HEAD")) == 2 + 50


def test_a_token_that_is_over_is_replaced_once(tmp_path: Path) -> None:
    with bench(tmp_path, access=Access.TOKEN) as b:
        b.registry.get_digest(b.image, "1.0")
        b.server._tokens.clear()
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top
        assert len(b.asked("GET /token")) == 2


@pytest.mark.parametrize(
    ("header", "asked"),
    [
        ("Bearer realm=/token,service=s", f"GET /token?service=s&scope={SCOPE}"),
        ('Basic realm="x", Bearer realm="/token?a=b"', f"GET /token?a=b&scope={SCOPE}"),
        ('Bearer realm="/token",scope="repository:x:pull"', "GET /token?scope=repository%3Ax%3Apull"),
    ],
)
def test_a_challenge_of_any_form_is_answered(tmp_path: Path, header: str, asked: str) -> None:
    with bench(tmp_path, challenged(header)) as b:
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top
        assert b.asked("GET /token") == [asked]


def test_a_token_may_be_called_access_token(tmp_path: Path) -> None:
    def intercept(received: Received) -> Reply | None:
        if received.path == "/token":
            return token(name="access_token")
        return challenged('Bearer realm="/token"')(received)

    with bench(tmp_path, intercept) as b:
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top


@pytest.mark.parametrize("body", [b"", b"[]", b'{"token": 1}', b'{"token": "a b"}', b'{"token": "a\\r\\nX: y"}', b"{}"])
def test_a_token_that_no_header_holds_is_refused(tmp_path: Path, body: bytes) -> None:
    said = pytest.raises(RegistryAnswerError, match=r"acme/web: .*token server")
    with bench(tmp_path, on("GET /token", Reply(body=body)), access=Access.TOKEN) as b, said:
        b.registry.get_digest(b.image, "1.0")


@pytest.mark.parametrize("access", [Access.BASIC, Access.TOKEN])
def test_a_login_opens_a_private_image(tmp_path: Path, access: Access) -> None:
    with bench(tmp_path, access=access, users=ANN, docker=login) as b:
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top


@pytest.mark.parametrize("access", [Access.BASIC, Access.TOKEN])
def test_a_private_image_without_a_login_is_not_found_or_not_for_us(tmp_path: Path, access: Access) -> None:
    with bench(tmp_path, access=access, users=ANN) as b, pytest.raises(ImageDeniedError) as caught:
        b.registry.get_digest(b.image, "1.0")
    assert "/acme/web" in caught.value.message
    assert "not found or no access" in caught.value.message
    assert caught.value.hint == f"log in: docker login {b.server.host}"


def test_a_stale_login_does_not_hide_a_public_image(tmp_path: Path) -> None:
    """The token server refuses the login and lets everybody in."""
    with bench(tmp_path, access=Access.TOKEN, docker=stale) as b:
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top
        assert b.notes == [f"your stored login for {b.server.host} was rejected; it is asked without a login"]
        assert len(b.asked("GET /token")) == 2


def test_a_login_whose_token_is_refused_does_not_hide_a_public_image(tmp_path: Path) -> None:
    def intercept(received: Received) -> Reply | None:
        known = received.headers.get("authorization", "")
        if received.path == "/token":
            return token("login" if known.startswith("Basic") else "nobody")
        if known == "Bearer login":
            return fault(403, "DENIED")
        return (
            None if known == "Bearer nobody" else Reply(status=401, headers={"WWW-Authenticate": "Bearer realm=/token"})
        )

    with bench(tmp_path, intercept, docker=login) as b:
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top
        assert b.notes == [f"your stored login for {b.server.host} was rejected; it is asked without a login"]


def test_a_good_login_that_is_refused_one_repository_is_kept_for_the_others(tmp_path: Path) -> None:
    def intercept(received: Received) -> Reply | None:
        return fault(403, "DENIED") if "/acme/absent/" in received.path else None

    with bench(tmp_path, intercept, access=Access.TOKEN, users=ANN, docker=login) as b:
        with pytest.raises(ImageDeniedError, match=r"/acme/absent:1: not found or no access"):
            b.registry.get_digest(f"{b.server.host}/acme/absent", "1")
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top
        assert b.notes == []


def test_what_a_login_may_not_read_is_not_called_absent(tmp_path: Path) -> None:
    """As nobody a registry hides what is private behind 404: a pin check must not say that the digest is gone."""

    challenges = iter([Reply(status=401, headers={"WWW-Authenticate": "Basic realm=x"})])

    def intercept(received: Received) -> Reply:
        known = "authorization" in received.headers
        return next(challenges, fault(403, "DENIED") if known else fault(404, "NAME_UNKNOWN"))

    said = pytest.raises(ImageDeniedError, match="not found or no access")
    with bench(tmp_path, intercept, docker=login) as b, said:
        b.registry.has_digest(b.image, CONTENT.top)


def test_an_identity_token_is_traded_by_post(tmp_path: Path) -> None:
    with bench(tmp_path, challenged('Bearer realm="/token",service="acme.azurecr.io"'), docker=identity) as b:
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top
        (received,) = [received for received in b.server.requests if received.path == "/token"]
        assert received.method == "POST"
        assert parse_qs(received.body.decode()) == {
            "grant_type": ["refresh_token"],
            "service": ["acme.azurecr.io"],
            "scope": ["repository:acme/web:pull"],
            "client_id": ["kix"],
            "refresh_token": ["canary-refresh"],
        }


@pytest.mark.parametrize("status", [404, 405])
def test_where_there_is_no_post_the_identity_token_goes_by_get(tmp_path: Path, status: int) -> None:
    ask = challenged('Bearer realm="/token"')

    def intercept(received: Received) -> Reply | None:
        return fault(status) if received.method == "POST" else ask(received)

    with bench(tmp_path, intercept, docker=identity) as b:
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top
        got = [received for received in b.server.requests if received.line.startswith("GET /token")]
        expected = "Basic " + base64.b64encode(b":canary-refresh").decode()
        assert [received.headers["authorization"] for received in got] == [expected]


def test_a_registry_token_is_sent_as_it_is(tmp_path: Path) -> None:
    with bench(
        tmp_path, challenged('Bearer realm="/token"'), docker=lambda host: {"auths": {host: {"registrytoken": "t0ken"}}}
    ) as b:
        assert b.registry.get_digest(b.image, "1.0") == CONTENT.top
        assert b.asked("GET /token") == []


def realm_elsewhere(folder: Path, allow: tuple[str, ...]) -> tuple[Bench, LoopbackRegistry]:
    """A registry on 127.0.0.1 whose token server goes by the name localhost."""
    with LoopbackRegistry(ImageStore(), access=Access.OPEN, intercept=on("GET /token", token())) as realm:
        header = f'Bearer realm="http://localhost:{realm.host.rpartition(":")[2]}/token"'
        with bench(folder, challenged(header), docker=login, rules=lambda _: RegistrySettings(allow=allow)) as b:
            b.registry.get_digest(b.image, "1.0")
        return b, realm


def test_a_login_goes_to_a_listed_token_server(tmp_path: Path) -> None:
    b, realm = realm_elsewhere(tmp_path, ("127.0.0.1", "localhost"))
    assert "authorization" in realm.requests[0].headers
    assert b.notes == []


def test_a_login_does_not_go_to_a_token_server_that_nobody_listed(tmp_path: Path) -> None:
    header = 'Bearer realm="https://tokens.example.invalid/token"'
    with (
        bench(tmp_path, challenged(header), docker=login) as b,
        pytest.raises(Exception, match="its name does not resolve"),
    ):
        b.registry.get_digest(b.image, "1.0")
    said = f"the login for {b.server.host} is not sent to tokens.example.invalid, which is another host; "
    assert b.notes == [f'{said}if it is its token server: [registries] allow = ["tokens.example.invalid"]']


@pytest.mark.parametrize("realm", ["http://tokens.example/token", "http://169.254.169.254/token", "//10.0.0.1/token"])
def test_a_realm_without_tls_or_inside_is_not_contacted(tmp_path: Path, realm: str) -> None:
    said = pytest.raises(AddressRefusedError, match="not contacted")
    with bench(tmp_path, challenged(f'Bearer realm="{realm}"'), docker=login) as b, said:
        b.registry.get_digest(b.image, "1.0")


@pytest.mark.parametrize("realm", ["http://[::1", "ftp://x/token", "http://a:pw@127.0.0.1/t"])
def test_a_realm_that_is_no_address_is_refused(tmp_path: Path, realm: str) -> None:
    said = pytest.raises(RegistryAnswerError, match="a registry names an address that is n")
    with bench(tmp_path, challenged(f'Bearer realm="{realm}"')) as b, said:
        b.registry.get_digest(b.image, "1.0")


def test_no_message_and_no_note_holds_a_secret(tmp_path: Path) -> None:
    said = ""
    for docker in (stale, identity):
        with bench(tmp_path, access=Access.TOKEN, users=ANN, docker=docker) as b:
            with pytest.raises(ImageDeniedError) as caught:
                b.registry.get_digest(b.image, "1.0")
            said += f"{caught.value!r} {caught.value.hint} {b.notes}"
    assert "canary" not in said
