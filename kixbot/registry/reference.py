"""Image references: where the host ends, what is a tag, and where a name is looked up. Pure.

Grammar: distribution's reference package. The first component is a host only with a dot, a colon, or as `localhost`.
"""

import re
from dataclasses import dataclass

from kixbot.errors import UsageError
from kixbot.model.pinfile import DIGEST, TAG
from kixbot.settings.model import RegistrySettings

_HOST = re.compile(r"(?:\[[0-9a-fA-F:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?)(?::\d{1,5})?")
_PATH = re.compile(r"[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*(?:/[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*)*")

HUB = "docker.io"
HUB_NAMES = frozenset({HUB, "index.docker.io", "registry-1.docker.io"})
HUB_API = "registry-1.docker.io"
_MAX_NAME = 255  # distribution's NameTotalLengthMax


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """`name` is the image as written, `host` and `path` what it stands for (`nginx`: docker.io, library/nginx)."""

    name: str
    host: str
    path: str
    tag: str | None = None
    digest: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """Where an image is looked up: `host` with its port, as the API's address and the docker config know it."""

    scheme: str
    host: str
    path: str

    @property
    def api_host(self) -> str:
        """The host of requests: Docker Hub's API has a name of its own."""
        return HUB_API if self.host == HUB else self.host

    @property
    def base(self) -> str:
        """The address all requests about this image begin with."""
        return f"{self.scheme}://{self.api_host}/v2/{self.path}"


def parse(text: str) -> Reference:
    """Take `host/path:tag@digest` apart. Raises UsageError for what no registry takes."""
    rest, at, digest = text.partition("@")
    if at and not DIGEST.fullmatch(digest):
        raise UsageError(f'image "{text}": the part after @ is no digest', hint="sha256: and 64 hexadecimal digits")
    last = rest.rpartition("/")[2]
    tag = None
    if ":" in last:
        rest, _, tag = rest.rpartition(":")
        if not TAG.fullmatch(tag):
            raise UsageError(f'image "{text}": the part after : is no tag')
    first, slash, path = rest.partition("/")
    if slash and _is_host(first):
        host = HUB if first.lower() in HUB_NAMES else first.lower()
    else:
        host, path = HUB, rest
    if host == HUB and "/" not in path:
        path = f"library/{path}"
    if not _HOST.fullmatch(host) or not _PATH.fullmatch(path) or len(rest) > _MAX_NAME:
        raise UsageError(
            f'image "{text}": not a name a registry takes', hint="host/path in lower case, such as ghcr.io/acme/web"
        )
    return Reference(name=rest, host=host, path=path, tag=tag, digest=digest or None)


def locate(reference: Reference, rules: RegistrySettings) -> Location:
    """Where a reference is looked up: the longest mirror prefix decides; the written name stays what it is."""
    full = f"{reference.host}/{reference.path}"
    for prefix in sorted(rules.mirrors, key=len, reverse=True):
        if full == prefix or full.startswith(f"{prefix}/"):
            full = rules.mirrors[prefix].rstrip("/") + full.removeprefix(prefix)
            break
    host, _, path = full.partition("/")
    return Location(scheme="http" if is_plain(host, rules) else "https", host=host, path=path)


def is_plain(host: str, rules: RegistrySettings) -> bool:
    """Is the host spoken to without TLS? Only this machine and what the settings list; never as a fallback."""
    return is_listed(host, rules.insecure) or _is_this_machine(split_host(host)[0])


def is_listed(host: str, entries: tuple[str, ...]) -> bool:
    """Is `host` (with or without port) among the entries?"""
    name, _ = split_host(host)
    listed = {entry.lower() for entry in entries}
    return host.lower() in listed or name in listed


def split_host(host: str) -> tuple[str, int | None]:
    """Name in lower case without brackets, and port."""
    found = re.fullmatch(r"\[?(?P<name>[^\]]*?)\]?(?::(?P<port>\d+))?", host)
    if found is None or (host.count(":") > 1 and not host.startswith("[")):
        return host.lower(), None
    return found["name"].lower(), int(found["port"]) if found["port"] else None


def _is_host(word: str) -> bool:
    return "." in word or ":" in word or word.lower() == "localhost"


def _is_this_machine(name: str) -> bool:
    return name in {"localhost", "::1"} or bool(re.fullmatch(r"127(?:\.\d{1,3}){3}", name))
