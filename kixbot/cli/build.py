"""`kix build`: evaluate and check; print the activation and its store path."""

import click

from kixbot.cli.session import Session
from kixbot.errors import ExitCode
from kixbot.ops import build as building, check as checking
from kixbot.ops.build import BuildRequest
from kixbot.output import build_json, check_text


@click.command()
@click.argument("targets", nargs=-1, metavar="[CLUSTER | PATH…]")
@click.option("--ref", metavar="REF", help="Build a branch, tag or commit instead of the working tree.")
@click.option("-o", "output", type=click.Choice(["text", "json"]), default="text", help="Form of the result.")
@click.pass_obj
def command(session: Session, /, *, targets: tuple[str, ...], ref: str | None, output: str) -> int:
    """Evaluate and check a cluster, or plain manifests (- is standard input).

    Prints the name of the activation and its store path. Errors, and warnings that fail here, end it with exit 1;
    a source that does not build with exit 3.
    """
    request = BuildRequest(directory=session.directory, targets=targets, ref=ref, config=session.config)
    built = building.build(request)
    report = checking.check(built.build, pins=built.pins)
    code = checking.exit_code(report)
    if code is not ExitCode.DONE:
        for line in check_text.text(report).rstrip("\n").split("\n"):
            session.console.say_error(line)
    elif report.findings:
        count = len(report.findings)
        session.console.note(
            f"{count} {'finding' if count == 1 else 'findings'} fail nothing here: kix check shows them"
        )
    if output == "json":
        session.console.result(build_json.text(built.build))
    elif built.build.activation is not None and code is ExitCode.DONE:
        session.console.result(f"{built.build.activation.name}\n{built.build.activation.path}")
    return int(code)
