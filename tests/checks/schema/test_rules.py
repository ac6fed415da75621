"""The rules over a build: one cause is one finding, kinds that are not served, values made at apply."""

from dataclasses import replace

import pytest

from kixbot.checks.report import run
from kixbot.checks.schema.crds import Crds
from kixbot.checks.schema.judge import judge, tables
from kixbot.model.build import ClusterFacts
from kixbot.model.finding import Finding, Severity
from kixbot.model.resource import Ref, Resource
from tests.builds import CLOSED, OPEN, build_of

POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  containers: [{name: web, image: "ghcr.io/acme/web:1.5.0", %s}]
"""


def errors(text: str, facts: ClusterFacts = OPEN) -> list[tuple[str, str]]:
    """Rule and path of every error."""
    report = run(build_of(text, facts=facts))
    return [(one.rule, one.path) for one in report.findings if one.severity is Severity.ERROR]


def unknown_kind(text: str) -> Finding:
    """What is said of an apiVersion and kind."""
    (found,) = [one for one in run(build_of(text)).findings if one.rule == "schema/unknown-kind"]
    return found


@pytest.mark.parametrize(
    ("container", "rule", "path"),
    [
        ("resources: {limits: {memory: 1gb}}", "schema/quantity", "$.spec.containers[web].resources.limits.memory"),
        ("resources: {limits: {memory: '-1'}}", "schema/quantity", "$.spec.containers[web].resources.limits.memory"),
        ("args: [8080]", "schema/not-a-string", "$.spec.containers[web].args[0]"),
        ("env: [{name: A, value: a}, {name: A, value: b}]", "schema/duplicate-env", "$.spec.containers[web].env"),
        (
            "ports: [{containerPort: 1}, {containerPort: 1}]",
            "schema/duplicate-map-key",
            "$.spec.containers[web].ports",
        ),
        ("envFrom: {}", "schema/type", "$.spec.containers[web].envFrom"),
    ],
)
def test_one_cause_is_one_error_by_the_rule_that_says_it_best(container: str, rule: str, path: str) -> None:
    assert errors(POD % container) == [(rule, path)]


def test_a_kind_that_was_removed_is_told_what_took_its_place() -> None:
    text = "apiVersion: %s\nkind: %s\nmetadata: {name: a, namespace: shop}\n"
    found = unknown_kind(text % ("policy/v1beta1", "PodDisruptionBudget"))
    assert (found.rule, found.path, found.hint) == (
        "schema/unknown-kind",
        "$.apiVersion",
        "write apiVersion: policy/v1",
    )
    assert found.message == (
        "PodDisruptionBudget shop/a has apiVersion policy/v1beta1, under which Kubernetes 1.34 serves no PodDisruptionBudget"
    )
    assert unknown_kind(text % ("extensions/v1beta1", "Ingress")).hint == "write apiVersion: networking.k8s.io/v1"
    assert unknown_kind(text % ("apps/v1", "Deploymnt")).hint == "did you mean Deployment?"
    flow = text % ("flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema")
    assert unknown_kind(flow).message.endswith("serves no FlowSchema; versions 1.28 to 1.31 do")


def test_the_kubernetes_version_of_the_cluster_decides() -> None:
    text = POD % "lifecycle: {stopSignal: SIGTERM}"
    assert errors(text, replace(OPEN, kubernetes_version="1.32")) == [
        ("schema/unknown-field", "$.spec.containers[web].lifecycle.stopSignal")
    ]
    newer = text.replace("spec:\n", "spec:\n  os: {name: linux}\n")
    assert errors(newer, replace(OPEN, kubernetes_version="1.33")) == []


def test_a_custom_resource_without_a_crd_in_the_build_is_left_to_the_rule_for_crds() -> None:
    text = "apiVersion: example.org/v1\nkind: Pool\nmetadata: {name: a, namespace: shop}\nspec: {any: thing}\n"
    assert errors(text) == []
    assert {rule for rule, _ in errors(text, CLOSED)} == {"ref/custom-resource-definition", "ref/namespace"}


def test_values_that_are_made_at_apply_are_there() -> None:
    body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "tls", "namespace": "shop"},
        "type": "kubernetes.io/tls",
        "data": {"tls.crt": ""},
    }
    ref = Ref(kind="Secret", group="", namespace="shop", name="tls")
    known = tables("1.34")
    crds = Crds((), known.type("meta.v1.ObjectMeta"))
    resource = Resource(ref=ref, api_version="v1", manifest=body)
    assert [one.text for one in judge(resource, known, crds)] == ["has no tls.key in data"]
    assert list(judge(replace(resource, generated=("data.tls.key",)), known, crds)) == []
