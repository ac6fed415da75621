"""What an upgrade of Kubernetes changes: findings that a later version has and the cluster's own has not."""

import hashlib
from collections.abc import Iterator
from dataclasses import replace

from kixbot.model.build import Build
from kixbot.model.finding import Finding, Report, Severity


def at_version(build: Build, version: str) -> Build:
    """The same build, judged as on that version of Kubernetes."""
    cluster = replace(build.cluster, kubernetes_version=version)
    return replace(build, evaluated=replace(build.evaluated, cluster=cluster))


def changes(now: Report, later: Report, version: str) -> Iterator[Finding]:
    """What `later`, the report of the same build on that version, says and `now` does not.

    An error is one of a day to come, and so a warning today.
    """
    said = {one.fingerprint for one in (*now.findings, *now.followers, *(item.finding for item in now.suppressed))}
    for finding in (*later.findings, *later.followers):
        if finding.fingerprint not in said:
            text = f"{finding.fingerprint}\0{version}"
            yield replace(
                finding,
                severity=Severity.WARNING if finding.severity is Severity.ERROR else finding.severity,
                message=f"with Kubernetes {version}: {finding.message}",
                causes=(),
                fingerprint=hashlib.sha256(text.encode()).hexdigest()[:32],
            )
