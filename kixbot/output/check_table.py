"""The table of `kix check`: one row a tool, what it says and why."""

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from kixbot.model.finding import Finding, Report, Severity, State

Result = Literal["pass", "fail", "not run"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One row: which tool, its result, figures."""

    tool: str
    result: Result
    details: str


def rows(report: Report) -> tuple[Row, Row]:
    """The rows of a report: `eval` and `scorecard`."""
    return _eval(report), _scorecard(report)


def table(report: Report) -> str:
    """The table as Markdown writes it, which a terminal reads as well."""
    lines = ["| Tool | Result | Details |", "|---|---|---|"]
    lines += [f"| {row.tool} | {row.result} | {row.details} |".replace("|  |", "| |") for row in rows(report)]
    return "\n".join(lines) + "\n"


def counted(findings: tuple[Finding, ...]) -> Counter[Severity]:
    """How many findings there are of each severity."""
    return Counter(finding.severity for finding in findings)


def _eval(report: Report) -> Row:
    details = f"{_count(report.manifests, 'manifest')} evaluated"
    if not report.eval_messages:
        return Row(tool="eval", result="pass", details=details)
    if not report.scorecard_ran:
        details = "does not build"
    return Row(tool="eval", result="fail", details=f"{details}, {_count(len(report.eval_messages), 'problem')}")


def _scorecard(report: Report) -> Row:
    if not report.scorecard_ran:
        return Row(tool="scorecard", result="not run", details="")
    counts = counted(report.findings)
    errors, warnings, infos = (counts[severity] for severity in (Severity.ERROR, Severity.WARNING, Severity.INFO))
    details = f"{_count(errors, 'error')}, {_count(warnings, 'warning')}, {infos} info"
    if report.suppressed:
        details += f", {len(report.suppressed)} suppressed"
    if compared := _compared(report):
        details += f" ({compared})"
    if report.failing:
        details += f"; failing: {', '.join(report.failing)}"
    return Row(tool="scorecard", result="fail" if errors or report.failing else "pass", details=details)


def _compared(report: Report) -> str:
    """How the findings stand to the baseline, empty where there was none."""
    states = Counter(finding.state for finding in report.findings)
    if not report.fixed and set(states) <= {None}:
        return ""
    return f"{states[State.NEW]} new, {states[State.UNCHANGED]} unchanged, {len(report.fixed)} fixed"


def _count(number: int, one: str) -> str:
    return f"{number} {one if number == 1 else one + 's'}"
