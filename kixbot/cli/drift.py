"""`kix drift`: what differs in the cluster from what kix applied."""

from contextlib import closing

import click

from kixbot.cli.recorded import with_applied_values
from kixbot.cli.session import Session
from kixbot.cli.target import find_target, open_target
from kixbot.errors import ExitCode
from kixbot.ops.drift import observe_record
from kixbot.output import drift_json, drift_text
from kixbot.output.ref_names import short_names
from kixbot.output.terminal import escape

_EPILOG = """\b
Examples:
  kix drift shop                exit 1 when something changed outside kix
  kix drift shop -o json

Fields that are ceded, and fields people added beside those of kix, are no drift."""


@click.command(epilog=_EPILOG)
@click.argument("cluster", required=False)
@click.option("-o", "--output", "form", type=click.Choice(["text", "json"]), default="text", help="How to print it.")
@click.pass_obj
def command(session: Session, cluster: str | None, *, form: str) -> int:
    """Show what changed in CLUSTER outside kix: which field, from what to what, by whom and when. Writes nothing."""
    target = find_target(session, cluster)
    with closing(open_target(session, target)) as edge:
        seen = observe_record(edge, target.name, record_namespace=target.settings.record_namespace)
    drift = with_applied_values(session, target.name, seen)
    activation = None if seen.record.current is None else seen.record.current.name
    if form == "json":
        session.console.result(drift_json.text(target.name, activation, drift))
    else:
        name = short_names(one.ref for one in (*drift.resources, *drift.additions))
        lines = drift_text.report(target.name, activation, drift, name)
        session.console.result("\n".join(map(escape, lines)))
    return int(ExitCode.NO if drift.resources else ExitCode.DONE)
