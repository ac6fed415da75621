"""`kix check -o markdown`: the table and the findings, harmless wherever a forge renders them."""

from collections.abc import Iterable

from kixbot.model.finding import Finding, Report
from kixbot.output.check_table import rows
from kixbot.output.check_text import block, followers_of
from kixbot.output.markup import count, fence
from kixbot.output.ref_names import short_names


def markdown(report: Report) -> str:
    """The whole report. Names and messages come from outside and stand inside a fence, where nothing is markup."""
    lines = ["## kix check", "", "| Tool | Result | Details |", "|---|---|---|"]
    lines += [f"| {row.tool} | {row.result} | {row.details} |".replace("|  |", "| |") for row in rows(report)]
    found = (*report.eval_messages, *report.findings)
    lines += _section("Findings", found, report)
    lines += _section("Fixed since the baseline", report.fixed, report)
    if report.suppressed:
        lines += ["", f"{count(len(report.suppressed), 'finding')} suppressed."]
    return "\n".join(lines) + "\n"


def _section(title: str, findings: Iterable[Finding], report: Report) -> list[str]:
    shown = tuple(findings)
    if not shown:
        return []
    name = short_names(finding.ref for finding in (*shown, *report.followers) if finding.ref)
    blocks = (block(finding, name, followers_of(finding, report)) for finding in shown)
    return ["", f"**{title}**", "", fence("\n".join(blocks).rstrip("\n"))]
