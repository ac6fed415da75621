"""Token servers: the GET with Basic and the POST with a refresh token, and who may be sent a login.

Rules: distribution's token authentication specification, and its OAuth2 variant.
"""

import base64
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from urllib.parse import urlencode, urlsplit

from kixbot.registry.challenge import TokenSource
from kixbot.registry.credentials import IdentityToken, Login, Password
from kixbot.registry.interface import ImageDeniedError, RegistryAnswerError
from kixbot.registry.oci_transport import Answer, Request, Transport
from kixbot.registry.reference import Location, is_listed, split_host
from kixbot.settings.model import RegistrySettings

# Token servers that are known to go by another name than their registry.
_KNOWN_REALMS = {"docker.io": "auth.docker.io", "registry.gitlab.com": "gitlab.com"}
_TOKEN = re.compile(r"[A-Za-z0-9._~+/=:|-]{1,65536}")
_CLIENT = "kix"


@dataclass(frozen=True, slots=True, kw_only=True)
class Issued:
    """A token; whether a login obtained it, and whether one was refused on the way."""

    token: str = field(repr=False)
    with_login: bool = False
    login_rejected: bool = False


class TokenClient:
    """Fetches tokens. A login goes to the registry's own host, to a known token server or to a listed one only."""

    def __init__(self, transport: Transport, rules: RegistrySettings, *, note: Callable[[str], None]) -> None:
        self._transport = transport
        self._rules = rules
        self._note = note

    def fetch(self, source: TokenSource, login: Login | None, location: Location) -> Issued:
        """A token for the source's scopes. Raises ImageDeniedError where none is given, even to nobody."""
        realm = urlsplit(source.realm).netloc.lower()
        if login is not None and not self._is_trusted(realm, location):
            self._note(
                f"the login for {location.host} is not sent to {realm}, which is another host; "
                f'if it is its token server: [registries] allow = ["{realm}"]'
            )
            login = None
        if login is not None:
            answer = self._ask(source, login)
            if answer.status not in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
                return Issued(token=_token_of(answer, location, realm), with_login=True)
        anonymous = self._get(source, None)
        return Issued(token=_token_of(anonymous, location, realm), login_rejected=login is not None)

    def _is_trusted(self, realm: str, location: Location) -> bool:
        name = split_host(realm)[0]
        own = {split_host(location.api_host)[0], split_host(location.host)[0], _KNOWN_REALMS.get(location.host, "")}
        return name in own or is_listed(realm, (*self._rules.allow, *self._rules.insecure))

    def _ask(self, source: TokenSource, login: Login) -> Answer:
        match login:
            case Password():
                return self._get(source, basic(login.username, login.password))
            case IdentityToken():
                answer = self._post(source, login.token)
                if answer.status in (HTTPStatus.NOT_FOUND, HTTPStatus.METHOD_NOT_ALLOWED):
                    return self._get(source, basic("", login.token))
                return answer
            case _:
                raise AssertionError("a registry token is sent as it is")

    def _get(self, source: TokenSource, authorization: str | None) -> Answer:
        return self._transport.send(Request(method="GET", url=source.url, authorization=authorization))

    def _post(self, source: TokenSource, refresh_token: str) -> Answer:
        form = {
            "grant_type": "refresh_token",
            "service": source.service or "",
            "scope": " ".join(source.scopes),
            "client_id": _CLIENT,
            "refresh_token": refresh_token,
        }
        return self._transport.send(
            Request(
                method="POST",
                url=source.realm,
                headers={"Content-Type": "application/x-www-form-urlencoded"},
                body=urlencode(form).encode(),
            )
        )


def basic(username: str, password: str) -> str:
    """The value of a Basic Authorization header (RFC 7617)."""
    return "Basic " + base64.b64encode(f"{username}:{password}".encode()).decode()


def _token_of(answer: Answer, location: Location, realm: str) -> str:
    name = f"{location.host}/{location.path}"
    if answer.status in (HTTPStatus.UNAUTHORIZED, HTTPStatus.FORBIDDEN):
        raise ImageDeniedError(f"{name}: not found or no access", hint=f"log in: docker login {location.host}")
    if answer.status != HTTPStatus.OK:
        raise RegistryAnswerError(f"{name}: its token server {realm} answers {answer.status}")
    try:
        document = json.loads(answer.body)
    except (ValueError, RecursionError) as error:
        raise RegistryAnswerError(f"{name}: the answer of its token server {realm} is not JSON") from error
    token = (document.get("token") or document.get("access_token")) if isinstance(document, dict) else None
    # A header holds it: anything but the characters of RFC 6750 is refused.
    if not isinstance(token, str) or not _TOKEN.fullmatch(token):
        raise RegistryAnswerError(f"{name}: its token server {realm} gives no token")
    return token
