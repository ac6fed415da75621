"""`kix status`: what runs now, or its receipt."""

import json
from contextlib import closing

import click

from kixbot.cli.session import Session
from kixbot.cli.target import find_target, open_target
from kixbot.cluster.receipts import encode
from kixbot.errors import ExitCode, RefusedError
from kixbot.ops.status import current_of, status
from kixbot.output.receipt_text import receipt_text
from kixbot.output.status_text import status_document, status_text

_EPILOG = """\b
Examples:
  kix status shop
  kix status shop --receipt     what was deployed, from where, with which images
  kix status shop -o json"""


@click.command(epilog=_EPILOG)
@click.argument("cluster", required=False)
@click.option("--receipt", is_flag=True, help="Show the receipt of the current activation.")
@click.option("-o", "--output", "form", type=click.Choice(["text", "json"]), default="text", help="How to print it.")
@click.pass_obj
def command(session: Session, cluster: str | None, *, receipt: bool, form: str) -> int:
    """Show the current activation of CLUSTER and its resources."""
    target = find_target(session, cluster)
    with closing(open_target(session, target)) as edge:
        found = status(edge, target.name, record_namespace=target.settings.record_namespace)
    if not receipt:
        session.console.result(status_document(found) if form == "json" else status_text(found))
        return int(ExitCode.DONE)
    current = current_of(found)
    if current.receipt is None:
        raise RefusedError(f"{current.name}: has no receipt yet", hint=f"kix deploy {target.name}")
    if form == "json":
        session.console.result(json.dumps(encode(current.receipt), indent=2, ensure_ascii=False))
    else:
        session.console.result(receipt_text(current.receipt))
    return int(ExitCode.DONE)
