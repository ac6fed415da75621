"""kix.toml from text to values."""

import tomllib
from typing import Any, cast

from kixbot.errors import SettingsError
from kixbot.model.build import ROLES, External, Suppression
from kixbot.settings.model import (
    BotSettings,
    CheckSettings,
    ClusterSettings,
    PinSettings,
    RegistrySettings,
    Settings,
)
from kixbot.settings.table import Table, is_name

_CLUSTER = (
    "path", "context", "namespace", "environment", "pins", "kubernetes", "flavor", "deploy", "after", "soak",
    "policy", "roles", "externals", "cede", "record-namespace", "allow-plain-secrets", "allow-unmerged",
)  # fmt: skip
_EXTERNAL = ("kind", "name", "namespace", "group", "keys", "verify")
_SUPPRESSION = ("rule", "resource", "reason", "until")


def load(text: str | None, *, file: str = "kix.toml") -> Settings:
    """The settings of a kix.toml, or of `[tool.kix]` where `file` is a pyproject.toml; the defaults for None.

    Raises SettingsError, naming the file and the key, for what the schema does not allow.
    """
    if text is None:
        return Settings()
    try:
        document: Any = tomllib.loads(text)
    except tomllib.TOMLDecodeError as err:
        raise SettingsError(f"{file}: broken TOML: {err}") from err
    if file.rpartition("/")[2] == "pyproject.toml":
        document = document.get("tool", {}).get("kix")
        if document is None:
            return Settings()
    top = Table(document, file, ("schema", "clusters", "check", "pins", "bot", "registries"))
    if top.has("schema") and (top.raw("schema") != 1 or isinstance(top.raw("schema"), bool)):
        raise SettingsError(f"{file}: schema {top.raw('schema')!r} is not known here", hint="write schema = 1")
    return Settings(
        clusters=_clusters(top, file),
        check=_check(top),
        pins=_pins(top),
        bot=_bot(top),
        registries=_registries(top),
        file=file,
    )


def _clusters(top: Table, file: str) -> dict[str, ClusterSettings]:
    table = top.table("clusters", None)
    for name in table.keys:
        if not is_name(name):
            raise SettingsError(
                f"{file}: [clusters.{name[:80]}]: no name for a cluster",
                hint="use at most 50 lower-case letters, digits and hyphens",
            )
    clusters = {name: _cluster(table.table(name, _CLUSTER)) for name in table.keys}
    for name, cluster in clusters.items():
        for before in cluster.after:
            if before not in clusters or before == name:
                raise SettingsError(
                    f"{file}: [clusters.{name}] after: {before[:80]!r} is no other cluster",
                    hint=f"clusters are {', '.join(clusters)}",
                )
    _check_order(clusters, file)
    return clusters


def _check_order(clusters: dict[str, ClusterSettings], file: str) -> None:
    """Raise SettingsError when clusters wait for each other."""
    done: set[str] = set()
    while len(done) < len(clusters):
        ready = {name for name, cluster in clusters.items() if name not in done and done.issuperset(cluster.after)}
        if not ready:
            waiting = ", ".join(name for name in clusters if name not in done)
            raise SettingsError(f"{file}: clusters wait for each other by after: {waiting}")
        done |= ready


def _cluster(table: Table) -> ClusterSettings:
    cede = table.table("cede", None)
    kubernetes = table.find_matching("kubernetes", r"1\.[0-9]{1,3}", 'a version like "1.34" is expected')
    return ClusterSettings(
        path=table.inside("path"),
        context=table.find_text("context"),
        namespace=table.namespace("namespace", ClusterSettings(path=".").namespace),
        environment=table.find_text("environment"),
        pins=table.inside("pins", ClusterSettings(path=".").pins),
        kubernetes=kubernetes,
        flavor=table.find_text("flavor") or ClusterSettings(path=".").flavor,
        deploy=cast("Any", table.choice("deploy", ("merge", "approval", "manual"), "merge")),
        after=_names(table, "after"),
        soak=table.duration("soak"),
        policy=cast("Any", table.choice("policy", ("warn", "stop"), "warn")),
        roles=_roles(table),
        externals=tuple(_external(entry) for entry in table.tables("externals", _EXTERNAL)),
        cede={key: cede.texts(key) for key in cede.keys},
        record_namespace=table.namespace("record-namespace", ClusterSettings(path=".").record_namespace),
        allow_plain_secrets=table.truth("allow-plain-secrets"),
        allow_unmerged=table.truth("allow-unmerged"),
    )


def _names(table: Table, key: str) -> tuple[str, ...]:
    found = table.texts(key)
    if not all(is_name(name) for name in found):
        raise table.error(key, "a list of clusters is expected")
    return found


def _roles(table: Table) -> dict[str, Any]:
    roles = table.table("roles", ROLES)
    return {name: roles.choice(name, ("builtin", "absent", "external"), "external") for name in roles.keys}


def _external(table: Table) -> External:
    group = table.raw("group")
    if group is not None and not isinstance(group, str):
        raise table.error("group", "text is expected")
    return External(
        kind=table.text("kind"),
        name=table.text("name"),
        namespace=table.find_namespace("namespace"),
        group=group,
        keys=table.texts("keys") if table.has("keys") else None,
        verify=table.truth("verify"),
    )


def _check(top: Table) -> CheckSettings:
    table = top.table("check", ("fail", "ignore"))
    return CheckSettings(
        fail=table.texts("fail"),
        ignore=tuple(
            Suppression(
                rule=entry.text("rule"),
                resource=entry.text("resource"),
                reason=entry.text("reason"),
                until=entry.find_matching(
                    "until", r"[0-9]{4}-[0-9]{2}-[0-9]{2}", 'a day like "2027-01-31" is expected'
                ),
            )
            for entry in table.tables("ignore", _SUPPRESSION)
        ),
    )


def _pins(top: Table) -> PinSettings:
    table = top.table("pins", ("mode", "on", "min-age", "signed-by"))
    return PinSettings(
        mode=cast("Any", table.choice("mode", ("pull-request", "commit", "off"), "pull-request")),
        on=cast("Any", table.choices("on", ("merge", "schedule"), PinSettings().on)),
        min_age=table.duration("min-age"),
        signed_by=table.texts("signed-by"),
    )


def _bot(top: Table) -> BotSettings:
    table = top.table("bot", ("comment", "shrink-threshold"))
    default = BotSettings()
    said = table.raw("comment")
    comment = (
        str(said).lower()
        if isinstance(said, bool)
        else table.choice("comment", ("true", "changes-only", "false"), "true")
    )
    return BotSettings(
        comment=cast("Any", comment),
        shrink_threshold=table.number("shrink-threshold", default.shrink_threshold, 0, 100),
    )


def _registries(top: Table) -> RegistrySettings:
    table = top.table("registries", ("mirrors", "insecure", "allow"))
    mirrors = table.table("mirrors", None)
    return RegistrySettings(
        mirrors={host: mirrors.text(host) for host in mirrors.keys},
        insecure=table.texts("insecure"),
        allow=table.texts("allow"),
    )
