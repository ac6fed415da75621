"""What `kix check` prints: the table, then each finding with its place and a hint."""

from collections.abc import Callable, Iterator, Sequence

from kixbot.model.finding import Finding, Related, Report, Score, Scores, Severity, State
from kixbot.model.resource import Location, Ref
from kixbot.output.check_table import table
from kixbot.output.ref_names import short_names
from kixbot.output.terminal import escape, escape_block

MARKS = {Severity.ERROR: "✗", Severity.WARNING: "!", Severity.INFO: "i"}
_RELATED = 3  # other places that one finding shows; JSON has all
_LINES = 40  # lines of one message
_COMMANDS = ("::", "##[")  # GitHub's runner trims blanks before it looks

Namer = Callable[[Ref], str]


def text(report: Report) -> str:
    """The whole report for a terminal: what failed evaluation, findings, what is fixed, what is suppressed."""
    name = short_names(_refs(report))
    blocks = [table(report)]
    blocks += [
        block(finding, name, followers_of(finding, report)) for finding in (*report.eval_messages, *report.findings)
    ]
    if report.fixed:
        lines = [f"  {finding.rule}  {_subject(finding, name)}" for finding in report.fixed]
        blocks.append(_list("fixed since the baseline:", lines))
    if report.suppressed:
        lines = [
            f"  {item.finding.rule}  {_subject(item.finding, name)}  ({escape(item.reason)})"
            for item in report.suppressed
        ]
        blocks.append(_list("suppressed:", lines))
    return "\n".join(blocks)


def followers_of(finding: Finding, report: Report) -> tuple[Finding, ...]:
    """The findings that vanish with this one."""
    return tuple(one for one in report.followers if finding.fingerprint in one.causes)


def scores(found: Scores) -> str:
    """The scores by category, then by package: `security 96 % (48 of 50)`; a dash where nothing applies."""
    rows = [("all", found.categories), *found.packages.items()]
    shown = [(escape(name), *(_score(one[category]) for category in found.categories)) for name, one in rows]
    lines = ["| Package | Security | Reliability | Governance |", "|---|---|---|---|"]
    lines += [f"| {' | '.join(cells)} |" for cells in shown]
    if found.not_applicable:
        lines.append(f"\n{len(found.not_applicable)} rules apply to nothing here: {', '.join(found.not_applicable)}")
    return "\n".join(lines) + "\n"


def _score(score: Score) -> str:
    return "–" if score.percent is None else f"{score.percent} % ({score.kept} of {score.total})"


def block(finding: Finding, name: Namer, followers: Sequence[Finding] = ()) -> str:
    """One finding: its message, `    --> FILE:LINE  Kind/name@namespace $.path  RULE`, a hint, the other places.

    `followers` are findings that vanish with it.
    """
    message = [_inert(line) for line in escape_block(finding.message).split("\n")]
    shown = (
        message if len(message) <= _LINES else [*message[: _LINES - 1], f"  … {len(message) - _LINES + 1} more lines"]
    )
    lines = [f"{MARKS[finding.severity]} {shown[0]}", *shown[1:]]
    old = "(in the baseline too)" if finding.state is State.UNCHANGED else ""
    lines.append(f"    --> {_joined(_at(finding.location), _subject(finding, name), finding.rule, old)}")
    if finding.hint:
        lines.append(f"  hint: {escape(finding.hint)}")
    lines += [f"  also: {_other(related, name)}" for related in finding.related[:_RELATED]]
    if len(finding.related) > _RELATED:
        lines.append(f"  also: {len(finding.related) - _RELATED} more places")
    lines += [f"  so: {_joined(_at(one.location), _subject(one, name), one.rule)}" for one in followers[:_RELATED]]
    if len(followers) > _RELATED:
        lines.append(f"  so: {len(followers) - _RELATED} more findings, which vanish with this one")
    return "\n".join(lines) + "\n"


def _inert(line: str) -> str:
    """A line that a CI runner does not take for a command, whatever a definition wrote into its message."""
    return f"| {line}" if line.lstrip().startswith(_COMMANDS) else line


def _refs(report: Report) -> Iterator[Ref]:
    suppressed = (item.finding for item in report.suppressed)
    for finding in (*report.eval_messages, *report.findings, *report.followers, *report.fixed, *suppressed):
        if finding.ref:
            yield finding.ref
        yield from (related.ref for related in finding.related if related.ref)


def _subject(finding: Finding, name: Namer) -> str:
    """`Kind/name@namespace $.path`, as far as the finding has them."""
    return " ".join(escape(part) for part in (name(finding.ref) if finding.ref else "", finding.path) if part)


def _other(related: Related, name: Namer) -> str:
    return _joined(_at(related.location), escape(name(related.ref)) if related.ref else "", f"({escape(related.note)})")


def _at(location: Location | None) -> str:
    if location is None:
        return ""
    return escape(location.file if location.line is None else f"{location.file}:{location.line}")


def _joined(*parts: str) -> str:
    return "  ".join(part for part in parts if part)


def _list(title: str, lines: list[str]) -> str:
    return "\n".join((title, *lines)) + "\n"
