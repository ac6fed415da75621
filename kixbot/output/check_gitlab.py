"""`kix check -o gitlab`: the list that GitLab shows as Code Quality in a merge request.

https://docs.gitlab.com/ci/testing/code_quality/ names the five fields; fingerprints must differ, paths are relative.
"""

import json
from typing import Any

from kixbot.model.finding import Finding, Report, Severity
from kixbot.output.check_places import file_of, line_of, sentence
from kixbot.output.terminal import escape, escape_json

_SEVERITIES = {Severity.ERROR: "critical", Severity.WARNING: "minor", Severity.INFO: "info"}


def text(report: Report) -> str:
    """The list as JSON; equal reports give equal bytes."""
    return escape_json(json.dumps(document(report), ensure_ascii=False, indent=2)) + "\n"


def document(report: Report) -> list[dict[str, Any]]:
    """One item a finding, worst first; what is suppressed is left out."""
    return [_item(finding) for finding in (*report.eval_messages, *report.findings)]


def _item(finding: Finding) -> dict[str, Any]:
    subject = f"{finding.ref.short}: " if finding.ref else ""
    return {
        "description": escape(f"{subject}{' '.join(sentence(finding).split())}"),
        "check_name": finding.rule,
        "fingerprint": finding.fingerprint,
        "severity": _SEVERITIES[finding.severity],
        "location": {"path": escape(file_of(finding.location)), "lines": {"begin": line_of(finding.location)}},
    }
