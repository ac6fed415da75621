"""`kix check` as text, Markdown and JSON: whole outputs."""

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import jsonschema
import pytest

from kixbot.errors import SourceError
from kixbot.model.build import Assertion, Suppression
from kixbot.model.finding import Finding, Report, Severity, State
from kixbot.model.resource import Location, Ref
from kixbot.ops.check import unbuilt
from kixbot.output import check_json, check_markdown, check_table, check_text
from tests.builds import CLOSED, build_of, lean_run as run
from tests.output.rendered import Page, outside_fences

EVERYTHING = """\
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: shop}
stringData: {pass: hunter2}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {app.kubernetes.io/instance: web}}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web, app.kubernetes.io/name: shop-web}}
    spec:
      priorityClassName: critical
      automountServiceAccountToken: false
      containers:
        - name: web
          image: ghcr.io/acme/web
          env:
            - {name: DATABASE_URL, value: a}
            - {name: DATABASE_URL, value: b}
            - {name: PASSWORD, valueFrom: {secretKeyRef: {name: db, key: password}}}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {type: LoadBalancer, selector: {app.kubernetes.io/name: shop-wbe}, ports: [{port: 80}]}
---
apiVersion: v1
kind: Service
metadata: {name: api, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: shop}
spec:
  template:
    metadata: {labels: {app: web}}
    spec:
      automountServiceAccountToken: false
      restartPolicy: Never
      containers: [{name: migrate, image: "ghcr.io/acme/web:1.5.0"}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {minAvailable: 1, selector: {matchLabels: {app: wbe}}}
"""
IGNORE = Suppression(rule="gov/image-no-tag", resource="Deployment/web@shop", reason="vendor image")
CLEAN = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: default}\n"
SCHEMA = json.loads((Path(__file__).parents[2] / "docs/schemas/check.json").read_text(encoding="utf-8"))


def everything() -> Report:
    """All everyday mistakes in one cluster, one of its warnings suppressed."""
    return run(build_of(EVERYTHING, facts=CLOSED, file="clusters/shop.yaml", ignore=(IGNORE,)))


def failing_eval() -> Report:
    build = build_of(CLEAN, facts=CLOSED)
    assertion = Assertion(message="web needs a replica", package="shop/web", hint="set replicas to 1 or more")
    return run(replace(build, evaluated=replace(build.evaluated, assertions=(assertion,))))


def test_a_clean_build_prints_the_table_alone() -> None:
    assert check_text.text(run(build_of(CLEAN, facts=CLOSED))) == (
        "| Tool | Result | Details |\n"
        "|---|---|---|\n"
        "| eval | pass | 1 manifest evaluated |\n"
        "| scorecard | pass | 0 errors, 0 warnings, 0 info |\n"
    )


def test_the_everyday_mistakes_as_text(golden: Callable[[str, str], None]) -> None:
    golden("check.txt", check_text.text(everything()))


def test_the_everyday_mistakes_as_markdown(golden: Callable[[str, str], None]) -> None:
    golden("check.md", check_markdown.markdown(everything()))


def test_the_everyday_mistakes_as_json(golden: Callable[[str, str], None]) -> None:
    golden("check.json", check_json.text(everything()))


@pytest.mark.parametrize("make", [everything, failing_eval, lambda: unbuilt(SourceError("broken YAML"), cluster=None)])
def test_the_json_document_keeps_to_its_schema(make: Callable[[], Report]) -> None:
    jsonschema.Draft202012Validator(SCHEMA).validate(check_json.document(make()))


def test_the_schema_refuses_what_it_does_not_know() -> None:
    document = check_json.document(everything())
    validator = jsonschema.Draft202012Validator(SCHEMA)
    document["findings"][0]["more"] = 1
    assert not validator.is_valid(document)


def test_no_output_holds_a_value_of_a_secret() -> None:
    report = everything()
    for text in (check_text.text(report), check_markdown.markdown(report), check_json.text(report)):
        assert "hunter2" not in text
        assert "aHVudGVyMg" not in text


def test_a_failed_evaluation_stands_before_the_findings() -> None:
    assert check_text.text(failing_eval()) == (
        "| Tool | Result | Details |\n"
        "|---|---|---|\n"
        "| eval | fail | 1 manifest evaluated, 1 problem |\n"
        "| scorecard | pass | 0 errors, 0 warnings, 0 info |\n"
        "\n"
        "✗ web needs a replica\n"
        "    --> schema/assertion\n"
        "  hint: set replicas to 1 or more\n"
    )


def test_a_source_that_does_not_build_leaves_the_scorecard_not_run() -> None:
    error = SourceError("broken YAML: could not find expected ':'", file="shop.yaml", line=3, hint="check line 3")
    assert check_text.text(unbuilt(error, cluster="shop")) == (
        "| Tool | Result | Details |\n"
        "|---|---|---|\n"
        "| eval | fail | does not build, 1 problem |\n"
        "| scorecard | not run | |\n"
        "\n"
        "✗ broken YAML: could not find expected ':'\n"
        "    --> shop.yaml:3  schema/source\n"
        "  hint: check line 3\n"
    )


def finding(**changes: object) -> Finding:
    base = Finding(
        rule="gov/image-no-tag",
        severity=Severity.WARNING,
        message="no tag",
        ref=Ref("Deployment", "apps", "shop", "web"),
        hint="name one",
        fingerprint="0" * 32,
    )
    return replace(base, **changes)  # type: ignore[arg-type]  # by field name


def report(*findings: Finding, **changes: object) -> Report:
    base = Report(cluster="shop", activation=None, manifests=2, findings=findings)
    return replace(base, **changes)  # type: ignore[arg-type]  # by field name


def test_the_rows_count_and_name_what_fails() -> None:
    found = report(
        finding(state=State.NEW),
        finding(state=State.UNCHANGED),
        finding(severity=Severity.INFO, state=State.NEW),
        failing=("gov/image-no-tag",),
        fixed=(finding(state=State.FIXED),),
    )
    assert [(row.tool, row.result, row.details) for row in check_table.rows(found)] == [
        ("eval", "pass", "2 manifests evaluated"),
        (
            "scorecard",
            "fail",
            "0 errors, 2 warnings, 1 info (2 new, 1 unchanged, 1 fixed); failing: gov/image-no-tag",
        ),
    ]


def test_states_against_a_baseline_are_shown() -> None:
    text = check_text.text(report(finding(state=State.UNCHANGED), fixed=(finding(state=State.FIXED, path="$.spec"),)))
    assert text.partition("\n\n")[2] == (
        "! no tag\n"
        "    --> Deployment/web@shop  gov/image-no-tag  (in the baseline too)\n"
        "  hint: name one\n"
        "\n"
        "fixed since the baseline:\n"
        "  gov/image-no-tag  Deployment/web@shop $.spec\n"
    )


def test_the_group_is_shown_only_where_two_groups_of_a_kind_meet() -> None:
    one = finding(ref=Ref("Cluster", "postgresql.cnpg.io", "shop", "db"))
    other = finding(ref=Ref("Cluster", "cluster.x-k8s.io", "shop", "db"))
    assert "--> Cluster/db@shop  " in check_text.text(report(one))
    both = check_text.text(report(one, other))
    assert "--> Cluster.postgresql.cnpg.io/db@shop  " in both
    assert "--> Cluster.cluster.x-k8s.io/db@shop  " in both


HOSTILE = finding(
    message="evil \x1b[31m\n::error::\u202e ``` </code> @acme",
    path="$.metadata.annotations.\x07",
    hint="\x1b]0;title\x07",
    location=Location(file="a\nb.yaml", line=1),
)


def test_nothing_steers_the_terminal() -> None:
    assert check_text.text(report(HOSTILE)).partition("\n\n")[2] == (
        "! evil \\x1b[31m\n"
        "| ::error::\\u202e ``` </code> @acme\n"
        "    --> a\\nb.yaml:1  Deployment/web@shop $.metadata.annotations.\\x07  gov/image-no-tag\n"
        "  hint: \\x1b]0;title\\x07\n"
    )


def test_nothing_leaves_the_fence_of_the_markdown() -> None:
    text = check_markdown.markdown(report(HOSTILE))
    page = Page(text)
    assert page.tags == {"h2", "p", "strong", "pre", "code", "table", "thead", "tbody", "tr", "th", "td"}
    assert "@acme" not in page.outside
    assert page.balanced
    assert all("::error::" not in line for line in outside_fences(text))


def test_a_very_long_message_is_cut() -> None:
    text = check_text.text(report(finding(message="\n".join(f"line {number}" for number in range(100)))))
    assert "  … 61 more lines\n" in text
    assert text.count("\nline ") == 38
