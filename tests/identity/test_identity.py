"""The identity of resources: bytes, names, hashes and order."""

import json
from itertools import pairwise

import pytest
from hypothesis import given, strategies as st

from kixbot.errors import SourceError
from kixbot.identity import activation, canonical, content_hash, file_name, identify, normalize, without_values
from kixbot.model.resource import Ref, Resource

JSON_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda children: st.lists(children, max_size=4) | st.dictionaries(st.text(), children, max_size=4),
    max_leaves=20,
)


def config_map(name: str, **data: str) -> Resource:
    ref = Ref(kind="ConfigMap", group="", namespace="shop", name=name)
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}, "data": data}
    return Resource(ref=ref, api_version="v1", manifest=manifest)


def test_normalize_drops_nulls_status_and_steering_annotations_and_sets_the_namespace() -> None:
    manifest = {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {
            "name": "web",
            "creationTimestamp": None,
            "annotations": {"kix.run/cede": "spec.replicas", "kix.run/ignore": "rel/probes"},
        },
        "spec": {
            "replicas": 2.0,
            "template": {"metadata": {"creationTimestamp": None}, "spec": {"x": [None, {"y": None}]}},
        },
        "status": {},
    }
    assert normalize(manifest, namespace="shop") == {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "shop"},
        "spec": {"replicas": 2, "template": {"metadata": {}, "spec": {"x": [None, {}]}}},
    }
    assert "status" in manifest


def test_normalize_keeps_annotations_that_were_empty_before() -> None:
    assert normalize({"metadata": {"annotations": {}}}) == {"metadata": {"annotations": {}}}


def test_normalize_moves_string_data_of_a_core_secret_into_data() -> None:
    secret = {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": "db"},
        "data": {"user": "YQ==", "password": "b2xk"},
        "stringData": {"password": "new"},
    }
    assert normalize(secret)["data"] == {"user": "YQ==", "password": "bmV3"}
    assert "stringData" not in normalize(secret)
    foreign = {**secret, "apiVersion": "example.org/v1"}
    assert normalize(foreign)["stringData"] == {"password": "new"}


def test_normalize_refuses_numbers_that_json_cannot_hold() -> None:
    with pytest.raises(SourceError, match="not finite"):
        normalize({"spec": {"x": float("nan")}})
    with pytest.raises(SourceError, match="beyond what Kubernetes can hold"):
        normalize({"spec": {"x": 10**400}})


@pytest.mark.parametrize(
    ("number", "written"),
    [
        (1.0, "1"),
        (-0.0, "0"),
        (1e3, "1000"),
        (0.1, "0.1"),
        (1e-7, "1e-7"),
        (2**63 - 1, "9223372036854775807"),
        (2**63, "9.223372036854776e+18"),
        (1e16, "10000000000000000"),
        (1e22, "1e+22"),
        (1.5e-5, "0.000015"),
        (-1e-5, "-0.00001"),
        (1.5e-6, "1.5e-6"),
        (1e-10, "1e-10"),
        (5e-324, "5e-324"),
        (-(2**63), "-9223372036854775808"),
        (True, "true"),
    ],
)
def test_numbers_are_integers_where_they_fit_and_else_the_shortest_round_trip(number: float, written: str) -> None:
    assert canonical(normalize({"x": number})) == f'{{"x":{written}}}'


def test_canonical_sorts_keys_by_bytes_and_escapes_as_nix_does() -> None:
    body = {"é": 1, "z": 2, "\U0001f600": 3, "\uffff": 4, "A": 'b"\\b\b\f\n\r\t\x00\x1f\x7f\u2028'}
    assert canonical(body) == (
        '{"A":"b\\"\\\\b\\u0008\\u000c\\n\\r\\t\\u0000\\u001f\x7f\u2028","z":2,"é":1,"\uffff":4,"\U0001f600":3}'
    )


def test_canonical_refuses_strings_that_are_not_unicode() -> None:
    with pytest.raises(SourceError, match="cannot be written as JSON"):
        canonical({"x": "\ud800"})


def test_strings_that_look_like_floats_or_escapes_stay_as_they_are() -> None:
    assert canonical(["1e-05", 'a"1e-05', "\\b", 1e-05]) == '["1e-05","a\\"1e-05","\\\\b",0.00001]'


def test_a_value_nested_too_deeply_is_refused() -> None:
    value: list[object] = []
    for _ in range(100_000):
        value = [value]
    with pytest.raises(SourceError, match="nested too deeply"):
        canonical(value)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_floats_read_back(number: float) -> None:
    assert json.loads(canonical(number)) == number


@given(JSON_VALUES)
def test_canonical_text_is_json_of_the_same_value(value: object) -> None:
    assert json.loads(canonical(value)) == value


@given(st.dictionaries(st.text(), JSON_VALUES))
def test_key_order_does_not_reach_the_text_or_the_hash(body: dict[str, object]) -> None:
    backwards = dict(reversed(list(body.items())))
    assert canonical(body) == canonical(backwards)
    assert content_hash(body) == content_hash(backwards)


@given(st.dictionaries(st.text(), JSON_VALUES))
def test_normalize_twice_is_normalize_once(body: dict[str, object]) -> None:
    assert normalize(normalize(body)) == normalize(body)


def test_file_names_hold_one_underscore_per_foreign_byte_and_at_most_200_bytes() -> None:
    assert file_name(Ref("ClusterRole", "rbac.authorization.k8s.io", "", "system:é")) == "ClusterRole--system___.json"
    assert file_name(Ref("ConfigMap", "", "shop", "a" * 300)) == "ConfigMap-shop-" + "a" * 185 + ".json"


def test_a_changed_dependency_moves_the_identity_of_its_users_only() -> None:
    web, db, other = config_map("web"), config_map("db", a="1"), config_map("other")
    edges = {web.ref: (db.ref,)}
    before = identify([web, db, other], edges)
    after = identify([web, config_map("db", a="2"), other], edges)
    assert before[web.ref].body == after[web.ref].body
    assert before[web.ref].path != after[web.ref].path
    assert before[other.ref] == after[other.ref]
    assert after[web.ref].references == (after[db.ref].path,)


def test_references_to_absent_objects_and_to_itself_count_nothing() -> None:
    web = config_map("web")
    absent = Ref("Secret", "", "shop", "gone")
    assert identify([web], {web.ref: (absent, web.ref)}) == identify([web], {})


def test_a_cycle_and_what_refers_to_it_have_no_identity() -> None:
    a, b, user, free = (config_map(name) for name in ("a", "b", "user", "free"))
    found = identify([a, b, user, free], {a.ref: (b.ref,), b.ref: (a.ref,), user.ref: (a.ref,)})
    assert list(found) == [free.ref]


def test_secret_values_are_in_no_identity() -> None:
    ref = Ref("Secret", "", "shop", "db")
    one, two = (
        Resource(ref=ref, api_version="v1", manifest={"apiVersion": "v1", "kind": "Secret", "data": {"p": value}})
        for value in ("b25l", "dHdv")
    )
    identity = identify([one], {})[ref]
    assert identity == identify([two], {})[ref]
    assert identity.body == '{"apiVersion":"v1","data":{"p":""},"kind":"Secret"}'


def test_secret_values_that_kubectl_copied_into_an_annotation_are_in_no_identity() -> None:
    annotation = "kubectl.kubernetes.io/last-applied-configuration"
    manifest = {"apiVersion": "v1", "kind": "Secret", "metadata": {"annotations": {annotation: "b25l"}}, "data": "b25l"}
    assert without_values(manifest) == {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"annotations": {annotation: ""}},
        "data": "",
    }


def test_the_content_hash_of_a_secret_covers_values_only_with_a_key() -> None:
    one, two = ({"apiVersion": "v1", "kind": "Secret", "data": {"p": value}} for value in ("b25l", "dHdv"))
    assert content_hash(one) == content_hash(two)
    assert content_hash(one, key=b"k") != content_hash(two, key=b"k")
    assert content_hash(one, key=b"k") != content_hash(one, key=b"l")


def test_the_content_hash_covers_ceded_paths_in_any_order() -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap"}
    assert content_hash(body, ("a", "b")) == content_hash(body, ("b", "a"))
    assert content_hash(body, ("a",)) != content_hash(body)


def test_an_unwritable_string_is_reported_with_its_object() -> None:
    bad = config_map("web", x="\ud800")
    with pytest.raises(SourceError, match="ConfigMap/web@shop: value cannot be written as JSON"):
        identify([bad], {})


def test_the_activation_lists_every_resource_by_id_with_path_and_references() -> None:
    web, db = config_map("web"), config_map("db")
    identities = identify([web, db], {web.ref: (db.ref,)})
    root = activation("shop", [web, db], identities)
    assert json.loads(root.body) == [
        {"id": "ConfigMap/db@shop", "path": identities[db.ref].path, "refs": []},
        {"id": "ConfigMap/web@shop", "path": identities[web.ref].path, "refs": [identities[db.ref].path]},
    ]
    assert root.path.endswith("-Activation-shop.json")
    assert root.name == f"shop-{root.path.removeprefix('/nix/store/')[:12]}"
    assert activation("shop", [db, web], identities) == root


def test_a_chain_of_5000_has_identities_in_order() -> None:
    chain = [config_map(f"c{at}") for at in range(5000)]
    edges = {user.ref: (used.ref,) for user, used in pairwise(chain)}
    found = identify(chain, edges)
    assert next(iter(found)) == chain[-1].ref
    assert len(found) == 5000
