"""`kix explain RULE`: what a rule finds, why, a bad and a good example."""

import click

from kixbot.checks.likeness import nearest_name
from kixbot.checks.registry import CHECKS, find_check
from kixbot.cli.session import Session
from kixbot.errors import ExitCode, UsageError
from kixbot.output.check_pages import explained

_EPILOG = """\b
Examples:
  kix explain ref/secret-key
  kix explain                   all rules, one a line"""


@click.command(epilog=_EPILOG)
@click.argument("rule", required=False)
@click.pass_obj
def command(session: Session, rule: str | None) -> int:
    """Explain RULE: what it finds, why, a bad and a good example."""
    if rule is None:
        width = max(len(check.id) for check in CHECKS)
        session.console.result("\n".join(f"{check.id:<{width}}  {check.title}" for check in CHECKS))
        return int(ExitCode.DONE)
    check = find_check(rule)
    if check is None:
        near = nearest_name(rule, (check.id for check in CHECKS))
        raise UsageError(f"{rule}: no such rule", hint=f"kix explain {near}" if near else "kix explain lists them all")
    session.console.result(explained(check))
    return int(ExitCode.DONE)
