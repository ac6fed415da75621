"""Logging in: answers challenges, keeps one token per registry and repository, falls back to anonymous.

Tokens last for a minute or for hours, and a registry says 401 when one is over: so a 401 drops the token once and asks
for a new one, and no clock is needed.
"""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlsplit

from kixbot.registry.challenge import TokenSource, find_bearer, has_basic, parse_challenges
from kixbot.registry.credentials import Keyring, Password, RegistryToken
from kixbot.registry.interface import ImageDeniedError
from kixbot.registry.oci_tokens import TokenClient, basic
from kixbot.registry.oci_transport import Answer, Request, Transport
from kixbot.registry.reference import Location
from kixbot.settings.model import RegistrySettings

_DENIED = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN})


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What requests about one repository carry. `with_login`: it came from a stored login."""

    authorization: str | None = field(default=None, repr=False)
    with_login: bool = False


_ANONYMOUS = Grant()


class Session:
    """Sends requests about a repository, logged in where the registry asks for it; safe from several threads."""

    def __init__(
        self, transport: Transport, keyring: Keyring, rules: RegistrySettings, *, note: Callable[[str], None]
    ) -> None:
        self._transport = transport
        self._keyring = keyring
        self._tokens = TokenClient(transport, rules, note=note)
        self._note = note
        self._grants: dict[tuple[str, str], Grant] = {}
        self._sources: dict[str, TokenSource] = {}
        self._rejected: set[str] = set()
        self._locks: dict[tuple[str, str], threading.Lock] = {}
        self._lock = threading.Lock()

    def send(self, method: str, url: str, location: Location, *, accept: str | None = None) -> Answer:
        """The answer to a request. Raises ImageDeniedError for what neither the login nor anonymous may read.

        `url` may lead to another host (a page link): it is then asked without authorization.
        """
        headers = {"Accept": accept} if accept else {}
        if urlsplit(url).netloc != location.api_host:
            return self._transport.send(Request(method=method, url=url, headers=headers))

        def attempt(grant: Grant) -> Answer:
            return self._transport.send(
                Request(method=method, url=url, headers=headers, authorization=grant.authorization)
            )

        grant = self._first_grant(location)
        answer = attempt(grant)
        if answer.status == HTTPStatus.UNAUTHORIZED:
            grant = self._renew(location, answer, grant)
            answer = attempt(grant)
        if answer.status in _DENIED and grant.with_login:
            return self._as_nobody(location, attempt, grant, answer)
        return answer

    def _as_nobody(
        self, location: Location, attempt: Callable[[Grant], Answer], used: Grant, refused: Answer
    ) -> Answer:
        """A login that is over makes public images fail: as nobody they can still be read.

        Only a success counts: registries also refuse a good login for what is not there.
        """
        answer = attempt(_ANONYMOUS)
        if answer.status == HTTPStatus.UNAUTHORIZED:
            try:
                grant = self._answer_challenges(location, answer, with_login=False)
            except ImageDeniedError:
                return refused
            answer = attempt(grant)
        else:
            grant = _ANONYMOUS
        if answer.status != HTTPStatus.OK:
            return refused
        self._note_rejected(location)
        self._replace(_key(location), used, grant)
        return answer

    def denied(self, location: Location, what: str, answer: Answer) -> ImageDeniedError:
        """The error for a 401 or 403 that remains."""
        cause = f" ({answer.code})" if answer.code else ""
        again = " again" if location.host in self._rejected else ""
        return ImageDeniedError(
            f"{what}: not found or no access{cause}", hint=f"log in{again}: docker login {location.host}"
        )

    def _first_grant(self, location: Location) -> Grant:
        key = _key(location)
        with self._lock:
            grant = self._grants.get(key)
            source = self._sources.get(location.api_host)
        if grant is not None:
            return grant
        if source is None:
            return _ANONYMOUS
        # This registry has asked for tokens of the usual form: fetch one before it has to ask again.
        with self._lock_of(key):
            with self._lock:
                grant = self._grants.get(key)
            if grant is None:
                scoped = TokenSource(realm=source.realm, service=source.service, scopes=(_scope(location.path),))
                grant = self._fetch(location, scoped, with_login=True)
                self._keep(key, grant)
        return grant

    def _renew(self, location: Location, answer: Answer, used: Grant) -> Grant:
        key = _key(location)
        with self._lock_of(key):
            with self._lock:
                kept = self._grants.get(key)
            if kept is not None and kept is not used:
                return kept  # another thread was here first
            # After a login that was refused for this repository, nobody asks.
            was_nobody = kept is not None and kept.authorization is not None and not kept.with_login
            grant = self._answer_challenges(location, answer, with_login=not was_nobody)
            self._keep(key, grant)
        return grant

    def _answer_challenges(self, location: Location, answer: Answer, *, with_login: bool) -> Grant:
        challenges = parse_challenges(answer.headers.get("www-authenticate", ()))
        source = find_bearer(challenges, url=answer.url, repository=location.path)
        if source is not None:
            if source.scopes == (_scope(location.path),):
                with self._lock:
                    self._sources[location.api_host] = source
            return self._fetch(location, source, with_login=with_login)
        login = self._keyring.find_login(location.host) if with_login and has_basic(challenges) else None
        if isinstance(login, Password):
            return Grant(authorization=basic(login.username, login.password), with_login=True)
        return _ANONYMOUS

    def _fetch(self, location: Location, source: TokenSource, *, with_login: bool) -> Grant:
        login = self._keyring.find_login(location.host) if with_login else None
        if isinstance(login, RegistryToken):
            return Grant(authorization=f"Bearer {login.token}", with_login=True)
        issued = self._tokens.fetch(source, login, location)
        if issued.login_rejected:
            self._note_rejected(location)
        return Grant(authorization=f"Bearer {issued.token}", with_login=issued.with_login)

    def _note_rejected(self, location: Location) -> None:
        with self._lock:
            known = location.host in self._rejected
            self._rejected.add(location.host)
        if not known:
            self._note(f"your stored login for {location.host} was rejected; it is asked without a login")

    def _keep(self, key: tuple[str, str], grant: Grant) -> None:
        with self._lock:
            self._grants[key] = grant

    def _replace(self, key: tuple[str, str], used: Grant, grant: Grant) -> None:
        with self._lock:
            if self._grants.get(key) is used:
                self._grants[key] = grant

    def _lock_of(self, key: tuple[str, str]) -> threading.Lock:
        with self._lock:
            return self._locks.setdefault(key, threading.Lock())


def _key(location: Location) -> tuple[str, str]:
    return location.api_host, location.path


def _scope(path: str) -> str:
    return f"repository:{path}:pull"
