"""`kix destroy`: take away what was deployed."""

import click

from kixbot.cli.deploy_run import holder
from kixbot.cli.gc import line
from kixbot.cli.session import Session
from kixbot.cli.target import find_target, open_target
from kixbot.errors import ExitCode, RefusedError
from kixbot.ops.destroy import destroy, plan

_EPILOG = """\b
Examples:
  kix destroy shop                  show what would go, and ask for the cluster's name
  kix destroy shop --confirm shop   in a script
  kix destroy shop --keep-objects   hand the objects to another tool

Namespaces and CRDs stay, and so does what another Kix cluster holds; they are no longer tracked."""


@click.command(epilog=_EPILOG)
@click.argument("cluster", required=False)
@click.option("--confirm", metavar="NAME", help="The cluster's name, instead of typing it.")
@click.option("--keep-objects", is_flag=True, help="Delete no object: only stop tracking them.")
@click.pass_obj
def command(session: Session, cluster: str | None, *, confirm: str | None, keep_objects: bool) -> int:
    """Delete all that kix deployed to CLUSTER, its records and its lock."""
    target = find_target(session, cluster)
    edge = open_target(session, target)
    namespace = target.settings.record_namespace
    try:
        found = plan(edge, target.name, record_namespace=namespace, keep_objects=keep_objects)
        for one in found.leftovers:
            verb = "keep" if one.kept else "delete"
            session.console.note(f"{verb} {one.ref.short}{f': {one.kept}' if one.kept else ''}")
        typed = session.console.ask(f"Type the cluster's name to destroy {target.name}") if confirm is None else confirm
        if typed != target.name:
            raise RefusedError(
                f"cluster {target.name}: not confirmed", hint=f"type its name, or add --confirm {target.name}"
            )
        for done in destroy(edge, target.name, record_namespace=namespace, holder=holder(), keep_objects=keep_objects):
            session.console.result(line(done))
    finally:
        edge.close()
    return int(ExitCode.DONE)
