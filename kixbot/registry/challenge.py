"""WWW-Authenticate: every challenge of a header, quoted or not, and which of them to answer. Pure.

Grammar: RFC 9110, sections 11.2 to 11.6.1. Several challenges may share one header or come in several.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from kixbot.registry.urls import join

_WORD = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"
_PARAMETER = re.compile(rf'({_WORD})\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]*))')
_SCHEME = re.compile(rf"({_WORD})(?=\s|,|$)")
_SEPARATORS = re.compile(r"[\s,]*")
_MAX_HEADER = 8192


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """One challenge: its scheme in lower case, its parameters with names in lower case."""

    scheme: str
    parameters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenSource:
    """Where a Bearer token is fetched. `scopes` are as asked for, `service` may be absent."""

    realm: str
    scopes: tuple[str, ...]
    service: str | None = None

    @property
    def url(self) -> str:
        """The address of a GET: the realm with its own query, the service, each scope as a parameter of its own."""
        parts = urlsplit(self.realm)
        query = parse_qsl(parts.query, keep_blank_values=True)
        if self.service:
            query.append(("service", self.service))
        query += [("scope", scope) for scope in self.scopes]
        return urlunsplit((parts.scheme, parts.netloc, parts.path, urlencode(query), ""))


def parse_challenges(headers: Iterable[str]) -> tuple[Challenge, ...]:
    """All challenges of all WWW-Authenticate headers, in order. What is no challenge ends the header it stands in."""
    return tuple(challenge for header in headers for challenge in _parse_header(header[:_MAX_HEADER]))


def find_bearer(challenges: Iterable[Challenge], *, url: str, repository: str) -> TokenSource | None:
    """The first Bearer challenge with a realm; `url` is what the realm may be relative to.

    Raises RegistryAnswerError for a realm that is no address.
    """
    for challenge in challenges:
        realm = challenge.parameters.get("realm", "")
        if challenge.scheme != "bearer" or not realm:
            continue
        scope = challenge.parameters.get("scope") or f"repository:{repository}:pull"
        return TokenSource(
            realm=join(url, realm), scopes=tuple(scope.split()), service=challenge.parameters.get("service") or None
        )
    return None


def has_basic(challenges: Iterable[Challenge]) -> bool:
    """Does the registry take a user and a password directly?"""
    return any(challenge.scheme == "basic" for challenge in challenges)


def _parse_header(header: str) -> list[Challenge]:
    challenges: list[Challenge] = []
    at = _skip(header, 0)
    while at < len(header):
        scheme = _SCHEME.match(header, at)
        if scheme is None:
            break
        parameters: dict[str, str] = {}
        at = _skip(header, scheme.end())
        while found := _PARAMETER.match(header, at):
            quoted, plain = found[2], found[3]
            value = plain if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
            parameters.setdefault(found[1].lower(), value)
            at = _skip(header, found.end())
        challenges.append(Challenge(scheme=scheme[1].lower(), parameters=parameters))
    return challenges


def _skip(header: str, at: int) -> int:
    found = _SEPARATORS.match(header, at)
    return found.end() if found else at
