"""`kix check -o sarif`: SARIF 2.1.0 as GitHub's code scanning reads it.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/ says what the fields mean; GitHub's limits (25,000 results a run, 100
shown places a result) and its properties `security-severity`, `precision` and `tags` stand in its documentation of
SARIF support for code scanning.
"""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from kixbot import __version__
from kixbot.checks.base import Check, category_of
from kixbot.checks.registry import find_check
from kixbot.model.finding import Confidence, Finding, Related, Report, Severity, State, Suppressed
from kixbot.model.resource import Location
from kixbot.output.check_places import line_of, sentence, uri_of
from kixbot.output.terminal import escape, escape_block, escape_json

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_MOST_RESULTS = 25_000
_MOST_PLACES = 100
_LEVELS = {Severity.ERROR: "error", Severity.WARNING: "warning", Severity.INFO: "note"}
_PRECISION = {Confidence.PROVEN: "very-high", Confidence.LIKELY: "high", Confidence.HINT: "medium"}
_SECURITY = {Severity.ERROR: "8.0", Severity.WARNING: "5.0", Severity.INFO: "2.0"}
_STATES = {State.NEW: "new", State.UNCHANGED: "unchanged", State.FIXED: "absent"}
_LINK = re.compile(r"\[([^\[\]]*)\]\(")


def text(report: Report) -> str:
    """The log as JSON; equal reports give equal bytes."""
    return escape_json(json.dumps(document(report), ensure_ascii=False, indent=2)) + "\n"


def document(report: Report) -> dict[str, Any]:
    """One run: findings worst first, then suppressed ones, then those that the baseline alone has."""
    shown: list[tuple[Finding, Suppressed | None]] = [(one, None) for one in report.eval_messages + report.findings]
    shown += [(item.finding, item) for item in report.suppressed]
    shown += [(one, None) for one in report.fixed]
    shown = shown[:_MOST_RESULTS]
    rules = sorted({finding.rule for finding, _ in shown})
    places = {rule: number for number, rule in enumerate(rules)}
    driver = {
        "name": "kix",
        "version": __version__,
        "semanticVersion": __version__,
        "rules": [_rule(rule) for rule in rules],
    }
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "invocations": [{"executionSuccessful": report.scorecard_ran}],
        "results": [_result(finding, item, places[finding.rule]) for finding, item in shown],
        "columnKind": "unicodeCodePoints",
    }
    if report.cluster:
        run["automationDetails"] = {"id": f"kix/{escape(report.cluster)}/"}
    return {"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}


def _rule(rule: str) -> dict[str, Any]:
    check = find_check(rule)
    category = category_of(rule)
    shown: dict[str, Any] = {"id": rule, "properties": {"tags": [category]}}
    if check is None:
        return shown
    shown["shortDescription"] = {"text": check.title}
    shown["fullDescription"] = {"text": check.rationale}
    shown["help"] = {"text": check.rationale, "markdown": _help(check)}
    shown["defaultConfiguration"] = {"level": _LEVELS[check.severity]}
    shown["properties"]["precision"] = _PRECISION[check.confidence]
    if category == "security":
        shown["properties"]["security-severity"] = _SECURITY[check.severity]
    return shown


def _help(check: Check) -> str:
    fenced = f"```{check.example.language}\n%s```\n"
    bad, good = (fenced % _short(example) for example in (check.example.bad, check.example.good))
    return f"{check.rationale}\n\n**Bad**\n{bad}\n**Good**\n{good}"


def _short(example: str) -> str:
    return "".join(f"{line[:120]}\n" for line in example.splitlines())


def _result(finding: Finding, suppressed: Suppressed | None, rule: int) -> dict[str, Any]:
    result: dict[str, Any] = {
        "ruleId": finding.rule,
        "ruleIndex": rule,
        "level": _LEVELS[finding.severity],
        "message": {"text": _plain(sentence(finding))},
        "locations": [_location(finding.location, _qualified(finding))],
        "partialFingerprints": {"kix/v1": finding.fingerprint},
        "properties": {"category": category_of(finding.rule), "confidence": finding.confidence.value},
    }
    if finding.related:
        result["relatedLocations"] = _related(finding.related[:_MOST_PLACES])
    if suppressed:
        result["suppressions"] = [{"kind": "external", "justification": escape(suppressed.reason)}]
    if finding.state:
        result["baselineState"] = _STATES[finding.state]
    if finding.package:
        result["properties"]["package"] = escape(finding.package)
    return result


def _plain(message: str) -> str:
    """Text that no viewer reads as a link: `[a](b)` is one in a SARIF message unless its brackets are escaped."""
    return _LINK.sub(r"\\[\1\\](", escape_block(message))


def _qualified(finding: Finding) -> str:
    return " ".join(escape(part) for part in (finding.ref.id if finding.ref else "", finding.path) if part)


def _related(places: Sequence[Related]) -> list[Mapping[str, Any]]:
    return [
        {
            "id": number,
            **_location(one.location, escape(one.ref.id) if one.ref else ""),
            "message": {"text": _plain(one.note)},
        }
        for number, one in enumerate(places, start=1)
    ]


def _location(location: Location | None, name: str) -> dict[str, Any]:
    shown: dict[str, Any] = {
        "physicalLocation": {
            "artifactLocation": {"uri": uri_of(location)},
            "region": {"startLine": line_of(location)},
        }
    }
    if name:
        shown["logicalLocations"] = [{"fullyQualifiedName": name, "kind": "resource"}]
    return shown
