"""Manifests with a verdict: each file says what the correctness rules must find in it, and why.

A verdict is `none`, or a list of `SEVERITY RULE`. Rules of security, reliability and governance speak of every
workload and are not part of it.
"""

from pathlib import Path

import pytest

from kixbot.checks.base import category_of
from kixbot.checks.report import run
from kixbot.model.finding import Confidence
from tests.builds import build_of

CASES = sorted((Path(__file__).parent / "cases").glob("*.yaml"))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.stem)
def test_a_case_has_its_verdict(case: Path) -> None:
    text = case.read_text(encoding="utf-8")
    first = text.partition("\n")[0]
    assert first.startswith("# verdict: "), "a case begins with its verdict"
    verdict = first.removeprefix("# verdict: ")
    expected = [] if verdict == "none" else verdict.split(", ")
    report = run(build_of(text))
    assert report.eval_messages == ()
    found = [
        f"{finding.severity.value} {finding.rule}"
        for finding in report.findings
        if category_of(finding.rule) == "correctness" and finding.confidence is not Confidence.HINT
    ]
    assert found == expected


def test_there_are_cases() -> None:
    assert len(CASES) >= 13
