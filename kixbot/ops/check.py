"""Check: judge a build by all rules, with the exit code that follows. Needs no cluster, no network and no client."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime

from kixbot.checks import fail_on as naming, report as judging
from kixbot.checks.collected import UNBUILT
from kixbot.checks.registry import CHECKS
from kixbot.checks.schema import tables
from kixbot.checks.upgrade import at_version, changes
from kixbot.errors import ExitCode, SourceError, UsageError
from kixbot.model.build import Build
from kixbot.model.finding import Finding, Report, Severity
from kixbot.model.pin import Pins
from kixbot.model.resource import Location

_VERSION = re.compile(r"v?1\.(?P<minor>[0-9]{1,3})(\.[0-9A-Za-z.+-]+)?")


def check(
    build: Build,
    *,
    fail_on: Sequence[str] = (),
    baseline: Build | Mapping[str, Finding] | None = None,
    pins: Pins | None = None,
    today: date | None = None,
    version: str | None = None,
    also: Sequence[str] = (),
) -> Report:
    """Judge a build.

    `version` is the Kubernetes version to judge it for, the cluster's own where none is given; `also` are later ones,
    of which is said what they change.

    `fail_on` names rules, groups (`sec/*`), categories or `warning`: their warnings fail here, beside those that the
    build's own scorecard names. `baseline` is an older build, or its findings by fingerprint. `pins` are those the
    build was made with, `today` the day by which suppressions expire: this one, in UTC, where none is given.
    Raises SettingsError where `fail_on` or the scorecard names nothing that exists.
    """
    known = [one.id for one in CHECKS]
    naming.validate(fail_on, known, where="--fail-on")
    naming.validate(build.evaluated.scorecard.fail, known, where="scorecard.fail")
    today = today or _this_day()
    older = findings_of(baseline, pins=pins, today=today) if isinstance(baseline, Build) else baseline
    build = at_version(build, _known(version)) if version else build
    report = judging.run(build, fail_on=fail_on, baseline=older, pins=pins, today=today)
    for later in also:
        there = judging.run(at_version(build, _known(later)), pins=pins, today=today)
        found = (*report.findings, *changes(report, there, later))
        report = replace(report, findings=judging.in_order(found))
    return report


def _known(version: str) -> str:
    """The version as `1.36`. Raises UsageError for one whose kinds are not known."""
    found = _VERSION.fullmatch(version)
    short = f"1.{found['minor']}" if found else ""
    known = tables.versions()
    if short not in known:
        hint = f"name one from {known[0]} to {known[-1]}"
        raise UsageError(f"{version}: no version of Kubernetes that is known here", hint=hint)
    return short


def findings_of(build: Build, *, pins: Pins | None = None, today: date | None = None) -> dict[str, Finding]:
    """The findings of a build by fingerprint, suppressed ones left out: what another build is compared with."""
    report = judging.run(build, pins=pins, today=today or _this_day())
    return {finding.fingerprint: finding for finding in (*report.findings, *report.followers)}


def _this_day() -> date:
    return datetime.now(tz=UTC).date()


def unbuilt(error: SourceError, *, cluster: str | None) -> Report:
    """The report of a source that does not build: eval fails, and the scorecard has not run."""
    location = Location(file=error.file, line=error.line) if error.file else None
    found = Finding(
        rule=UNBUILT,
        severity=Severity.ERROR,
        message=error.message,
        hint=error.hint or "mend the source; nothing else was checked",
        location=location,
    )
    return Report(
        cluster=cluster,
        activation=None,
        manifests=0,
        eval_messages=judging.fingerprinted([found]),
        scorecard_ran=False,
    )


def exit_code(report: Report) -> ExitCode:
    """3 where evaluation failed; 1 where there are errors or failing rules; else 0."""
    if report.eval_messages:
        return ExitCode.SOURCE
    if report.failing or any(finding.severity is Severity.ERROR for finding in report.findings):
        return ExitCode.NO
    return ExitCode.DONE
