"""`kix rollback`: an earlier activation again, built anew from its commit, held there, and proved."""

from contextlib import closing
from datetime import UTC, datetime
from typing import Any

import click

from kixbot.cli.deploy_run import Printer, holder, seconds_of, termination, user
from kixbot.cli.session import Session
from kixbot.cli.target import Target, find_target, open_target, request_of
from kixbot.cluster.interface import Cluster
from kixbot.errors import ExitCode
from kixbot.model.activation import Activation, Hold
from kixbot.model.build import Build
from kixbot.ops.build import BuildRequest, build
from kixbot.ops.deploy import DeployOptions, deploy
from kixbot.ops.receipt import Provenance
from kixbot.ops.rollback import commit_of, read_record, require_same_build, target_of, unproven
from kixbot.output.plan_text import resource_lines
from kixbot.output.terminal import escape
from kixbot.sources.history import require_merged

_EPILOG = """\b
Examples:
  kix rollback shop                              to what ran before
  kix rollback shop --to shop-6w9czkc51502 --yes
  kix release shop                               let deploys go on afterwards

It ends with 1 when some field could not return, and lists each."""


@click.command(epilog=_EPILOG)
@click.argument("cluster", required=False)
@click.option("--to", "name", metavar="NAME", help="The activation to go back to; else the one before.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--prune", is_flag=True, help="Delete what the earlier activation did not have.")
@click.option("--reconcile", is_flag=True, help="Also put fields back that changed outside kix.")
@click.option("--force-conflicts", is_flag=True, help="Take fields that other managers hold, this once.")
@click.option("--allow-unmerged", is_flag=True, help="Accept a commit that the default branch does not have.")
@click.option("--timeout", default="10m", metavar="TIME", help="How long a wave may take to become ready.")
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text", help="json: one event a line.")
@click.pass_obj
def command(session: Session, /, cluster: str | None, **options: Any) -> int:
    """Go back to an earlier activation of CLUSTER and hold it there until kix release.

    It is built anew from the commit that its receipt names; the build must be the recorded one.
    """
    target = find_target(session, cluster)
    with closing(open_target(session, target)) as edge:
        record = read_record(edge, target.name, record_namespace=target.settings.record_namespace)
        earlier = target_of(record, target.name, options["name"])
        built = _rebuild(session, target, earlier, unmerged=options["allow_unmerged"])
        now = "nothing" if record.current is None else record.current.name
        _deploy(session, target, edge, built, _options(target, options, why=f"rolled back from {now}"), options)
        return _prove(session, target, edge, built)


def _rebuild(session: Session, target: Target, earlier: Activation, *, unmerged: bool) -> Build:
    """The recorded build, from an exported tree of its commit."""
    commit = commit_of(earlier)
    if not unmerged and not target.settings.allow_unmerged:
        require_merged(session.directory, commit)
    request = request_of(session)
    made = build(BuildRequest(directory=request.directory, config=request.config, targets=(target.name,), ref=commit))
    require_same_build(made.build, earlier)
    return made.build


def _options(target: Target, options: dict[str, Any], *, why: str) -> DeployOptions:
    since = datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return DeployOptions(
        record_namespace=target.settings.record_namespace,
        allow_plain_secrets=target.settings.allow_plain_secrets,
        prune=options["prune"],
        reconcile=options["reconcile"],
        force_conflicts=options["force_conflicts"],
        timeout=seconds_of(options["timeout"]),
        hold=Hold(who=user(), why=why, since=since),
        through_hold=True,
        holder=holder(),
    )


def _deploy(
    session: Session, target: Target, edge: Cluster, built: Build, asked: DeployOptions, options: dict[str, Any]
) -> None:
    name = "" if built.activation is None else built.activation.name
    question = f"Roll cluster {target.name} back to {name}?"
    printer = Printer(session.console, log_format=options["log_format"])
    with termination():
        for event in deploy(
            built,
            edge,
            options=asked,
            who=Provenance(actor=user()),
            confirm=lambda _: options["yes"] or session.console.confirm(question),
        ):
            printer.say(event)


def _prove(session: Session, target: Target, edge: Cluster, built: Build) -> int:
    left = unproven(built, edge, record_namespace=target.settings.record_namespace)
    count = len(built.resources)
    if not left:
        session.console.note(f"proved: all {count} resources stand as that build says")
    else:
        session.console.note(f"{len(left)} of {count} resources could not return:")
    for change in left:
        for line in resource_lines(change, lambda ref: ref.short):
            session.console.note(f"  {escape(line)}")
    session.console.note(f"cluster {target.name} is held; kix release {target.name} lets deploys go on")
    return int(ExitCode.NO if left else ExitCode.DONE)
