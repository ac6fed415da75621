"""The docker configuration: every form of a login, helpers, and what is not passed to them."""

import base64
import json
from pathlib import Path

import pytest

from kixbot.errors import SettingsError
from kixbot.registry.credentials import (
    IdentityToken,
    Keyring,
    Login,
    Password,
    RegistryToken,
    find_host_of_key,
    read_docker_config,
)


def auth(text: str) -> dict[str, str]:
    return {"auth": base64.b64encode(text.encode()).decode()}


def keyring(folder: Path, config: object, notes: list[str] | None = None, **environment: str) -> Keyring:
    (folder / "config.json").write_text(json.dumps(config))
    given = {"DOCKER_CONFIG": str(folder), "PATH": f"{folder}:/usr/bin:/bin", **environment}
    return Keyring(
        read_docker_config(given, folder), environment=given, note=notes.append if notes is not None else pytest.fail
    )


def helper(folder: Path, name: str, script: str) -> None:
    file = folder / f"docker-credential-{name}"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o755)


@pytest.mark.parametrize(
    ("key", "host"),
    [
        ("ghcr.io", "ghcr.io"),
        ("https://ghcr.io", "ghcr.io"),
        ("https://registry.example:5000/v1/", "registry.example:5000"),
        ("https://registry.example/v2/", "registry.example"),
        ("https://index.docker.io/v1/", "docker.io"),
        ("registry-1.docker.io", "docker.io"),
        ("ghcr.io/acme", None),
    ],
)
def test_a_key_of_the_configuration_names_a_host(key: str, host: str | None) -> None:
    assert find_host_of_key(key) == host


@pytest.mark.parametrize(
    ("entry", "login"),
    [
        (auth("ann:pa:ss"), Password(username="ann", password="pa:ss")),
        ({"username": "ann", "password": "pw"}, Password(username="ann", password="pw")),
        ({**auth("ann:"), "identitytoken": "refresh"}, IdentityToken(token="refresh")),
        ({"registrytoken": "bearer"}, RegistryToken(token="bearer")),
        ({}, None),
        ({"auth": ""}, None),
    ],
)
def test_a_login_is_read_in_each_form(tmp_path: Path, entry: dict[str, str], login: Login | None) -> None:
    found = keyring(tmp_path, {"auths": {"https://index.docker.io/v1/": entry}})
    assert found.find_login("docker.io") == login
    assert found.find_login("ghcr.io") is None


def test_a_helper_of_the_host_goes_before_the_store_and_both_before_auths(tmp_path: Path) -> None:
    helper(tmp_path, "one", 'cat >/dev/null; echo \'{"Username":"one","Secret":"s1"}\'')
    helper(tmp_path, "all", 'read host; echo "{\\"Username\\":\\"$host\\",\\"Secret\\":\\"s2\\"}"')
    found = keyring(
        tmp_path,
        {"credHelpers": {"one.example": "one"}, "credsStore": "all", "auths": {"one.example": auth("old:login")}},
    )
    assert found.find_login("one.example") == Password(username="one", password="s1")
    assert found.find_login("two.example") == Password(username="two.example", password="s2")
    assert found.find_login("docker.io") == Password(username="https://index.docker.io/v1/", password="s2")


def test_a_helper_may_give_a_refresh_token(tmp_path: Path) -> None:
    helper(tmp_path, "acr", 'cat >/dev/null; echo \'{"Username":"<token>","Secret":"refresh"}\'')
    found = keyring(tmp_path, {"credHelpers": {"acme.azurecr.io": "acr"}})
    assert found.find_login("acme.azurecr.io") == IdentityToken(token="refresh")


def test_a_helper_is_asked_once_per_host(tmp_path: Path) -> None:
    helper(tmp_path, "one", f'cat >/dev/null; echo x >>{tmp_path}/asked; echo \'{{"Username":"a","Secret":"b"}}\'')
    found = keyring(tmp_path, {"credsStore": "one"})
    assert [found.find_login("a.example") for _ in range(3)] == [Password(username="a", password="b")] * 3
    assert (tmp_path / "asked").read_text() == "x\n"


@pytest.mark.parametrize(
    ("script", "note"),
    [
        ("cat >/dev/null; echo credentials not found in native keychain; exit 1", None),
        ("cat >/dev/null; echo secret-value; exit 3", "docker-credential-x: ended with 3; a.example is asked without a login"),
        ("cat >/dev/null; echo secret-value", "docker-credential-x: its answer is not understood; a.example is asked without a login"),
    ],
)  # fmt: skip
def test_a_helper_without_an_answer_means_anonymous(tmp_path: Path, script: str, note: str | None) -> None:
    helper(tmp_path, "x", script)
    notes: list[str] = []
    assert keyring(tmp_path, {"credsStore": "x"}, notes).find_login("a.example") is None
    assert notes == ([note] if note else [])


def test_a_helper_that_is_not_there_means_anonymous(tmp_path: Path) -> None:
    notes: list[str] = []
    assert keyring(tmp_path, {"credsStore": "absent"}, notes).find_login("a.example") is None
    assert notes == ["docker-credential-absent: not on PATH; a.example is asked without a login"]


def test_a_helper_sees_only_what_helpers_need_of_the_environment(tmp_path: Path) -> None:
    helper(tmp_path, "env", f'cat >/dev/null; env >{tmp_path}/seen; echo \'{{"Username":"a","Secret":"b"}}\'')
    found = keyring(tmp_path, {"credsStore": "env"}, AWS_REGION="eu", GITHUB_TOKEN="canary", HOME="/h")
    found.find_login("a.example")
    seen = (tmp_path / "seen").read_text()
    assert "AWS_REGION=eu" in seen
    assert "HOME=/h" in seen
    assert "canary" not in seen


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "is not an object"),
        ('{"auths": 1}', "auths and credHelpers of the docker configuration are objects by host"),
        ('{"credsStore": "../../bin/sh"}', "a credential helper of the docker configuration has an unusable name"),
        ('{"auths": {"a.example": {"auth": "c2VjcmV0"}}}', "the login of a.example is not base64 of user:password"),
        ('{"auths": {"a.example": {"auth": "%"}}}', "the login of a.example is not base64"),
        ('{"auths": {"a.example": "canary"}}', "the login of a.example is not an object"),
    ],
)
def test_a_broken_configuration_is_named_and_never_quoted(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "config.json").write_text(text)
    with pytest.raises(SettingsError) as caught:
        read_docker_config({"DOCKER_CONFIG": str(tmp_path)}, tmp_path)
    assert caught.value.message.startswith(f"{tmp_path}/config.json: ")
    assert message in caught.value.message
    assert "canary" not in caught.value.message


def test_the_configuration_of_the_home_folder_is_read_and_an_absent_one_is_empty(tmp_path: Path) -> None:
    assert Keyring(read_docker_config({}, tmp_path), environment={}, note=pytest.fail).find_login("ghcr.io") is None
    (tmp_path / ".docker").mkdir()
    (tmp_path / ".docker" / "config.json").write_text(json.dumps({"auths": {"ghcr.io": auth("a:b")}}))
    found = Keyring(read_docker_config({}, tmp_path), environment={}, note=pytest.fail)
    assert found.find_login("ghcr.io") == Password(username="a", password="b")


def test_no_login_shows_its_secret() -> None:
    shown = repr(
        [Password(username="a", password="canary"), IdentityToken(token="canary"), RegistryToken(token="canary")]
    )
    assert "canary" not in shown
