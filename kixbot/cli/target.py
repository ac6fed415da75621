"""What the cluster commands work on: one cluster of the settings, its build, and the way to it."""

import os
from dataclasses import dataclass
from pathlib import Path

from kixbot.cli.session import Session
from kixbot.cluster.interface import Cluster
from kixbot.cluster.opening import open_cluster
from kixbot.errors import ExitCode, RefusedError, SettingsError, SourceError, UsageError
from kixbot.model.build import Build
from kixbot.ops import check as checking
from kixbot.ops.build import BuildRequest, Opened, build_cluster, opened
from kixbot.output.check_text import text as report_text
from kixbot.settings.model import ClusterSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A cluster by its name in the settings."""

    name: str
    settings: ClusterSettings


def request_of(session: Session) -> BuildRequest:
    """The build request of this invocation's folder and settings file."""
    return BuildRequest(directory=session.directory, config=session.config)


def choose(source: Opened, name: str | None) -> Target:
    """The named cluster, or the only one. Raises UsageError."""
    clusters = source.settings.clusters
    if name is None and len(clusters) != 1:
        known = ", ".join(clusters) or "none; write clusters/NAME.nix or kix.toml"
        raise UsageError("name a cluster", hint=f"clusters here: {known}")
    chosen = next(iter(clusters)) if name is None else name
    if chosen not in clusters:
        known = ", ".join(clusters) or "none"
        raise UsageError(f"{chosen!r}: no such cluster", hint=f"clusters here: {known}")
    return Target(name=chosen, settings=clusters[chosen])


def find_target(session: Session, name: str | None) -> Target:
    """The cluster without its build, for commands that only ask the cluster."""
    with opened(request_of(session)) as source:
        return choose(source, name)


def checked_build(session: Session, name: str | None) -> tuple[Target, Build]:
    """The cluster and its build, checked first.

    Raises SourceError where evaluation failed (exit 3), RefusedError where findings fail (exit 1); the report is said
    before.
    """
    with opened(request_of(session)) as source:
        target = choose(source, name)
        built = build_cluster(source, target.name)
    report = checking.check(built.build, pins=built.pins)
    code = checking.exit_code(report)
    if code is not ExitCode.DONE:
        session.console.note(report_text(report))
    if code is ExitCode.SOURCE:
        raise SourceError(f"cluster {target.name}: does not build", hint="mend what is listed above")
    if code is not ExitCode.DONE:
        raise RefusedError(f"cluster {target.name}: its check fails", hint="mend what is listed above")
    return target, built.build


def open_target(session: Session, target: Target) -> Cluster:
    """Open the cluster: KIX_EMBEDDED's folder, else --context, else the settings' context.

    Raises SettingsError without a context, ClusterError where the kubeconfig lacks it.
    """
    embedded = os.environ.get("KIX_EMBEDDED")
    context = session.context or target.settings.context
    if not embedded and context is None:
        raise SettingsError(
            f"[clusters.{target.name}]: no context",
            hint=f'write context = "…" below [clusters.{target.name}] in kix.toml, or add --context NAME',
        )
    return open_cluster(
        context=context,
        kubeconfig=os.environ.get("KUBECONFIG") or None,
        embedded=Path(embedded) if embedded else None,
        environment=os.environ,
    )
