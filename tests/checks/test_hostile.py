"""Bodies of any shape: rules look for one thing each and never fall over the rest."""

from collections.abc import Iterator
from copy import deepcopy
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


EXAMPLES = [
    build_of(text, facts=CLOSED)
    for check in CHECKS
    if check.example.language == "yaml" and check.id != "api/object-size"
    for text in (check.example.bad, check.example.good)
]
"""What rules do look at: each field that one of them reads is in its example."""
ODD: list[Any] = [5, True, "x", [1], ["a", {}], {}, {"a": 1}, None, [[]], {"name": ["a"]}, -1.5]


def places(value: Any, at: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    """Every place of a body but those that name the object."""
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, entry in entries:
        where = (*at, key)
        if where not in {("apiVersion",), ("kind",), ("metadata", "name"), ("metadata", "namespace")}:
            if where != ("metadata",):
                yield where
            yield from places(entry, where)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_a_value_of_the_wrong_type_in_a_field_that_a_rule_reads(data: st.DataObject) -> None:
    build = data.draw(st.sampled_from(EXAMPLES))
    number = data.draw(st.integers(0, len(build.resources) - 1))
    manifest = deepcopy(dict(build.resources[number].manifest))
    there = list(places(manifest))
    if there:
        *above, last = data.draw(st.sampled_from(there))
        owner: Any = manifest
        for step in above:
            owner = owner[step]
        owner[last] = data.draw(st.sampled_from(ODD))
    resources = list(build.resources)
    resources[number] = replace(resources[number], manifest=manifest)
    assert check_json.text(run(replace(build, resources=tuple(resources))))


def test_the_shapes_reach_the_graph_too() -> None:
    assert assemble(EMPTY.evaluated).resources == EMPTY.resources
