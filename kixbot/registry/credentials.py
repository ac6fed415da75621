"""Logins for registries: the docker configuration, its credential helpers and identity tokens.

A login belongs to one host and is read when that host asks for it. Docker's order: credHelpers, credsStore, auths.
A helper that knows nothing of a host means anonymous.
"""

import base64
import binascii
import json
import os
import re
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from kixbot.errors import SettingsError
from kixbot.registry.reference import HUB, HUB_NAMES

_HUB_KEY = "https://index.docker.io/v1/"
_HELPER = re.compile(r"[A-Za-z0-9_.-]{1,64}")
_HELPER_SECONDS = 60
# What known helpers read (ECR, GAR and GCR, ACR, pass, secretservice); nothing else of CI's environment reaches them.
_HELPER_NAMES = frozenset(
    {"PATH", "HOME", "USER", "LOGNAME", "LANG", "TMPDIR", "DOCKER_CONFIG", "GNUPGHOME", "GPG_TTY",
     "PASSWORD_STORE_DIR", "DBUS_SESSION_BUS_ADDRESS", "SSL_CERT_FILE", "HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY",
     "https_proxy", "http_proxy", "no_proxy"}
)  # fmt: skip
_HELPER_PREFIXES = ("AWS_", "AZURE_", "GOOGLE_", "CLOUDSDK_", "XDG_", "LC_", "ECR_")


@dataclass(frozen=True, slots=True, kw_only=True)
class Password:
    """A user and a password, for Basic or for a token server."""

    username: str
    password: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class IdentityToken:
    """A refresh token, which a token server trades for an access token."""

    token: str = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistryToken:
    """An access token that is sent as it is."""

    token: str = field(repr=False)


Login = Password | IdentityToken | RegistryToken


@dataclass(frozen=True, slots=True, kw_only=True)
class DockerConfig:
    """What config.json says: logins and helpers by host, and the helper for all others."""

    logins: Mapping[str, Login] = field(default_factory=dict)
    helpers: Mapping[str, str] = field(default_factory=dict)
    store: str | None = None


def read_docker_config(environment: Mapping[str, str], home: Path) -> DockerConfig:
    """The docker configuration of DOCKER_CONFIG, else of `home`; an absent file is an empty one.

    Raises SettingsError where the file cannot be used; the message never quotes from it.
    """
    folder = environment.get("DOCKER_CONFIG")
    file = (Path(folder) if folder else home / ".docker") / "config.json"
    try:
        text = file.read_text(encoding="utf-8")
    except FileNotFoundError:
        return DockerConfig()
    except (OSError, UnicodeDecodeError) as error:
        raise SettingsError(f"{file}: the docker configuration cannot be read") from error
    try:
        document = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise SettingsError(f"{file}: the docker configuration is not JSON", hint="docker login writes it") from error
    if not isinstance(document, dict):
        raise SettingsError(f"{file}: the docker configuration is not an object")
    return _decode(document, str(file))


def find_host_of_key(key: str) -> str | None:
    """The host of an `auths` key in each of its forms: `host`, `https://host`, `https://host/v1/`, Docker Hub's.

    None for a key that is for one repository only (`ghcr.io/acme`), which docker does not write.
    """
    host, _, path = key.removeprefix("https://").removeprefix("http://").partition("/")
    if path.rstrip("/") not in ("", "v1", "v2"):
        return None
    return HUB if host.lower() in HUB_NAMES else host.lower()


class Keyring:
    """Finds the login of a host, asks each helper once; safe from several threads."""

    def __init__(self, config: DockerConfig, *, environment: Mapping[str, str], note: Callable[[str], None]) -> None:
        self._config = config
        self._environment = environment
        self._note = note
        self._asked: dict[str, Login | None] = {}
        self._lock = threading.Lock()

    def find_login(self, host: str) -> Login | None:
        """The login for a registry's host (Docker Hub is `docker.io`), or None: anonymous."""
        helper = self._config.helpers.get(host) or self._config.store
        if helper is None:
            return self._config.logins.get(host)
        with self._lock:
            if host not in self._asked:
                self._asked[host] = self._ask(helper, host)
            # `docker login` leaves an empty entry in auths for what the store keeps; a full one is a login of old.
            return self._asked[host] or self._config.logins.get(host)

    def _ask(self, helper: str, host: str) -> Login | None:
        program = f"docker-credential-{helper}"
        try:
            done = subprocess.run(
                [program, "get"],
                input=(_HUB_KEY if host == HUB else host).encode(),
                capture_output=True,
                check=False,
                timeout=_HELPER_SECONDS,
                env=_helper_environment(self._environment),
            )
        except FileNotFoundError:
            self._note(f"{program}: not on PATH; {host} is asked without a login")
            return None
        except (OSError, subprocess.TimeoutExpired):
            self._note(f"{program}: did not answer; {host} is asked without a login")
            return None
        if done.returncode != 0:
            # docker-credential-helpers' own text for an unknown host; every helper repeats it.
            if b"credentials not found" not in done.stdout + done.stderr:
                self._note(f"{program}: ended with {done.returncode}; {host} is asked without a login")
            return None
        login = _decode_helper(done.stdout)
        if login is None:
            self._note(f"{program}: its answer is not understood; {host} is asked without a login")
        return login


def _helper_environment(environment: Mapping[str, str]) -> dict[str, str]:
    passed = {
        name: value for name, value in environment.items() if name in _HELPER_NAMES or name.startswith(_HELPER_PREFIXES)
    }
    passed.setdefault("PATH", os.defpath)
    return passed


def _decode_helper(answer: bytes) -> Login | None:
    try:
        document = json.loads(answer)
    except ValueError:
        return None
    if not isinstance(document, dict):
        return None
    username, secret = document.get("Username"), document.get("Secret")
    if not isinstance(username, str) or not isinstance(secret, str) or not secret:
        return None
    return IdentityToken(token=secret) if username == "<token>" else Password(username=username, password=secret)


def _decode(document: Mapping[str, Any], file: str) -> DockerConfig:
    helpers, auths = document.get("credHelpers") or {}, document.get("auths") or {}
    store = document.get("credsStore") or None
    if not isinstance(helpers, dict) or not isinstance(auths, dict):
        raise SettingsError(f"{file}: auths and credHelpers of the docker configuration are objects by host")
    for name in [*helpers.values(), *([store] if store else [])]:
        if not isinstance(name, str) or not _HELPER.fullmatch(name):
            raise SettingsError(f"{file}: a credential helper of the docker configuration has an unusable name")
    logins = {}
    for key, entry in auths.items():
        login = _decode_login(entry, f"{file}: the login of {key[:200]}")
        host = find_host_of_key(key)
        if login is not None and host is not None:
            logins[host] = login
    return DockerConfig(
        logins=logins,
        helpers={host: name for key, name in helpers.items() if (host := find_host_of_key(key))},
        store=store,
    )


def _decode_login(entry: Any, place: str) -> Login | None:
    if not isinstance(entry, dict):
        raise SettingsError(f"{place} is not an object")
    for name, kind in (("identitytoken", IdentityToken), ("registrytoken", RegistryToken)):
        token = entry.get(name)
        if isinstance(token, str) and token:
            return kind(token=token)
    username, password = entry.get("username"), entry.get("password")
    encoded = entry.get("auth")
    if isinstance(encoded, str) and encoded:
        try:
            pair = base64.b64decode(encoded, validate=True).decode()
        except (binascii.Error, UnicodeDecodeError) as error:
            raise SettingsError(f"{place} is not base64") from error
        username, colon, password = pair.partition(":")
        if not colon:
            raise SettingsError(f"{place} is not base64 of user:password")
        password = password.rstrip("\0")  # docker's own decoder strips them
    if isinstance(username, str) and username and isinstance(password, str):
        return Password(username=username, password=password)
    return None
