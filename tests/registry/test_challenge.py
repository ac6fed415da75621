"""WWW-Authenticate headers as registries write them."""

import pytest
from hypothesis import given, strategies as st

from kixbot.registry.challenge import Challenge, find_bearer, has_basic, parse_challenges

URL = "https://registry.example/v2/acme/web/manifests/1"


@pytest.mark.parametrize(
    ("headers", "expected"),
    [
        (
            ['Bearer realm="https://auth.docker.io/token",service="registry.docker.io",scope="repository:a:pull"'],
            [("bearer", {"realm": "https://auth.docker.io/token", "service": "registry.docker.io", "scope": "repository:a:pull"})],
        ),
        (["Bearer realm=https://x/token, service=x"], [("bearer", {"realm": "https://x/token", "service": "x"})]),
        (['bearer service="x" , realm = "https://x"'], [("bearer", {"service": "x", "realm": "https://x"})]),
        (
            ['Basic realm="corp", Bearer realm="https://x/token"'],
            [("basic", {"realm": "corp"}), ("bearer", {"realm": "https://x/token"})],
        ),
        (['Negotiate, Basic realm="a,b \\"c\\""'], [("negotiate", {}), ("basic", {"realm": 'a,b "c"'})]),
        (["Basic", 'Bearer realm="r"'], [("basic", {}), ("bearer", {"realm": "r"})]),
        (['Bearer Realm="first",realm="second"'], [("bearer", {"realm": "first"})]),
        (["", ",,", '"'], []),
    ],
)  # fmt: skip
def test_every_challenge_of_every_header_is_read(
    headers: list[str], expected: list[tuple[str, dict[str, str]]]
) -> None:
    assert parse_challenges(headers) == tuple(Challenge(scheme=name, parameters=given) for name, given in expected)


@pytest.mark.parametrize(
    ("header", "url"),
    [
        ('Bearer realm="https://a/token",service="s",scope="repository:x:pull"', "https://a/token?service=s&scope=repository%3Ax%3Apull"),
        ('Bearer realm="https://a/token?account=b",service="s"', "https://a/token?account=b&service=s&scope=repository%3Aacme%2Fweb%3Apull"),
        ('Bearer realm="/token"', "https://registry.example/token?scope=repository%3Aacme%2Fweb%3Apull"),
        ('Bearer realm="https://a/t",scope="repository:x:pull repository:y:pull"', "https://a/t?scope=repository%3Ax%3Apull&scope=repository%3Ay%3Apull"),
        ('Basic realm="x", Bearer realm="https://a/t"', "https://a/t?scope=repository%3Aacme%2Fweb%3Apull"),
    ],
)  # fmt: skip
def test_a_token_is_asked_for_at_the_realm(header: str, url: str) -> None:
    source = find_bearer(parse_challenges([header]), url=URL, repository="acme/web")
    assert source is not None
    assert source.url == url


def test_a_bearer_challenge_without_a_realm_is_none() -> None:
    assert find_bearer(parse_challenges(['Bearer service="x"']), url=URL, repository="a") is None
    assert not has_basic(parse_challenges(["Bearer realm=x"]))


@given(st.lists(st.text(max_size=60), max_size=3))
def test_no_header_breaks_the_reader(headers: list[str]) -> None:
    for challenge in parse_challenges(headers):
        assert challenge.scheme == challenge.scheme.lower()
