"""`kix crds`: print or apply the custom resource definitions of kix."""

from contextlib import closing

import click

from kixbot.cli.session import Session
from kixbot.cli.target import find_target, open_target
from kixbot.errors import ExitCode
from kixbot.ops.crds import documents, install

_EPILOG = """\b
Examples:
  kix crds print | kubectl apply --server-side -f -
  kix crds apply shop"""


@click.group(epilog=_EPILOG)
def command() -> None:
    """Print or apply the custom resource definitions of kix."""


@command.command("print")
@click.pass_obj
def print_command(session: Session) -> int:
    """Print them as one JSON List."""
    session.console.result(documents())
    return int(ExitCode.DONE)


@command.command("apply")
@click.argument("cluster", required=False)
@click.pass_obj
def apply_command(session: Session, cluster: str | None) -> int:
    """Apply them to CLUSTER and wait until they are served."""
    with closing(open_target(session, find_target(session, cluster))) as edge:
        names = install(edge)
    session.console.result("\n".join(f"CustomResourceDefinition/{name} applied" for name in names))
    return int(ExitCode.DONE)
