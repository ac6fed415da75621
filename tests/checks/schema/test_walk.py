"""The walk over built-in kinds: every fault, where it stands, and what to do about it."""

import json
from typing import Any

import pytest
import yaml
from hypothesis import given, settings, strategies as st

from kixbot.checks.schema.judge import tables
from kixbot.checks.schema.tables import Tables, api_versions_of, find_served, nearest, versions
from kixbot.graph.walk import written
from tests.checks.schema.objects import Body, edited, faults, places, title, valid


def pod(container: str = "", spec: str = "", metadata: str = "") -> Body:
    """A pod with one container."""
    text = f"""\
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop, {metadata}}}
spec:
  containers: [{{name: web, image: "web:1", {container}}}]
  {spec}
"""
    body: Body = yaml.safe_load(text)
    return body


def said(body: Body, version: str = "1.34") -> list[tuple[str, str, str, str]]:
    """Rule, path, sentence and hint of every fault."""
    return [(one.rule, written(body, one.at), one.text, one.hint) for one in faults(body, version)]


def test_a_misspelt_field_is_named_with_the_one_it_is_like() -> None:
    assert said(pod("imagePullPolcy: Always")) == [
        (
            "schema/unknown-field",
            "$.spec.containers[web].imagePullPolcy",
            'has a field "imagePullPolcy" in spec.containers, a Container, which has no such field',
            'did you mean "imagePullPolicy"?',
        )
    ]


def test_a_misspelt_field_is_not_missed_as_well() -> None:
    body = pod()
    body["spec"]["containers"][0] = {"name": "web", "iamge": "web:1"}
    assert [(rule, hint) for rule, *_, hint in said(body)] == [("schema/unknown-field", 'did you mean "image"?')]
    probe = pod("livenessProbe: {httpget: {path: /, port: 80}}")
    assert [(rule, hint) for rule, *_, hint in said(probe)] == [("schema/unknown-field", 'did you mean "httpGet"?')]


def test_a_field_on_the_wrong_level_is_told_where_it_belongs() -> None:
    above = said(pod(spec="securityContext: {allowPrivilegeEscalation: false}"))
    assert [(path, hint) for _, path, _, hint in above] == [
        (
            "$.spec.securityContext.allowPrivilegeEscalation",
            "this field belongs under $.spec.containers[].securityContext",
        )
    ]
    below = said(pod("hostNetwork: true"))
    assert [hint for *_, hint in below] == ["this field belongs under $.spec"]
    beside = said(pod("readOnlyRootFilesystem: true"))
    assert [hint for *_, hint in beside] == ["this field belongs under $.spec.containers[].securityContext"]


def test_a_field_that_belongs_nowhere_is_told_what_there_is() -> None:
    body = pod()
    body["spec"]["containers"][0]["resources"] = {"frobnicate": 1}
    assert [hint for *_, hint in said(body)] == ["remove it, or take one of its fields: claims, limits, requests"]


def test_every_fault_is_found_not_only_the_first() -> None:
    body = yaml.safe_load("""\
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: shop}
spec:
  restartPolicy: always
  containers:
    - name: web
      image: a:1
      imagePullPolicy: ifNotPresent
      ports: [{containerPort: 99999, protocol: HTTP}]
      resources: {requests: {cpu: "2", memory: 128mb}, limits: {cpu: "1"}}
      volumeMounts: [{name: nope, mountPath: /x}]
      livenessProbe: {httpGet: {path: /, port: 80}, tcpSocket: {port: 80}, successThreshold: 3}
""")
    assert [(rule, path) for rule, path, *_ in said(body)] == [
        ("schema/enum", "$.spec.restartPolicy"),
        ("schema/enum", "$.spec.containers[web].imagePullPolicy"),
        ("schema/enum", "$.spec.containers[web].ports[99999/HTTP].protocol"),
        ("schema/type", "$.spec.containers[web].resources.requests.memory"),
        ("api/range", "$.spec.containers[web].ports[99999/HTTP].containerPort"),
        ("api/resources", "$.spec.containers[web].resources.requests.cpu"),
        ("api/one-of", "$.spec.containers[web].livenessProbe"),
        ("api/range", "$.spec.containers[web].livenessProbe.successThreshold"),
        ("api/volume-mount", "$.spec.containers[web].volumeMounts[/x].name"),
    ]


def test_rules_keep_silent_about_what_has_the_wrong_type() -> None:
    assert said(pod("livenessProbe: [], image: 5, env: {A: b}")) == [
        (
            "schema/type",
            "$.spec.containers[web].image",
            "has an integer where a string belongs, in spec.containers.image",
            "quote it",
        ),
        (
            "schema/type",
            "$.spec.containers[web].livenessProbe",
            "has a list where an object belongs, in spec.containers.livenessProbe",
            "write an object: `key: value`",
        ),
        (
            "schema/type",
            "$.spec.containers[web].env",
            "has an object where a list belongs, in spec.containers.env",
            "write a list, also for one item: `- …`",
        ),
    ]


def test_defaults_count_before_list_keys() -> None:
    repeated = said(pod("ports: [{containerPort: 53}, {containerPort: 53, protocol: TCP}]"))
    assert [(rule, path) for rule, path, *_ in repeated] == [("schema/duplicate-item", "$.spec.containers[web].ports")]
    assert said(pod("ports: [{containerPort: 53}, {containerPort: 53, protocol: UDP}]")) == []


def test_null_is_the_same_as_absent() -> None:
    body = pod("command: null, resources: null")
    assert said(body) == []
    body["spec"]["containers"][0]["image"] = None
    assert [(rule, text) for rule, _, text, _ in said(body)] == [("schema/required", "has no image in spec.containers")]


def test_null_in_a_list_without_keys_is_an_empty_value() -> None:
    assert said(pod("args: [null]")) == []
    assert [text for _, _, text, _ in said(pod(spec="dnsConfig: {nameservers: [null]}"))] == [
        'has "" in spec.dnsConfig.nameservers, which is no IP address'
    ]


@pytest.mark.parametrize(
    ("field", "value", "is_right"),
    [
        ("targetPort", 80, True),
        ("targetPort", "http", True),
        ("targetPort", 80.5, False),
        ("targetPort", True, False),
        ("targetPort", [80], False),
        ("port", 2**31, False),
        ("port", "80", False),
    ],
)
def test_an_int_or_string_is_either_and_a_port_is_a_number(field: str, value: object, is_right: bool) -> None:  # noqa: FBT001  a table's column
    body: Body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"ports": [{"port": 80, field: value}]},
    }
    assert (faults(body) == []) is is_right


@pytest.mark.parametrize("amount", ["100m", "1.5Gi", "2e9", "1E3", 1, 0.5, ".5", "+1"])
def test_quantities_that_kubernetes_reads(amount: object) -> None:
    assert faults(edited(pod("resources: {limits: {memory: 0}}"), _MEMORY, _put(amount))) == []


@pytest.mark.parametrize("amount", ["128mb", "1 Gi", "", "Gi", True, [], "1e", "0x10"])
def test_quantities_that_it_does_not(amount: object) -> None:
    found = faults(edited(pod("resources: {limits: {memory: 0}}"), _MEMORY, _put(amount)))
    assert [one.rule for one in found] == ["schema/type"]


_MEMORY = ("spec", "containers", 0, "resources", "limits", "memory")


def _put(value: object) -> Any:
    return lambda holder, key: holder.__setitem__(key, value)


def test_a_secret_value_is_never_shown() -> None:
    body: Body = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "db", "namespace": "shop"},
        "type": "kubernetes.io/dockerconfigjson",
        "data": {"password": "hunter2!", ".dockerconfigjson": "aHVudGVyMg=="},
    }
    assert [one.rule for one in faults(body)] == ["schema/type", "api/conflict"]
    assert not any("hunter2" in str(one) or "aHVudGVyMg" in str(one) for one in faults(body))


def test_fields_come_and_go_with_the_version() -> None:
    body = pod("lifecycle: {stopSignal: SIGTERM}", "os: {name: linux}")
    assert [one.rule for one in faults(body, "1.32")] == ["schema/unknown-field"]
    assert faults(body, "1.33") == []


def test_rules_hold_for_the_versions_that_have_them() -> None:
    variable = pod('env: [{name: "1 a", value: x}]')
    assert [one.rule for one in faults(variable, "1.31")] == ["api/name"]
    assert faults(variable, "1.32") == []
    service: Body = {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "1a", "namespace": "shop"},
        "spec": {"ports": [{"port": 80}]},
    }
    assert [one.rule for one in faults(service, "1.35")] == ["api/name"]
    assert faults(service, "1.36") == []


@pytest.mark.parametrize("version", versions())
def test_valid_objects_are_valid_in_every_version_that_has_their_fields(version: str) -> None:
    known = tables(version)
    served = [body for body in valid() if known.find(body["apiVersion"], body["kind"])]
    assert len(served) >= 62
    found = {one.at for body in served for one in faults(body, version)}
    sleep = ("spec", "containers", 1, "lifecycle", "preStop", "sleep")
    assert found == ({sleep} if version == "1.28" else set())


def test_the_kinds_of_ten_versions_are_known() -> None:
    assert versions() == tuple(f"1.{minor}" for minor in range(28, 38))
    assert [nearest(version) for version in ("1.27", "1.28", "1.37", "1.40", "2.0", "x")] == [
        "1.28", "1.28", "1.37", "1.37", "1.37", "1.28",
    ]  # fmt: skip
    assert api_versions_of("Deployment", "1.34") == ("apps/v1",)
    assert api_versions_of("FlowSchema", "1.28")[0] == "flowcontrol.apiserver.k8s.io/v1beta2"
    served = find_served("flowcontrol.apiserver.k8s.io/v1beta3", "FlowSchema")
    assert served is not None
    assert (served.first, served.last, served.namespaced) == ("1.28", "1.31", False)
    assert find_served("apps/v1", "Deploymnt") is None


@pytest.mark.parametrize("version", versions())
def test_every_version_knows_every_type_its_kinds_are_made_of(version: str) -> None:
    known = Tables(version)
    seen = set()
    waiting = [known.type("core.v1.Pod"), known.type("apps.v1.Deployment"), known.type("core.v1.Service")]
    while waiting:
        node = waiting.pop()
        if id(node) not in seen:
            seen.add(id(node))
            waiting += [*node.fields().values(), *([node.item] if node.item else [])]
    assert len(seen) > 150


@pytest.mark.parametrize("body", valid(), ids=title)
def test_a_valid_object_has_no_fault(body: Body) -> None:
    assert faults(body) == []


junk = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=300)
@given(data=st.data())
def test_no_rule_stumbles_over_junk_and_every_path_can_be_written(data: st.DataObject) -> None:
    body = data.draw(st.sampled_from(valid()))
    for _ in range(data.draw(st.integers(1, 3))):
        spots = [at for _, at in places(body) if at and at[0] not in {"apiVersion", "kind"}]
        if spots:
            body = edited(body, data.draw(st.sampled_from(spots)), _put(data.draw(junk)))
    for one in faults(body):
        assert written(body, one.at).startswith("$")
        assert one.text
        assert one.hint
        assert json.dumps(one.text).isprintable()
