"""`kix gc`: retire old records."""

from contextlib import closing

import click

from kixbot.cli.deploy_run import holder
from kixbot.cli.session import Session
from kixbot.cli.target import find_target, open_target
from kixbot.errors import ExitCode, RefusedError
from kixbot.ops.gc import LEAST, Collected, collect, orphan, plan
from kixbot.output.terminal import escape

_EPILOG = """\b
Examples:
  kix gc shop                   show what would go, and ask
  kix gc shop --keep 20 --yes
  kix gc shop --orphan          free records that a removed operator left being deleted"""


@click.command(epilog=_EPILOG)
@click.argument("cluster", required=False)
@click.option("--keep", type=click.IntRange(min=LEAST), default=LEAST, metavar="N", help="How many records stay.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--orphan", "free", is_flag=True, help="Take finalizers off records that are being deleted.")
@click.pass_obj
def command(session: Session, cluster: str | None, *, keep: int, yes: bool, free: bool) -> int:
    """Retire old records of CLUSTER, and delete what only they list.

    At least ten stay, the current one always. What a remaining record or another cluster lists is never deleted.
    """
    target = find_target(session, cluster)
    namespace = target.settings.record_namespace
    with closing(open_target(session, target)) as edge:
        if free:
            for name in orphan(edge, target.name, record_namespace=namespace):
                session.console.result(f"{name} freed")
        found = plan(edge, target.name, keep=keep, record_namespace=namespace)
        if not found.retired:
            session.console.note(f"cluster {target.name}: no record to retire")
            return int(ExitCode.DONE)
        for record in found.retired:
            session.console.note(f"retire {record.name} (active {record.activated_at or 'never'})")
        for one in found.leftovers:
            verb = "keep" if one.kept else "delete"
            session.console.note(f"{verb} {one.ref.short}{f': {one.kept}' if one.kept else ''}")
        if not yes and not session.console.confirm("Go on?"):
            raise RefusedError(f"cluster {target.name}: not confirmed", hint="add --yes, or answer on a terminal")
        for done in collect(edge, target.name, found, keep=keep, holder=holder(), record_namespace=namespace):
            session.console.result(line(done))
    return int(ExitCode.DONE)


def line(done: Collected) -> str:
    """What was done, in a line."""
    if done.ref is None:
        return f"{escape(done.record or '')} retired"
    return escape(f"{done.ref.short} {f'kept: {done.kept}' if done.kept else 'deleted'}")
