"""`kix check -o json`: the report as a versioned document, `docs/schemas/check.json` its schema."""

import json
from collections.abc import Mapping
from typing import Any

from kixbot.checks.base import category_of
from kixbot.model.finding import Finding, Related, Report, Score, Scores, Severity
from kixbot.model.resource import Location
from kixbot.output.check_table import counted, rows
from kixbot.output.terminal import escape_json

SCHEMA = 1


def text(report: Report) -> str:
    """The document as JSON, one finding after the other in the report's order; equal reports give equal bytes."""
    return escape_json(json.dumps(document(report), ensure_ascii=False, indent=2)) + "\n"


def document(report: Report) -> dict[str, Any]:
    """The document: what failed evaluation stands first among the findings and counts as errors."""
    found = (*report.eval_messages, *report.findings)
    counts = counted(found)
    evaluated, scorecard = rows(report)
    return {
        "schema": SCHEMA,
        "cluster": report.cluster,
        "activation": report.activation,
        "summary": {
            "manifests": report.manifests,
            "errors": counts[Severity.ERROR],
            "warnings": counts[Severity.WARNING],
            "infos": counts[Severity.INFO],
            "suppressed": len(report.suppressed),
        },
        "findings": [_finding(finding) for finding in (*found, *report.followers, *report.fixed)],
        "scorecard": {
            "eval": evaluated.result,
            "result": scorecard.result,
            "failing": list(report.failing),
            "suppressed": [{**_finding(item.finding), "reason": item.reason} for item in report.suppressed],
            "scores": _scores(report.scores),
        },
    }


def _finding(finding: Finding) -> dict[str, Any]:
    return {
        "rule": finding.rule,
        "severity": finding.severity.value,
        "category": category_of(finding.rule),
        "confidence": finding.confidence.value,
        "resource": finding.ref.id if finding.ref else None,
        "package": finding.package,
        "path": finding.path or None,
        "message": finding.message,
        "hint": finding.hint,
        "location": _location(finding.location),
        "related": [_related(related) for related in finding.related],
        "causes": list(finding.causes),
        "fix": [dict(operation) for operation in finding.fix],
        "state": finding.state.value if finding.state else None,
        "fingerprint": finding.fingerprint,
    }


def _scores(scores: Scores) -> dict[str, Any]:
    return {
        "categories": {name: _score(one) for name, one in scores.categories.items()},
        "packages": {
            package: {name: _score(one) for name, one in found.items()} for package, found in scores.packages.items()
        },
        "notApplicable": list(scores.not_applicable),
    }


def _score(score: Score) -> dict[str, int | None]:
    return {"kept": score.kept, "total": score.total, "percent": score.percent}


def _related(related: Related) -> Mapping[str, Any]:
    return {
        "resource": related.ref.id if related.ref else None,
        "location": _location(related.location),
        "note": related.note,
    }


def _location(location: Location | None) -> Mapping[str, Any] | None:
    return {"file": location.file, "line": location.line} if location else None
