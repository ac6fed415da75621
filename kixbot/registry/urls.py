"""Addresses that a registry names: realms, page links, redirects. Pure."""

from urllib.parse import urljoin, urlsplit

from kixbot.registry.interface import RegistryAnswerError


def join(base: str, target: str) -> str:
    """`target` as seen from `base`. Raises RegistryAnswerError for what is no address."""
    try:
        url = urljoin(base, target)
    except ValueError as error:
        raise RegistryAnswerError("a registry names an address that is none") from error
    origin(url)
    return url


def origin(url: str) -> tuple[str, str]:
    """Scheme, and host in lower case with its port where one is written. Raises RegistryAnswerError."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # parsed when asked for
    except ValueError as error:
        raise RegistryAnswerError("a registry names an address that is none") from error
    return parts.scheme, parts.netloc.rpartition("@")[2].lower()
