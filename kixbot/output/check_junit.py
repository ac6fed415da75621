"""`kix check -o junit`: JUnit XML, one suite a package and one case a finding.

Errors and warnings that fail are failures. Other findings are cases that pass and say what they found in
`system-out`, so that a run which passes is green; what is suppressed is skipped, with its reason.
"""

import re
from collections import defaultdict
from collections.abc import Iterable
from html import escape as entities

from kixbot.model.finding import Finding, Report, Severity, State
from kixbot.output.check_places import file_of, line_of, sentence
from kixbot.output.check_table import Row, rows
from kixbot.output.terminal import escape, escape_block

_LOOSE = "(no package)"
_NO_XML = re.compile("[\ufffe\uffff]")  # with what `escape` escapes, all that XML 1.0 cannot hold
_INSTEAD = "\ufffd"


def text(report: Report) -> str:
    """The document: first a suite with the rows of the table, then packages by name."""
    suites: defaultdict[str, list[str]] = defaultdict(list)
    failing = {finding.fingerprint for finding in report.findings if _fails(finding, report)}
    for finding in report.eval_messages:
        suites[finding.package or _LOOSE].append(_case(finding, _failure(finding)))
    for finding in report.findings:
        body = _failure(finding) if finding.fingerprint in failing else _remark(finding)
        suites[finding.package or _LOOSE].append(_case(finding, body))
    for item in report.suppressed:
        skipped = f"      <skipped message={_quoted(item.reason)}/>"
        suites[item.finding.package or _LOOSE].append(_case(item.finding, skipped))
    whole = [_suite("kix check", [_row(row) for row in rows(report)])]
    whole += [_suite(name, suites[name]) for name in sorted(suites)]
    return "\n".join((f'<?xml version="1.0" encoding="UTF-8"?>\n{_head("testsuites", "kix check", whole)}', *whole)) + (
        "\n</testsuites>\n"
    )


def _fails(finding: Finding, report: Report) -> bool:
    if finding.severity is Severity.WARNING:
        return finding.rule in report.failing and finding.state is not State.UNCHANGED
    return finding.severity is Severity.ERROR


def _suite(name: str, cases: list[str]) -> str:
    return "\n".join((f"  {_head('testsuite', name, cases)}", *cases, "  </testsuite>"))


def _head(tag: str, name: str, parts: Iterable[str]) -> str:
    whole = "\n".join(parts)
    counts = {"tests": "<testcase ", "failures": "<failure ", "skipped": "<skipped"}
    shown = " ".join(f'{word}="{whole.count(mark)}"' for word, mark in counts.items())
    return f'<{tag} name={_quoted(name)} {shown} errors="0">'


def _row(row: Row) -> str:
    head = f'    <testcase classname="kix check" name="{row.tool}">'
    match row.result:
        case "fail":
            return f"{head}\n      <failure message={_quoted(row.details)}/>\n    </testcase>"
        case "not run":
            return f'{head}\n      <skipped message="not run"/>\n    </testcase>'
        case _:
            return f"{head}\n      <system-out>{_data(row.details)}</system-out>\n    </testcase>"


def _case(finding: Finding, body: str) -> str:
    name = f"{finding.rule} {finding.path}".rstrip()
    place = f'file={_quoted(file_of(finding.location))} line="{line_of(finding.location)}"'
    classname = finding.ref.id if finding.ref else finding.rule
    return f"    <testcase classname={_quoted(classname)} name={_quoted(name)} {place}>\n{body}\n    </testcase>"


def _failure(finding: Finding) -> str:
    first = finding.message.partition("\n")[0]
    return f'      <failure type="{finding.rule}" message={_quoted(first)}>{_data(sentence(finding))}</failure>'


def _remark(finding: Finding) -> str:
    return f"      <system-out>{_data(f'{finding.severity.value}: {sentence(finding)}')}</system-out>"


def _data(value: str) -> str:
    """Text of an element; entities keep a runner that reads the log from taking a line for a command."""
    shown = entities(_NO_XML.sub(_INSTEAD, escape_block(value)), quote=False)
    return shown.replace("::", "&#58;:").replace("##[", "#&#35;[")


def _quoted(value: str) -> str:
    return f'"{entities(_NO_XML.sub(_INSTEAD, escape(value)))}"'
