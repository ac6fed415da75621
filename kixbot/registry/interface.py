"""What kix asks of an image registry, as values in and values out; and how a registry says no.

Every implementation passes tests/contracts/test_registry.py. Rules for all of them:

- A digest is of what the TAG names: the index where the image has one, never a platform's manifest, so that it does
  not depend on the machine that asks.
- A digest is one the registry says for a HEAD, or computed over the bytes; a body that does not hash to its digest is
  an error.
- No answer is "no update" because the registry failed: not found, no access, limited and unreachable are four errors.
- No message carries a credential or a text of the registry beyond its error code.
"""

from dataclasses import dataclass
from typing import Protocol

from kixbot.errors import RegistryError


class ImageNotFoundError(RegistryError):
    """The registry has no such repository, tag or digest."""


class ImageDeniedError(RegistryError):
    """401 or 403. Registries answer so for what is private and, many, for what is not there."""


class RegistryLimitedError(RegistryError):
    """429: the registry wants no more requests for now."""


class RegistryUnreachableError(RegistryError):
    """No connection, a server fault, or an address that is not allowed."""


class RegistryAnswerError(RegistryError):
    """An answer that breaks the distribution specification: nothing is pinned from it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TagList:
    """Tags in order of their bytes, signatures and attestations left out; not `is_complete` where a list was cut."""

    tags: tuple[str, ...]
    is_complete: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFacts:
    """What an image says of itself. Texts are the image author's, as they are.

    `platforms` such as `linux/arm64` (its variant v8 is not repeated), attestations left out. `created` is RFC 3339,
    `revision` and `source` are the OCI annotations, `user` the config's: all three from linux/amd64 where there is
    one, else the first platform. `user` is "" where the config names none (the image then runs as root) and None where
    there is no image config.
    """

    digest: str
    platforms: tuple[str, ...] = ()
    created: str | None = None
    revision: str | None = None
    source: str | None = None
    user: str | None = None


class Registry(Protocol):
    """Reads images. `image` is a name without tag (`ghcr.io/acme/web`); every call may raise a RegistryError."""

    def get_digest(self, image: str, tag: str) -> str:
        """What the tag names now. Raises ImageNotFoundError where the tag or the image is gone."""

    def has_digest(self, image: str, digest: str) -> bool:
        """Can this digest still be pulled?"""

    def get_tags(self, image: str) -> TagList:
        """All tags of an image."""

    def get_facts(self, image: str, digest: str) -> ImageFacts:
        """What the image of that digest says of itself. Raises ImageNotFoundError."""
