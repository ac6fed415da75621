"""`kix deploy`: the plan, a question, then waves, and a receipt."""

import getpass
import os
import re
import signal
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import click

from kixbot.cli import plan as plan_command
from kixbot.cli.console import Console
from kixbot.cli.session import Session
from kixbot.cli.target import checked_build, open_target
from kixbot.errors import ExitCode, UsageError
from kixbot.model.plan import Plan
from kixbot.ops.deploy import DeployOptions, deploy
from kixbot.ops.events import Event, Finished, Planned
from kixbot.ops.receipt import Provenance
from kixbot.output import deploy_log
from kixbot.output.deploy_text import Progress, plan_text, waves_text
from kixbot.output.plan_text import text as diff_text
from kixbot.output.receipt_text import receipt_text

_EPILOG = """\b
Examples:
  kix deploy shop                     show the plan, ask, deploy
  kix deploy shop --yes --timeout 5m  in a script
  kix deploy shop --dry-run           the plan alone
  kix deploy shop --yes --prune       also delete what left the definition"""

_DURATION = re.compile(r"(?:(\d+)h)?(?:(\d+)m)?(?:(\d+)s?)?")


def seconds_of(text: str) -> float:
    """`90`, `90s`, `5m`, `1h30m` in seconds. Raises UsageError."""
    found = _DURATION.fullmatch(text.strip())
    if not text.strip() or found is None or not any(found.groups()):
        raise UsageError(f"{text!r}: no duration", hint="write 90s, 5m or 1h30m")
    hours, minutes, seconds = (int(part or 0) for part in found.groups())
    return float(hours * 3600 + minutes * 60 + seconds)


@click.command(epilog=_EPILOG)
@click.argument("cluster", required=False)
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--dry-run", is_flag=True, help="Show the plan and stop; the same as kix plan.")
@click.option("--prune", is_flag=True, help="Delete what left the definition; never Namespaces and CRDs.")
@click.option("--timeout", default="10m", metavar="TIME", help="How long a wave may take to become ready.")
@click.option("--total-timeout", default="1h", metavar="TIME", help="How long all waves together may take.")
@click.option("--lock-wait", default="60s", metavar="TIME", help="How long to wait for another deploy to end.")
@click.option("--current-activation", metavar="NAME", help="Refuse when another activation is current.")
@click.option("--force-conflicts", is_flag=True, help="Take fields that other managers hold, this once.")
@click.option("--reconcile", is_flag=True, help="Also put fields back that changed outside kix.")
@click.option("--take-over", is_flag=True, help="Accept another cluster or repository than the record names.")
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text", help="json: one event a line.")
@click.pass_context
def command(ctx: click.Context, /, cluster: str | None, **options: Any) -> int:
    """Deploy CLUSTER in dependency-ordered waves.

    Shows the plan, asks, and leaves a record and a receipt in the cluster.
    """
    session: Session = ctx.obj
    if options["dry_run"]:
        result = ctx.invoke(plan_command.command, cluster=cluster, form="text", exit_code=False)
        return int(result or ExitCode.DONE)
    asked = _options(options)
    target, build = checked_build(session, cluster)
    edge = open_target(session, target)
    asked = DeployOptions(
        **{
            **{name: getattr(asked, name) for name in asked.__slots__},
            "record_namespace": target.settings.record_namespace,
            "allow_plain_secrets": target.settings.allow_plain_secrets,
        }
    )
    printer = _Printer(session.console, log_format=options["log_format"])
    try:
        with _termination():
            events = deploy(
                build,
                edge,
                options=asked,
                who=Provenance(actor=_user()),
                confirm=lambda plan: options["yes"] or session.console.confirm(_question(plan)),
            )
            for event in events:
                printer.say(event)
    finally:
        edge.close()
    return int(ExitCode.DONE)


def _options(options: dict[str, Any]) -> DeployOptions:
    return DeployOptions(
        prune=options["prune"],
        timeout=seconds_of(options["timeout"]),
        total_timeout=seconds_of(options["total_timeout"]),
        lock_wait=seconds_of(options["lock_wait"]),
        current_activation=options["current_activation"],
        take_over=options["take_over"],
        force_conflicts=options["force_conflicts"],
        reconcile=options["reconcile"],
        holder=f"{_user()}@{socket.gethostname()}/{os.getpid()}",
    )


def _user() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"


def _question(plan: Plan) -> str:
    return f"Deploy {plan.new_activation} to cluster {plan.cluster}?"


class _Printer:
    """Events to the terminal: the plan, the waves and the receipt are results, what goes on in between are notes."""

    def __init__(self, console: Console, *, log_format: str) -> None:
        self._console, self._json = console, log_format == "json"
        self._progress: Progress | None = None

    def say(self, event: Event) -> None:
        """Say one event."""
        if self._json:
            now = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
            self._console.result(deploy_log.line(event, now))
            sys.stdout.flush()
            return
        if isinstance(event, Planned):
            self._progress = Progress(event.plan)
            rest = plan_text(event.plan).removeprefix(waves_text(event.plan.waves))
            for line in f"{diff_text(event.plan).rstrip()}{rest}".rstrip().split("\n"):
                self._console.note(line)
            self._console.result(waves_text(event.plan.waves))
        elif isinstance(event, Finished):
            self._console.result(receipt_text(event.receipt))
        elif self._progress is not None:
            for line in self._progress.lines(event):
                self._console.note(line)


@contextmanager
def _termination() -> Iterator[None]:
    """CI ends jobs by SIGTERM: it is then an interruption, so that the record is marked and the lock let go."""

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
