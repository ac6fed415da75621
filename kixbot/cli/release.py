"""`kix release`: take the hold off a cluster."""

from contextlib import closing

import click

from kixbot.cli.session import Session
from kixbot.cli.target import find_target, open_target
from kixbot.errors import ExitCode
from kixbot.ops.hold import release

_EPILOG = """\b
Example:
  kix release shop"""


@click.command(epilog=_EPILOG)
@click.argument("cluster", required=False)
@click.pass_obj
def command(session: Session, cluster: str | None) -> int:
    """Take the hold off CLUSTER, so that deploys go on. A rollback sets one."""
    target = find_target(session, cluster)
    with closing(open_target(session, target)) as edge:
        hold = release(edge, target.name, record_namespace=target.settings.record_namespace)
    session.console.note(f"cluster {target.name}: released; it was held by {hold.who}: {hold.why}")
    return int(ExitCode.DONE)
