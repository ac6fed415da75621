"""`kix deploy`: the plan, a question, then waves, and a receipt."""

from contextlib import closing
from dataclasses import replace
from typing import Any

import click

from kixbot.cli import plan as plan_command
from kixbot.cli.deploy_run import Printer, holder, seconds_of, termination, user
from kixbot.cli.session import Session
from kixbot.cli.target import checked_build, open_target
from kixbot.errors import ExitCode
from kixbot.model.plan import Plan
from kixbot.ops.deploy import DeployOptions, deploy
from kixbot.ops.receipt import Provenance
from kixbot.ops.takeover import parse

_EPILOG = """\b
Examples:
  kix deploy shop                     show the plan, ask, deploy
  kix deploy shop --yes --timeout 5m  in a script
  kix deploy shop --dry-run           the plan alone
  kix deploy shop --yes --prune       also delete what left the definition"""


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
@click.option(
    "--adopt",
    multiple=True,
    metavar="MANAGER[@NAMESPACE[/PACKAGE]]",
    help="Take over what that field manager holds, helm or kubectl-client-side-apply for example.",
)
@click.option("--take-over", is_flag=True, help="Accept another cluster or repository than the record names.")
@click.option("--log-format", type=click.Choice(["text", "json"]), default="text", help="json: one event a line.")
@click.pass_context
def command(ctx: click.Context, /, cluster: str | None, **options: Any) -> int:
    """Deploy CLUSTER in dependency-ordered waves.

    Shows the plan, asks, and leaves a record and a receipt in the cluster.
    """
    session: Session = ctx.obj
    if options["dry_run"]:
        asked_too = {name: options[name] for name in ("adopt", "reconcile")}
        result = ctx.invoke(plan_command.command, cluster=cluster, form="text", exit_code=False, **asked_too)
        return int(result or ExitCode.DONE)
    asked = _options(options)  # before anything is evaluated: a wrong option is said at once
    target, build = checked_build(session, cluster)
    asked = replace(
        asked,
        record_namespace=target.settings.record_namespace,
        allow_plain_secrets=target.settings.allow_plain_secrets,
    )
    printer = Printer(session.console, log_format=options["log_format"])
    with closing(open_target(session, target)) as edge, termination():
        events = deploy(
            build,
            edge,
            options=asked,
            who=Provenance(actor=user()),
            confirm=lambda plan: options["yes"] or session.console.confirm(_question(plan)),
        )
        for event in events:
            printer.say(event)
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
        adopt=tuple(parse(text) for text in options["adopt"]),
        holder=holder(),
    )


def _question(plan: Plan) -> str:
    return f"Deploy {plan.new_activation} to cluster {plan.cluster}?"
