"""`kix plan`: the diff against the live cluster, and what a deploy would do."""

from contextlib import closing
from dataclasses import replace

import click

from kixbot.cli.recorded import with_applied_values
from kixbot.cli.session import Session
from kixbot.cli.target import checked_build, open_target
from kixbot.errors import ExitCode
from kixbot.ops.plan import live_plan
from kixbot.ops.takeover import parse
from kixbot.output.deploy_text import plan_text
from kixbot.output.plan_json import text as diff_document
from kixbot.output.plan_text import text as diff_text

_EPILOG = """\b
Examples:
  kix plan shop
  kix plan shop --exit-code     exit 1 when there is something to deploy
  kix plan shop -o json"""


@click.command(epilog=_EPILOG)
@click.argument("cluster", required=False)
@click.option("-o", "--output", "form", type=click.Choice(["text", "json"]), default="text", help="How to print it.")
@click.option("--adopt", multiple=True, metavar="MANAGER[@NAMESPACE[/PACKAGE]]", help="As kix deploy would.")
@click.option("--reconcile", is_flag=True, help="As kix deploy would.")
@click.option("--exit-code", is_flag=True, help="Exit 1 when there are changes.")
@click.pass_obj
def command(
    session: Session, cluster: str | None, *, form: str, adopt: tuple[str, ...], reconcile: bool, exit_code: bool
) -> int:
    """Show what a deploy of CLUSTER would change and in which waves. Writes nothing."""
    target, build = checked_build(session, cluster)
    with closing(open_target(session, target)) as edge:
        live = live_plan(
            build,
            edge,
            record_namespace=target.settings.record_namespace,
            allow_plain_secrets=target.settings.allow_plain_secrets,
            adopt=tuple(parse(text) for text in adopt),
            reconcile=reconcile,
        )
    plan = replace(live.plan, drift=with_applied_values(session, target.name, live.seen, known=(build,)))
    if form == "json":
        session.console.result(diff_document(plan))
    else:
        parts = (diff_text(plan).rstrip("\n"), plan_text(plan))
        session.console.result("\n\n".join(part for part in parts if part))
    changed = any(change.reason == "content" for package in plan.packages for change in package.resources)
    return int(ExitCode.NO if exit_code and changed else ExitCode.DONE)
