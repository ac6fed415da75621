"""All rules over one build: findings with severity, place and fingerprint, sorted, sifted, judged."""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import replace
from datetime import date

from kixbot.checks import fail_on as naming
from kixbot.checks.annotations import foreign
from kixbot.checks.base import Check, Hit
from kixbot.checks.causes import fold
from kixbot.checks.context import Context, package_of
from kixbot.checks.registry import CHECKS
from kixbot.checks.scorecard import scores
from kixbot.checks.suppression import sift
from kixbot.model.build import Build, CollectedFault
from kixbot.model.finding import Finding, Report, Severity, State
from kixbot.model.pin import Pins
from kixbot.model.resource import Location, Ref, Resource

_RANK = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def run(
    build: Build,
    *,
    fail_on: Sequence[str] = (),
    baseline: Mapping[str, Finding] | None = None,
    pins: Pins | None = None,
    today: date | None = None,
    checks: Sequence[Check] = CHECKS,
) -> Report:
    """Judge a build.

    `fail_on` names rules whose warnings fail, beside `scorecard.fail` of the build. `baseline` holds the findings of
    an older build by fingerprint. `pins` are the pins the build was made with, `today` the day suppressions are
    judged by. Every check runs, also when some fail evaluation.
    """
    context = Context(build, pins=pins, today=today)
    settings = build.evaluated.scorecard
    hits = [*_found(checks, "scorecard", context)]
    said = {(one.rule, one.ref) for one, _ in hits}
    hits += [(one, "") for one in _collected(build.evaluated.faults, said, context)]
    found = fingerprinted(one for one, _ in hits)
    causes = {one.fingerprint: cause for one, (_, cause) in zip(found, hits, strict=True) if cause}
    sifted = sift(found, settings.ignore, today)
    others = sift(sifted.kept, tuple(foreign(build.resources)), today)
    remarks = fingerprinted(one for one, _ in _found(checks, "suppressions", context.after(sifted.unused)))
    silenced = sifted.suppressed_fingerprints | others.suppressed_fingerprints
    judged, fixed = _compared((*others.kept, *remarks), silenced, baseline)
    findings, followers = fold(judged, causes)
    patterns = (*settings.fail, *fail_on)
    name = build.cluster.name or None
    return Report(
        cluster=name,
        activation=build.activation.name if build.activation and name else None,
        manifests=len(build.resources),
        findings=findings,
        followers=followers,
        eval_messages=in_order(fingerprinted(one for one, _ in _found(checks, "eval", context))),
        suppressed=sifted.suppressed + others.suppressed,
        fixed=fixed,
        failing=tuple(sorted({finding.rule for finding in judged if _fails(finding, patterns)})),
        scores=scores(context, checks, judged),
    )


def _fails(finding: Finding, patterns: Sequence[str]) -> bool:
    """A baseline excuses warnings that it holds too; errors fail by themselves and need no naming."""
    if finding.severity is not Severity.WARNING or finding.state is State.UNCHANGED:
        return False
    return naming.fails(finding.rule, patterns)


def _found(checks: Iterable[Check], stage: str, context: Context) -> Iterator[tuple[Finding, str]]:
    """Findings with the cause that their rule names."""
    for check in checks:
        if check.stage == stage:
            for hit in check.find(context):
                yield _finding(check, hit, context.definition), hit.cause


def _finding(check: Check, hit: Hit, definition: Location | None) -> Finding:
    resource = hit.resource
    return Finding(
        rule=check.id,
        severity=hit.severity or check.severity,
        confidence=hit.confidence or check.confidence,
        message=hit.message,
        ref=resource.ref if resource else None,
        package=hit.package or (package_of(resource) if resource else None),
        path=hit.path,
        hint=hit.hint,
        location=hit.location or _place(resource, hit.path) or definition,
        related=hit.related,
    )


def _collected(
    faults: Iterable[CollectedFault], said: AbstractSet[tuple[str, Ref | None]], context: Context
) -> Iterator[Finding]:
    """What a source noticed while it evaluated; what a rule has said of the same object is not said again."""
    for fault in faults:
        resource = context.by_ref.get(fault.ref) if fault.ref else None
        if (fault.rule, fault.ref) not in said:
            yield Finding(
                rule=fault.rule,
                severity=Severity.ERROR,
                message=fault.message,
                ref=fault.ref,
                package=fault.package or (package_of(resource) if resource else None),
                path=fault.path,
                hint=fault.hint or "name what is declared, or declare it",
                location=fault.origin or _place(resource, fault.path),
            )


def _place(resource: Resource | None, path: str) -> Location | None:
    return resource.place(path or "$") if resource else None


def fingerprinted(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings with what stays the same when lines, files and versions move; equal ones are told apart by a count."""
    seen: Counter[str] = Counter()
    done = []
    for finding in findings:
        base = "\0".join(_told_by(finding))
        seen[base] += 1
        text = base if seen[base] == 1 else f"{base}\0{seen[base]}"
        digest = hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()
        done.append(replace(finding, fingerprint=digest[:32]))
    return tuple(done)


def _told_by(finding: Finding) -> Iterator[str]:
    """Rule, group and kind (not version), namespace, name, path with list keys, and the other objects spoken of."""
    yield finding.rule
    yield finding.ref.id if finding.ref else finding.message.partition("\n")[0]
    yield finding.path
    yield from sorted(related.ref.id for related in finding.related if related.ref)


def in_order(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Worst first, then by object, rule and place: the same findings always stand in the same order."""
    return tuple(
        sorted(
            findings,
            key=lambda item: (
                _RANK[item.severity],
                item.ref.id if item.ref else "",
                item.rule,
                item.path,
                item.message,
                item.fingerprint,
            ),
        )
    )


def _compared(
    findings: Iterable[Finding], silenced: frozenset[str], baseline: Mapping[str, Finding] | None
) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Findings with their state against the baseline, and those of the baseline that are gone."""
    if baseline is None:
        return in_order(findings), ()
    states = [
        replace(finding, state=State.UNCHANGED if finding.fingerprint in baseline else State.NEW)
        for finding in findings
    ]
    still = {finding.fingerprint for finding in states} | silenced
    fixed = [replace(old, state=State.FIXED) for fingerprint, old in baseline.items() if fingerprint not in still]
    return in_order(states), in_order(fixed)
