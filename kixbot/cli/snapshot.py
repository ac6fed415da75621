"""`kix snapshot`: what stands in a cluster, as a file."""

from contextlib import closing
from pathlib import Path

import click

from kixbot.cli.session import Session
from kixbot.cli.target import find_target, open_target
from kixbot.errors import ExitCode
from kixbot.ops.snapshot import encode, take

_EPILOG = """\b
Examples:
  kix snapshot shop -o before.json
  kix diff shop --from before.json"""


@click.command(epilog=_EPILOG)
@click.argument("cluster", required=False)
@click.option("-o", "--output", "file", metavar="FILE", required=True, help="The file to write; - for the terminal.")
@click.pass_obj
def command(session: Session, cluster: str | None, *, file: str) -> int:
    """Write what kix owns in CLUSTER as it stands now. Values of Secrets are left out."""
    target = find_target(session, cluster)
    with closing(open_target(session, target)) as edge:
        found = take(edge, target.name, record_namespace=target.settings.record_namespace)
    text = encode(found)
    if file == "-":
        session.console.result(text)
        return int(ExitCode.DONE)
    place = Path(session.directory / file)
    new = place.with_name(f".{place.name}.new")
    new.write_text(text, encoding="utf-8")
    new.replace(place)
    session.console.note(f"{len(found.entries)} objects of {found.activation or 'no activation'} in {file}")
    return int(ExitCode.DONE)
