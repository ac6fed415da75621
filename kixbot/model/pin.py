"""Image pins: what pins.json holds."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

PINS_VERSION = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Pin:
    """One pin. `image` has no tag (`ghcr.io/acme/web`); `digest` is `sha256:` and 64 hex, of the index where one is.

    `update` is a rule: `tag` (as is), a semver range, or a pattern; None means never updated by itself.
    `extra` holds fields this version does not know; they are written back as they were.
    """

    key: str
    image: str
    tag: str
    digest: str
    user: str | int | None = None
    update: str | None = None
    frozen: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def reference(self) -> str:
        """`image:tag@digest`, what a manifest holds."""
        return f"{self.image}:{self.tag}@{self.digest}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Pins:
    """All pins, by key, and the file's unknown top-level fields."""

    pins: Mapping[str, Pin] = field(default_factory=dict)
    extra: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class PinChange:
    """A pin that moves, with the evidence a reviewer sees. Times are RFC 3339 strings as the registry said them."""

    key: str
    old: Pin
    new: Pin
    created: str | None = None
    platforms: tuple[str, ...] = ()
    revision: str | None = None
