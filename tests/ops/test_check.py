"""Checking a build: what it is compared with, and the exit code that follows."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date

import pytest

from kixbot.errors import ExitCode, SettingsError, SourceError, UsageError
from kixbot.model.build import Assertion, Suppression
from kixbot.model.finding import State
from kixbot.ops.baseline import decode
from kixbot.ops.check import check, exit_code, findings_of, unbuilt
from kixbot.output import check_json
from tests.builds import build_of

WEB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: web, namespace: shop}
spec:
  ttlSecondsAfterFinished: 600
  template:
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: web
          image: "%s"
          env: [%s]
          resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 64Mi}}
          securityContext:
            {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
"""
POLICY = """\
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: all, namespace: shop}
spec: {podSelector: {}, policyTypes: [Ingress]}
"""
PINNED = "web@sha256:" + "1" * 64
CLEAN = WEB % (PINNED, "") + POLICY
WARNING = WEB % ("web", "") + POLICY
ERROR = WEB % (PINNED, "{name: A, value: a}, {name: A, value: b}") + POLICY


@pytest.mark.parametrize(
    ("text", "fail_on", "code"),
    [
        (CLEAN, (), ExitCode.DONE),
        (WARNING, (), ExitCode.DONE),
        (WARNING, ("gov/image-no-tag",), ExitCode.NO),
        (WARNING, ("sec/*",), ExitCode.DONE),
        (ERROR, (), ExitCode.NO),
        (WEB % (PINNED, "") + "---\n" + WARNING, (), ExitCode.SOURCE),
    ],
)
def test_the_exit_code_follows_from_the_report(text: str, fail_on: tuple[str, ...], code: ExitCode) -> None:
    assert exit_code(check(build_of(text), fail_on=fail_on)) is code


def test_a_failed_evaluation_goes_before_errors() -> None:
    build = build_of(ERROR)
    build = replace(build, evaluated=replace(build.evaluated, assertions=(Assertion(message="no"),)))
    assert exit_code(check(build)) is ExitCode.SOURCE


def test_suppressions_expire_by_the_day_of_the_run() -> None:
    past = Suppression(rule="gov/*", resource="*", reason="vendor image", until="2020-01-01")
    rules = [finding.rule for finding in check(build_of(WARNING, ignore=(past,))).findings]
    assert rules == ["gov/expired-suppression", "gov/image-no-tag"]
    assert check(build_of(WARNING, ignore=(past,)), today=date(2020, 1, 1)).findings == ()


def test_errors_fail_also_when_the_baseline_has_them() -> None:
    report = check(build_of(ERROR), baseline=build_of(ERROR))
    assert [finding.state for finding in report.findings] == [State.UNCHANGED]
    assert exit_code(report) is ExitCode.NO


def test_a_baseline_excuses_warnings_that_were_made_failing() -> None:
    assert exit_code(check(build_of(WARNING), baseline=build_of(WARNING), fail_on=("warning",))) is ExitCode.DONE
    assert exit_code(check(build_of(WARNING), baseline=build_of(CLEAN), fail_on=("warning",))) is ExitCode.NO


@pytest.mark.parametrize(
    "make", [lambda: check(build_of(CLEAN), fail_on=("sec/rot",)), lambda: check(build_of(CLEAN, fail=("nothing",)))]
)
def test_a_name_of_no_rule_is_refused(make: Callable[[], object]) -> None:
    with pytest.raises(SettingsError, match="no rule, group or category"):
        make()


def test_a_source_that_does_not_build_is_a_report_too() -> None:
    report = unbuilt(SourceError("shop.yaml holds no manifest", file="shop.yaml", line=2), cluster="shop")
    assert exit_code(report) is ExitCode.SOURCE
    assert (report.scorecard_ran, report.cluster, report.manifests) == (False, "shop", 0)
    (message,) = report.eval_messages
    assert message.location is not None
    assert (message.rule, message.location.line, bool(message.hint)) == ("schema/source", 2, True)


def test_a_document_can_be_the_baseline_of_a_later_run() -> None:
    old = check(build_of(WARNING + "---\n" + ERROR.replace("name: web, n", "name: api, n").replace(POLICY, "")))
    baseline = decode(check_json.text(old), file="old.json")
    assert set(baseline) == {finding.fingerprint for finding in old.findings}
    report = check(build_of(WARNING), baseline=baseline)
    assert [finding.state for finding in report.findings] == [State.UNCHANGED]
    assert [(finding.rule, finding.ref and finding.ref.name) for finding in report.fixed] == [
        ("schema/duplicate-env", "api")
    ]


def test_what_was_fixed_before_is_no_baseline() -> None:
    mended = check(build_of(CLEAN), baseline=build_of(WARNING))
    assert decode(check_json.text(mended), file="old.json") == {}


def test_findings_of_a_build_go_by_fingerprint() -> None:
    assert {finding.rule for finding in findings_of(build_of(WARNING)).values()} == {"gov/image-no-tag"}


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{", '{"schema": 2, "findings": []}', '{"schema": 1}', '{"schema": 1, "findings": [{}]}',
     '{"schema": 1, "findings": [3]}', "[" * 100_000],
)  # fmt: skip
def test_any_other_file_is_refused_as_a_baseline(text: str) -> None:
    with pytest.raises(UsageError) as refused:
        decode(text, file="old.json")
    assert refused.value.message == "old.json: not a document of kix check"
