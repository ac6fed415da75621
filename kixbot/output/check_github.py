"""`kix check -o github`: workflow commands that GitHub shows beside the lines of a change.

A step may annotate ten places a level; ten in all are printed, the worst first, and the table says how many there are.
"""

from kixbot.model.finding import Finding, Report, Severity, State
from kixbot.output.check_places import file_of, line_of, sentence
from kixbot.output.check_table import table
from kixbot.output.terminal import escape, escape_block

MOST = 10
_COMMANDS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "notice"}


def text(report: Report) -> str:
    """The commands, then the table; what the baseline holds too comes after what is new."""
    found = sorted(
        (*report.eval_messages, *report.findings),
        key=lambda one: (list(_COMMANDS).index(one.severity), one.state is State.UNCHANGED),
    )
    lines = [_command(finding) for finding in found[:MOST]]
    if len(found) > MOST:
        lines.append(f"{len(found) - MOST} more findings are not annotated; `kix check` prints them all.")
    return "\n".join((*lines, table(report)))


def _command(finding: Finding) -> str:
    place = f"file={_property(file_of(finding.location))},line={line_of(finding.location)},"
    subject = f"{finding.ref.short} {finding.path}".rstrip() if finding.ref else ""
    title = _property(f"{finding.rule} {subject}".rstrip())
    return f"::{_COMMANDS[finding.severity]} {place}title={title}::{_data(escape_block(sentence(finding)))}"


def _data(value: str) -> str:
    """Text after the second `::`, as the runner's own toolkit escapes it."""
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(escape(value)).replace(":", "%3A").replace(",", "%2C")
