"""Bodies of any shape: rules look for one thing each and never fall over the rest."""

from dataclasses import replace
from typing import Any

from hypothesis import HealthCheck, given, settings, strategies as st

from kixbot.checks.registry import CHECKS
from kixbot.checks.report import run
from kixbot.model.build import Build
from kixbot.model.resource import Ref, Resource
from kixbot.ops.build import assemble
from kixbot.output import check_json, check_markdown, check_text
from tests.builds import CLOSED, build_of

EMPTY = build_of("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\n", facts=CLOSED)

# Field names that rules look at, so that wrong shapes stand where they hurt.
FIELDS = sorted(
    {
        "spec", "template", "jobTemplate", "containers", "initContainers", "metadata", "labels", "annotations",
        "selector", "matchLabels", "matchExpressions", "ports", "env", "valueFrom", "secretKeyRef", "key", "name",
        "image", "resources", "requests", "limits", "memory", "cpu", "volumes", "secret", "items", "projected",
        "sources", "targetPort", "port", "containerPort", "livenessProbe", "httpGet", "data", "type", "operator",
        "values", "subjects", "roleRef", "securityContext", "volumeClaimTemplates", "emptyDir", "sizeLimit", "hard",
        "value", "protocol", "priorityClassName", "serviceAccountName", "args", "automountServiceAccountToken",
    }
)  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), st.text(max_size=8),
    st.sampled_from(["128mb", "512m", "web", "Always", "In", "Exists", "LoadBalancer"]),
)  # fmt: skip
VALUES: st.SearchStrategy[Any] = st.recursive(
    SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(st.sampled_from(FIELDS), inner, max_size=5)),
    max_leaves=30,
)
KINDS = st.sampled_from(
    [
        ("v1", "Pod"), ("v1", "Service"), ("v1", "Secret"), ("v1", "ConfigMap"), ("apps/v1", "Deployment"),
        ("apps/v1", "StatefulSet"), ("batch/v1", "CronJob"), ("policy/v1", "PodDisruptionBudget"),
        ("v1", "ResourceQuota"), ("v1", "LimitRange"), ("v1", "PersistentVolumeClaim"), ("v1", "ServiceAccount"),
        ("rbac.authorization.k8s.io/v1", "RoleBinding"), ("example.org/v1", "Rollout"),
    ]
)  # fmt: skip


@st.composite
def shaped(draw: st.DrawFn, kind: str) -> Any:
    """A pod template that is right at the top and anything below, or anything at all."""
    pod = {"containers": draw(st.one_of(st.lists(VALUES, max_size=3), VALUES)), "volumes": draw(VALUES)}
    template = {"metadata": {"labels": draw(VALUES)}, "spec": pod}
    if kind == "Pod":
        return pod
    if kind == "CronJob":
        return {"jobTemplate": {"spec": {"template": template}}}
    return {"template": template, "selector": draw(VALUES), "ports": draw(VALUES), "type": "LoadBalancer"}


@st.composite
def builds(draw: st.DrawFn) -> Build:
    """A build of a few objects with names, and bodies that hold anything."""
    resources = []
    for number, (version, kind) in enumerate(draw(st.lists(KINDS, min_size=1, max_size=3))):
        group = version.rpartition("/")[0]
        spec = draw(st.one_of(VALUES, shaped(kind)))
        manifest = {
            "apiVersion": version,
            "kind": kind,
            "metadata": {"name": f"a{number}", "namespace": "shop"},
            "spec": spec,
            "data": draw(VALUES),
        }
        ref = Ref(kind, group, "shop", f"a{number}")
        resources.append(Resource(ref=ref, api_version=version, manifest=manifest))
    return replace(EMPTY, resources=tuple(resources), evaluated=replace(EMPTY.evaluated, resources=tuple(resources)))


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(builds())
def test_no_body_makes_a_rule_fall_over_and_every_report_can_be_printed(build: Build) -> None:
    report = run(build, checks=CHECKS)
    assert report == run(build, checks=CHECKS)
    for text in (check_text.text(report), check_markdown.markdown(report), check_json.text(report)):
        assert "\x1b" not in text.replace("\\u001b", "")


def test_the_shapes_reach_the_graph_too() -> None:
    assert assemble(EMPTY.evaluated).resources == EMPTY.resources
