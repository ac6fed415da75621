"""The receipt of a deploy: what an auditor can use. One schema number, one decoder a version."""

from collections.abc import Mapping
from dataclasses import dataclass, field

RECEIPT_SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Image:
    """An image that was deployed; `digest` None where the manifest names none."""

    reference: str
    digest: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Receipt:
    """What was deployed, by whom, with what. Times are RFC 3339 in UTC. Never holds a secret value."""

    id: str
    """`<activation name>.<deploy time in seconds, base 10>`: the one id used everywhere."""
    cluster: str
    activation: str
    activation_path: str
    time: str
    actor: str | None = None
    run_url: str | None = None
    commit: str | None = None
    branch: str | None = None
    clean: bool | None = None
    remote: str | None = None
    tools: Mapping[str, str] = field(default_factory=dict)
    arch: str = ""
    os: str = ""
    flake_inputs: tuple[Mapping[str, str], ...] = ()
    images: tuple[Image, ...] = ()
    pins: Mapping[str, str] = field(default_factory=dict)
    counts: Mapping[str, int] = field(default_factory=dict)
    reviewed_hash: str | None = None
    deployed_hash: str | None = None
    forced: tuple[str, ...] = ()
    adopted: tuple[str, ...] = ()
    emergency: str | None = None
    partial: bool = False
    warnings: tuple[str, ...] = ()
