"""The score, what follows from what, what others' annotations silence, and what an upgrade changes."""

import pytest

from kixbot.checks.annotations import CHECKOV, KUBE_LINTER, KUBE_SCORE, POLARIS
from kixbot.checks.fail_on import fails
from kixbot.checks.registry import CHECKS, find_check
from kixbot.checks.report import run
from kixbot.errors import UsageError
from kixbot.model.finding import Score, Severity
from kixbot.ops.check import check, findings_of
from kixbot.output.check_markdown import markdown
from kixbot.output.check_text import scores, text
from tests.builds import CLOSED, build_of

WEB = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop, labels: {app.kubernetes.io/instance: web}%s}
spec:
  automountServiceAccountToken: false
  containers: [{name: web, image: "ghcr.io/acme/web%s"%s}]
"""


def test_a_score_has_a_denominator_of_rules_and_objects_they_apply_to() -> None:
    only = tuple(one for one in CHECKS if one.id in {"sec/privileged", "sec/exposed-service", "rel/cron-job"})
    pods = (
        WEB % ("", "", "") + "---\n" + (WEB % ("", "", ", securityContext: {privileged: true}")).replace("web", "api")
    )
    found = run(build_of(pods), checks=only).scores
    assert found.categories == {
        "security": Score(kept=1, total=2),
        "reliability": Score(kept=0, total=0),
        "governance": Score(kept=0, total=0),
    }
    assert {package: one["security"] for package, one in found.packages.items()} == {
        "shop/web": Score(kept=1, total=1),
        "shop/api": Score(kept=0, total=1),
    }
    assert found.not_applicable == ("rel/cron-job", "sec/exposed-service")
    assert scores(found) == (
        "| Package | Security | Reliability | Governance |\n"
        "|---|---|---|---|\n"
        "| all | 50 % (1 of 2) | – | – |\n"
        "| shop/api | 0 % (0 of 1) | – | – |\n"
        "| shop/web | 100 % (1 of 1) | – | – |\n"
        "\n"
        "2 rules apply to nothing here: rel/cron-job, sec/exposed-service\n"
    )


def test_a_rule_that_is_broken_twice_by_one_object_counts_once() -> None:
    only = tuple(one for one in CHECKS if one.id == "sec/host-namespaces")
    pod = WEB.replace("spec:\n", "spec:\n  hostNetwork: true\n  hostPID: true\n") % ("", "", "")
    report = run(build_of(pod), checks=only)
    assert len(report.findings) == 2
    assert report.scores.categories["security"] == Score(kept=0, total=1)


def test_a_percentage_is_rounded_down() -> None:
    assert Score(kept=199, total=200).percent == 99
    assert Score(kept=0, total=0).percent is None


def test_one_missing_object_is_one_error_with_followers() -> None:
    volume = WEB.replace("  automount", "  volumes: [{name: a, configMap: {name: gone}}]\n  automount") % ("", ":1", "")
    report = run(build_of(volume + "---\n" + volume.replace("name: web", "name: api")))
    (root,) = (one for one in report.findings if one.rule == "ref/config-map")
    (follower,) = (one for one in report.followers if one.rule == "ref/config-map")
    assert follower.causes == (root.fingerprint,)
    assert (root.ref and root.ref.name, follower.ref and follower.ref.name) == ("api", "web")
    assert "\n  so: shop.yaml:5  Pod/web@shop $.spec.volumes[a].configMap.name  ref/config-map\n" in text(report)
    assert "\n  so: shop.yaml:5  Pod/web@shop" in markdown(report)
    assert f"{follower.fingerprint}" in findings_of(
        build_of(volume + "---\n" + volume.replace("name: web", "name: api"))
    )


def test_what_a_namespace_refuses_is_not_said_twice() -> None:
    namespace = (
        "apiVersion: v1\nkind: Namespace\n"
        "metadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: baseline}}\n---\n"
    )
    report = run(build_of(namespace + WEB % ("", "", ", securityContext: {privileged: true}"), facts=CLOSED))
    (root,) = (one for one in report.findings if one.rule == "api/pod-security")
    assert root.message == (
        "namespace shop enforces the level baseline, which refuses the pods of Pod shop/web\n"
        "  container 'web' is privileged"
    )
    assert [one.rule for one in report.followers] == ["sec/privileged"]
    assert "sec/privilege-escalation" in {one.rule for one in report.findings}


@pytest.mark.parametrize(
    ("annotation", "rule"),
    [
        ("ignore-check.kube-linter.io/latest-tag: vendor image", "gov/image-no-tag"),
        ('kube-linter.io/ignore-all: ""', "gov/image-no-tag"),
        ('kube-score/ignore: "pod-probes, container-image-tag"', "gov/image-no-tag"),
        ('polaris.fairwinds.com/exempt: "true"', "gov/image-no-tag"),
        ('polaris.fairwinds.com/tagNotSpecified-exempt: "true"', "gov/image-no-tag"),
        ('checkov.io/skip1: "CKV_K8S_14=vendor image"', "gov/image-no-tag"),
    ],
)
def test_annotations_of_other_checkers_are_read(annotation: str, rule: str) -> None:
    text = WEB % (f", annotations: {{{annotation}}}", "", "")
    report = run(build_of(text))
    assert rule not in {one.rule for one in report.findings}
    (item,) = (item for item in report.suppressed if item.finding.rule == rule)
    assert item.reason == ("vendor image" if "vendor" in annotation else annotation.partition(":")[0])
    assert not [one for one in report.findings if one.rule == "gov/unused-suppression"]


@pytest.mark.parametrize(
    "annotation", ['polaris.fairwinds.com/tagNotSpecified-exempt: "false"', "ignore-check.kube-linter.io/no-such: a"]
)
def test_annotations_that_say_nothing_silence_nothing(annotation: str) -> None:
    report = run(build_of(WEB % (f", annotations: {{{annotation}}}", "", "")))
    assert "gov/image-no-tag" in {one.rule for one in report.findings}


def test_ignoring_everything_does_not_silence_what_cannot_work() -> None:
    broken = WEB % (
        ', annotations: {kube-linter.io/ignore-all: ""}',
        "",
        ", env: [{name: A, value: a}, {name: A, value: b}]",
    )
    assert [one.rule for one in run(build_of(broken)).findings if one.severity is Severity.ERROR] == [
        "schema/duplicate-env"
    ]


@pytest.mark.parametrize("table", [CHECKOV, KUBE_LINTER, KUBE_SCORE, POLARIS])
def test_what_others_call_a_check_is_a_rule_here(table: dict[str, tuple[str, ...]]) -> None:
    assert [rule for rules in table.values() for rule in rules if find_check(rule) is None] == []


PROBED = WEB % ("", ":1", ", readinessProbe: {httpGet: {port: 80, host: 10.0.0.1}}")


def test_an_upgrade_says_what_it_changes() -> None:
    build = build_of(PROBED)
    now = check(build, version="1.33")
    assert "sec/probe-host" not in {one.rule for one in now.findings}
    report = check(build, version="v1.33.4", also=("1.34",))
    (found,) = (one for one in report.findings if one.rule == "sec/probe-host")
    assert found.message == "with Kubernetes 1.34: Pod shop/web container 'web' lets the kubelet call 10.0.0.1"
    assert len(report.findings) == len(now.findings) + 1
    assert len({one.fingerprint for one in report.findings}) == len(report.findings)


def test_what_a_later_version_refuses_is_a_warning_today() -> None:
    flow = (
        "apiVersion: flowcontrol.apiserver.k8s.io/v1beta3\nkind: PriorityLevelConfiguration\n"
        "metadata: {name: mine}\nspec: {type: Exempt}\n"
    )
    today = check(build_of(flow), version="1.31")
    (found,) = (one for one in today.findings if one.rule == "api/deprecated-version")
    assert found.message == (
        "PriorityLevelConfiguration mine is written in flowcontrol.apiserver.k8s.io/v1beta3, which Kubernetes 1.32 does "
        "not serve any more"
    )
    assert found.hint == "write it in flowcontrol.apiserver.k8s.io/v1"
    later = check(build_of(flow), version="1.31", also=("1.32",))
    assert {one.severity for one in later.findings} == {Severity.WARNING}
    assert any(one.message.startswith("with Kubernetes 1.32: ") for one in later.findings)
    assert check(build_of(flow), version="1.32").findings[0].severity is Severity.ERROR


@pytest.mark.parametrize("version", ["1.99", "2.1", "newest", "1"])
def test_a_version_that_nobody_knows_is_refused(version: str) -> None:
    with pytest.raises(UsageError, match="no version of Kubernetes that is known here"):
        check(build_of(PROBED), version=version)


def test_warnings_of_a_whole_category_may_fail() -> None:
    assert fails("sec/privileged", ("security",))
    assert run(build_of(WEB % ("", "", "")), fail_on=("governance",)).failing == ("gov/image-no-tag",)
