"""The settings as values, with their defaults. Durations are seconds, paths relative to the settings file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from kixbot.model.activation import DEFAULT_RECORD_NAMESPACE
from kixbot.model.build import External, Suppression


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterSettings:
    """One cluster. `context` is required to deploy; `kubernetes` None: what the flavor or the definition says."""

    path: str
    context: str | None = None
    namespace: str = "default"
    environment: str | None = None
    pins: str = "pins.json"
    kubernetes: str | None = None
    flavor: str = "generic"
    deploy: Literal["merge", "approval", "manual"] = "merge"
    after: tuple[str, ...] = ()
    soak: int = 0
    policy: Literal["warn", "stop"] = "warn"
    roles: Mapping[str, Literal["builtin", "absent", "external"]] = field(default_factory=dict)
    externals: tuple[External, ...] = ()
    cede: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    record_namespace: str = DEFAULT_RECORD_NAMESPACE
    allow_plain_secrets: bool = False
    allow_unmerged: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckSettings:
    """`fail`: rules (or `group/*`) whose warnings fail; `ignore`: suppressions."""

    fail: tuple[str, ...] = ()
    ignore: tuple[Suppression, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PinSettings:
    """How the bot keeps pins. `min_age` in seconds."""

    mode: Literal["pull-request", "commit", "off"] = "pull-request"
    on: tuple[Literal["merge", "schedule"], ...] = ("schedule",)
    min_age: int = 0
    signed_by: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class BotSettings:
    """What the bot writes. `shrink_threshold`: percent of a cluster's resources that a change may remove."""

    comment: Literal["true", "changes-only", "false"] = "true"
    shrink_threshold: int = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class RegistrySettings:
    """How registries are reached. A host is `name`, which stands for every port, or `name:port`.

    `mirrors`: written name, or a prefix of it, to where it is looked up (`docker.io`: `mirror.corp.example/hub`).
    `insecure`: hosts spoken to without TLS. `allow`: hosts with private, link-local or loopback addresses, and token
    servers under another name than their registry. Hosts of `mirrors` and `insecure` are listed by that, too.
    """

    mirrors: Mapping[str, str] = field(default_factory=dict)
    insecure: tuple[str, ...] = ()
    allow: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All of kix.toml. `file` is its name, None when there was none."""

    clusters: Mapping[str, ClusterSettings] = field(default_factory=dict)
    check: CheckSettings = field(default_factory=CheckSettings)
    pins: PinSettings = field(default_factory=PinSettings)
    bot: BotSettings = field(default_factory=BotSettings)
    registries: RegistrySettings = field(default_factory=RegistrySettings)
    file: str | None = None
