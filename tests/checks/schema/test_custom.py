"""Custom resources against the CRDs of the build."""

import copy
import json

import pytest
from hypothesis import given, settings, strategies as st

from kixbot.checks.report import run
from kixbot.checks.schema.crds import Crds
from kixbot.checks.schema.judge import tables
from kixbot.graph.walk import written
from tests.builds import build_of
from tests.checks.schema.custom import DEFINITION, INVALID, VALID, faults_of, pool, resource_of
from tests.checks.schema.objects import edited, faults, places


@pytest.mark.parametrize("spec", VALID)
def test_a_sound_custom_resource_has_no_fault(spec: str) -> None:
    assert list(faults_of(pool(spec))) == []


@pytest.mark.parametrize(("spec", "rule"), INVALID.items())
def test_one_mistake_is_one_fault(spec: str, rule: str) -> None:
    assert [one.rule for one in faults_of(pool(spec))] == [rule]


def test_a_fault_stands_at_its_item_and_says_what_the_crd_says() -> None:
    body = pool("{size: 1, nodes: [{name: a, wieght: 1}], limits: {min: 300, max: 200}}")
    assert [(written(body, one.at), one.text, one.hint) for one in faults_of(body)] == [
        (
            "$.spec.nodes[0].wieght",
            'has a field "wieght" in spec.nodes, which has no such field',
            'did you mean "weight"?',
        ),
        (
            "$.spec.limits",
            "breaks a rule of its CRD: min must not exceed max (in spec.limits)",
            "make this true: !has(self.max) || self.min <= self.max",
        ),
        (
            "$.spec.limits",
            "breaks a rule of its CRD: max is far too large (in spec.limits)",
            "make this true: !has(self.max) || self.max < 100",
        ),
    ]


def test_defaults_count_before_rules_and_keys() -> None:
    assert [one.rule for one in faults_of(pool("{size: 1, limits: {max: 0}}"))] == ["schema/cel"]
    assert [one.rule for one in faults_of(pool("{size: 1, nodes: [{name: a}, {name: a, zone: a}]}"))] == [
        "schema/duplicate-item"
    ]


def test_a_rule_with_a_function_of_kubernetes_own_or_of_the_past_is_left_out() -> None:
    assert list(faults_of(pool("{size: 2, address: 192.0.2.1, limits: {min: 1}}"))) == []


def test_a_rule_that_reads_what_is_not_there_is_a_fault() -> None:
    definition = copy.deepcopy(DEFINITION)
    spec = definition["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["x-kubernetes-validations"] = [{"rule": "self.name == 'abc'"}]
    body = pool("{size: 2}")
    report = run(build_of(_yaml(definition) + "---\n" + _yaml(body)))
    (found,) = [one for one in report.findings if one.rule == "schema/cel"]
    assert (
        found.message
        == 'Pool.schema-test.example.org shop/main has no "name" in spec, which a rule of its CRD reads'.replace(
            "Pool.schema-test.example.org", "Pool"
        )
    )


def test_a_rule_too_dear_for_its_value_is_left_out() -> None:
    definition = copy.deepcopy(DEFINITION)
    spec = definition["spec"]["versions"][1]["schema"]["openAPIV3Schema"]["properties"]["spec"]
    spec["properties"]["any"] = {"type": "array", "items": {"type": "integer"}}
    dear = "self.any.all(a, self.any.all(b, self.any.all(c, self.any.all(d, a + b + c + d < 0))))"
    spec["x-kubernetes-validations"] = [{"rule": dear}]
    body = pool(f"{{size: 2, any: {list(range(1000))}}}")
    report = run(build_of(_yaml(definition) + "---\n" + _yaml(body)))
    assert "schema/cel" not in {one.rule for one in report.findings}


def test_a_version_that_the_crd_does_not_serve() -> None:
    for version in ("v1beta1", "v2"):
        (fault,) = faults_of(pool("{size: 1}", version=version))
        assert (fault.rule, fault.hint) == ("schema/unknown-kind", "write apiVersion: schema-test.example.org/v1")


def test_the_crd_may_say_more_of_the_name() -> None:
    assert [one.at for one in faults_of(pool("{size: 1}", name="a-name-of-more-than-20"))] == [("metadata", "name")]


def test_texts_of_custom_resources_are_never_shown() -> None:
    shown = [one for spec in ("{size: 1, name: hunter2}", "{size: 1, data: hunter2!}") for one in faults_of(pool(spec))]
    assert shown
    assert not any("hunter2" in str(one) for one in shown)


def test_a_definition_is_held_to_what_definitions_may_say() -> None:
    assert faults(DEFINITION) == []
    broken = copy.deepcopy(DEFINITION)
    broken["metadata"]["name"] = "pool.example.org"
    version = broken["spec"]["versions"][1]
    version["storage"] = False
    version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["tags"].pop("items")
    version["schema"]["openAPIV3Schema"]["properties"]["spec"]["properties"]["size"].pop("type")
    assert sorted(one.rule for one in faults(broken)) == ["api/name", "schema/crd", "schema/crd", "schema/required"]


def _yaml(body: object) -> str:
    return json.dumps(body) + "\n"


junk = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)
SPOTS = [at for _, at in places(DEFINITION) if len(at) > 1 and at[:2] != ("metadata", "name")]


@settings(max_examples=300, deadline=None)
@given(data=st.data())
def test_no_definition_and_no_custom_resource_makes_kix_stumble(data: st.DataObject) -> None:
    definition = DEFINITION
    for _ in range(data.draw(st.integers(0, 3))):
        at = data.draw(st.sampled_from(SPOTS))
        value = data.draw(junk)
        try:
            definition = edited(definition, at, lambda holder, key, value=value: holder.__setitem__(key, value))  # type: ignore[misc]  # the default binds it
        except (KeyError, IndexError, TypeError, AttributeError):
            continue  # an earlier change took the place away
    body = pool(data.draw(st.sampled_from([*VALID, *INVALID])))
    if data.draw(st.booleans()):
        body["spec"] = data.draw(junk)
    known = tables("1.34")
    assert all(one.text and one.hint for one in faults(definition))
    crds = Crds((resource_of(definition),), known.type("meta.v1.ObjectMeta"))
    assert all(one.text and one.hint for one in crds.judge(resource_of(body)))
