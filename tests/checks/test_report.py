"""From hits to a report: order, fingerprints, suppressions, baseline, what fails."""

from dataclasses import replace
from datetime import date

import pytest

from kixbot.checks.fail_on import fails, validate
from kixbot.errors import SettingsError
from kixbot.model.build import Assertion, Suppression
from kixbot.model.finding import Finding, Severity, State
from kixbot.model.resource import Location, Ref
from tests.builds import CLOSED, OPEN, build_of, lean_run as run

UNTAGGED = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      automountServiceAccountToken: false
      containers: [{name: web, image: web}]
  selector: {matchLabels: {app: web}}
"""
WEB = Ref("Deployment", "apps", "shop", "web")


def rules(findings: tuple[Finding, ...]) -> list[str]:
    return [finding.rule for finding in findings]


def entry(rule: str, resource: str = "Deployment/web@shop", until: str | None = None) -> Suppression:
    return Suppression(rule=rule, resource=resource, reason="vendor image", until=until)


def test_a_report_counts_manifests_and_names_the_activation() -> None:
    report = run(build_of(UNTAGGED, facts=replace(OPEN, name="shop")))
    assert (report.cluster, report.manifests, report.scorecard_ran) == ("shop", 1, True)
    assert str(report.activation).startswith("shop-")


def test_a_bare_path_has_no_cluster_and_no_activation() -> None:
    report = run(build_of(UNTAGGED))
    assert (report.cluster, report.activation) == (None, None)


def test_findings_stand_worst_first_and_then_by_object() -> None:
    text = (
        UNTAGGED
        + "---\n"
        + UNTAGGED.replace("name: web, namespace", "name: api, namespace")
        .replace("app: web", "app: api")
        .replace("image: web", "image: web, env: [{name: A, value: a}, {name: A, value: a}]")
    )
    assert [(one.rule, one.ref and one.ref.name) for one in run(build_of(text)).findings] == [
        ("schema/duplicate-env", "api"),
        ("gov/image-no-tag", "api"),
        ("gov/image-no-tag", "web"),
    ]


def test_a_fingerprint_survives_other_lines_other_files_and_another_version_of_the_kind() -> None:
    (before,) = run(build_of(UNTAGGED)).findings
    moved = "# a comment\n\n" + UNTAGGED.replace("apps/v1", "apps/v1beta2")
    (after,) = (one for one in run(build_of(moved, file="other/place.yaml")).findings if one.rule == before.rule)
    assert after.fingerprint == before.fingerprint
    assert after.location != before.location
    assert len(before.fingerprint) == 32


def test_fingerprints_tell_objects_apart() -> None:
    text = UNTAGGED + "---\n" + UNTAGGED.replace("namespace: shop", "namespace: blog")
    fingerprints = [finding.fingerprint for finding in run(build_of(text)).findings]
    assert len(set(fingerprints)) == 2


def test_equal_findings_of_one_place_have_fingerprints_of_their_own() -> None:
    build = build_of(UNTAGGED)
    twice = (Assertion(message="no"), Assertion(message="no"))
    report = run(replace(build, evaluated=replace(build.evaluated, assertions=twice)))
    assert len({message.fingerprint for message in report.eval_messages}) == 2


def test_a_suppression_silences_its_finding_and_keeps_the_reason() -> None:
    report = run(build_of(UNTAGGED, ignore=(entry("gov/image-no-tag"),)))
    assert report.findings == ()
    ((finding, reason),) = [(item.finding.rule, item.reason) for item in report.suppressed]
    assert (finding, reason) == ("gov/image-no-tag", "vendor image")


@pytest.mark.parametrize(
    ("rule", "resource"),
    [("gov/*", "*"), ("*", "Deployment/*@shop"), ("gov/image-no-tag", "Deployment/web@*")],
)
def test_a_suppression_may_hold_patterns(rule: str, resource: str) -> None:
    assert run(build_of(UNTAGGED, ignore=(entry(rule, resource),))).findings == ()


def test_a_custom_resource_may_be_named_without_its_group() -> None:
    text = "apiVersion: argoproj.io/v1alpha1\n" + UNTAGGED.partition("\n")[2].replace("Deployment", "Rollout")
    for resource in ("Rollout/web@shop", "Rollout.argoproj.io/web@shop"):
        assert run(build_of(text, ignore=(entry("gov/image-no-tag", resource),))).findings == ()


def test_a_suppression_that_silences_nothing_is_reported() -> None:
    report = run(build_of(UNTAGGED, ignore=(entry("sec/root-image"), entry("gov/image-no-tag"))))
    (finding,) = report.findings
    assert finding.rule == "gov/unused-suppression"
    assert finding.message == ("scorecard.ignore holds sec/root-image on Deployment/web@shop, which silences nothing")


def test_a_suppression_holds_until_the_end_of_its_day() -> None:
    build = build_of(UNTAGGED, ignore=(entry("gov/image-no-tag", until="2026-11-29"),))
    assert rules(run(build, today=date(2026, 11, 29)).findings) == []
    assert rules(run(build).findings) == []
    expired = run(build, today=date(2026, 11, 30))
    assert rules(expired.findings) == ["gov/expired-suppression", "gov/image-no-tag"]
    assert expired.suppressed == ()


def test_an_until_that_is_no_day_is_reported() -> None:
    report = run(build_of(UNTAGGED, ignore=(entry("gov/image-no-tag", until="soon"),)), today=date(2026, 1, 1))
    assert rules(report.findings) == ["gov/expired-suppression"]
    assert report.findings[0].hint == "write until as YYYY-MM-DD"


def test_a_suppression_cannot_silence_what_fails_evaluation() -> None:
    build = build_of(UNTAGGED, ignore=(entry("*", "*"),))
    failing = replace(build, evaluated=replace(build.evaluated, assertions=(Assertion(message="web needs a replica"),)))
    assert rules(run(failing).eval_messages) == ["schema/assertion"]


def test_assertions_fail_evaluation_with_their_place_and_the_other_rules_still_run() -> None:
    build = build_of(UNTAGGED)
    place = Location(file="clusters/shop.nix", line=12)
    assertion = Assertion(message="web needs a replica", package="shop/web", ref=WEB, hint="set replicas", origin=place)
    report = run(replace(build, evaluated=replace(build.evaluated, assertions=(assertion,))))
    (message,) = report.eval_messages
    assert (message.message, message.package, message.ref, message.hint, message.location) == (
        "web needs a replica",
        "shop/web",
        WEB,
        "set replicas",
        place,
    )
    assert rules(report.findings) == ["gov/image-no-tag"]


def test_equal_duplicates_are_an_info_and_differing_ones_fail_evaluation() -> None:
    equal = run(build_of(UNTAGGED + "---\n" + UNTAGGED))
    assert equal.eval_messages == ()
    assert [(one.rule, one.severity) for one in equal.findings][-1] == ("gov/duplicate-object", Severity.INFO)
    differing = run(build_of(UNTAGGED + "---\n" + UNTAGGED.replace("image: web", "image: api")))
    (message,) = differing.eval_messages
    assert message.message == "Deployment shop/web is declared twice, and the two differ (first: shop.yaml:1)"
    assert (message.location, differing.activation) == (Location(file="shop.yaml", line=12), None)


def test_hard_references_in_a_circle_are_an_info_in_plain_manifests() -> None:
    text = (
        "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web, namespace: shop}\nsecrets: [{name: token}]\n---\n"
        "apiVersion: v1\nkind: Secret\nmetadata:\n  name: token\n  namespace: shop\n"
        "  annotations: {kubernetes.io/service-account.name: web}\ntype: kubernetes.io/service-account-token\n"
    )
    report = run(build_of(text))
    assert report.eval_messages == ()
    assert {(one.rule, one.severity) for one in report.findings} == {("ref/cycle-softened", Severity.INFO)}


def test_against_a_baseline_findings_are_new_unchanged_or_fixed() -> None:
    old = run(build_of(UNTAGGED))
    baseline = {finding.fingerprint: finding for finding in old.findings}
    same = run(build_of(UNTAGGED), baseline=baseline)
    assert [finding.state for finding in same.findings] == [State.UNCHANGED]
    mended = run(build_of(UNTAGGED.replace("image: web", "image: web:1")), baseline=baseline)
    assert (mended.findings, rules(mended.fixed)) == ((), ["gov/image-no-tag"])
    assert mended.fixed[0].state is State.FIXED
    other = run(build_of(UNTAGGED.replace("name: web, n", "name: api, n")), baseline=baseline)
    assert [finding.state for finding in other.findings] == [State.NEW]


def test_what_is_suppressed_is_not_fixed() -> None:
    baseline = {finding.fingerprint: finding for finding in run(build_of(UNTAGGED)).findings}
    report = run(build_of(UNTAGGED, ignore=(entry("gov/image-no-tag"),)), baseline=baseline)
    assert report.fixed == ()


def test_warnings_fail_where_they_are_named_and_a_baseline_excuses_them() -> None:
    baseline = {finding.fingerprint: finding for finding in run(build_of(UNTAGGED)).findings}
    assert run(build_of(UNTAGGED)).failing == ()
    assert run(build_of(UNTAGGED), fail_on=("gov/*",)).failing == ("gov/image-no-tag",)
    assert run(build_of(UNTAGGED, fail=("gov/image-no-tag",))).failing == ("gov/image-no-tag",)
    assert run(build_of(UNTAGGED), fail_on=("gov/*",), baseline=baseline).failing == ()


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [("gov/image-no-tag", True), ("gov/*", True), ("governance", True), ("warning", True), ("sec/*", False)],
)
def test_rules_groups_categories_and_all_warnings_can_be_named(pattern: str, *, expected: bool) -> None:
    assert fails("gov/image-no-tag", (pattern,)) is expected


def test_a_name_that_means_nothing_is_refused_with_the_nearest() -> None:
    with pytest.raises(SettingsError) as refused:
        validate(("gov/image-no-tags",), ("gov/image-no-tag",), where="--fail-on")
    assert refused.value.message == '--fail-on: no rule, group or category "gov/image-no-tags"'
    assert refused.value.hint == 'did you mean "gov/image-no-tag"?'
    validate(("gov/image-no-tag", "sec/*", "security", "warning"), ("gov/image-no-tag",), where="--fail-on")


def test_a_fault_that_a_rule_finds_too_is_said_once() -> None:
    text = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: big}\ndata: {page: "' + "x" * 1_100_000 + '"}\n'
    report = run(build_of(text, facts=CLOSED))
    assert rules(report.findings) == ["api/object-size"]
