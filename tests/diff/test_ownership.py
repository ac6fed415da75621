"""Field ownership: sets are read and written as the API server does, and projected onto a body."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kixbot.diff.ownership import (
    ABSENT,
    Element,
    Holder,
    Index,
    Key,
    Member,
    Name,
    Path,
    find_entry,
    holders,
    is_ceded,
    owned_paths,
    parse_cede,
    parse_fields,
    project,
    render_fields,
    render_path,
    value_at,
    without,
)

# As kube-apiserver 1.34 records the apply of a Deployment.
FIELDS = {
    "f:metadata": {"f:labels": {"f:app.kubernetes.io/name": {}}, "f:finalizers": {".": {}, 'v:"a/b"': {}}},
    "f:spec": {
        "f:replicas": {},
        "f:template": {
            "f:spec": {
                "f:containers": {
                    'k:{"name":"web"}': {
                        ".": {},
                        "f:image": {},
                        "f:name": {},
                        "f:ports": {'k:{"containerPort":80,"protocol":"TCP"}': {".": {}, "f:containerPort": {}}},
                    }
                }
            }
        },
    },
}
LIVE = {
    "metadata": {
        "name": "web",
        "labels": {"app.kubernetes.io/name": "web", "other": "x"},
        "finalizers": ["c", "a/b"],
        "managedFields": [
            {"manager": "kix", "operation": "Apply", "fieldsV1": FIELDS, "time": "2026-09-09T10:47:00Z"},
            {
                "manager": "kubectl",
                "operation": "Update",
                "subresource": "scale",
                "fieldsV1": {"f:spec": {"f:replicas": {}}},
                "time": "2026-09-09T10:48:00Z",
            },
        ],
    },
    "spec": {
        "replicas": 5,
        "paused": False,
        "template": {
            "spec": {
                "containers": [
                    {"name": "sidecar", "image": "s:1"},
                    {"name": "web", "image": "w:1", "ports": [{"containerPort": 80, "name": "http"}], "tty": False},
                ]
            }
        },
    },
}
IMAGE: Path = (
    Name("spec"), Name("template"), Name("spec"), Name("containers"), Key((("name", "web"),)), Name("image"),
)  # fmt: skip


def test_every_leaf_and_every_dot_is_a_member() -> None:
    assert sorted(render_path(path) for path in parse_fields(FIELDS)) == [
        ".metadata.finalizers",
        '.metadata.finalizers[="a/b"]',
        ".metadata.labels.app.kubernetes.io/name",
        ".spec.replicas",
        '.spec.template.spec.containers[name="web"]',
        '.spec.template.spec.containers[name="web"].image',
        '.spec.template.spec.containers[name="web"].name',
        '.spec.template.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"]',
        '.spec.template.spec.containers[name="web"].ports[containerPort=80,protocol="TCP"].containerPort',
    ]


def test_what_is_read_is_written_the_same() -> None:
    assert render_fields(parse_fields(FIELDS)) == FIELDS


@pytest.mark.parametrize("text", ["x:y", "plain", "k:{", "k:[1]", "v:", "i:one", ""])
def test_elements_of_unknown_kind_are_skipped_with_all_below(text: str) -> None:
    assert parse_fields({text: {"f:a": {}}, "f:b": {}}) == {(Name("b"),)}


ELEMENTS: st.SearchStrategy[Element] = st.one_of(
    st.builds(Name, st.text()),
    st.builds(
        lambda keys: Key(tuple(sorted(keys.items()))),
        st.dictionaries(st.text(), st.text() | st.integers(), min_size=1, max_size=2),
    ),
    st.builds(lambda value: Member(json.dumps(value, ensure_ascii=False)), st.text() | st.integers()),
    st.builds(Index, st.integers(0, 9)),
)


@given(st.frozensets(st.lists(ELEMENTS, min_size=1, max_size=4).map(tuple), max_size=8))
def test_any_set_of_paths_reads_back(paths: frozenset[Path]) -> None:
    assert parse_fields(render_fields(paths)) == paths


def test_a_projection_holds_owned_fields_only_and_always_the_keys_of_items() -> None:
    assert project(LIVE, owned_paths(LIVE, "kix")) == {
        "metadata": {"labels": {"app.kubernetes.io/name": "web"}, "finalizers": ["a/b"]},
        "spec": {
            "replicas": 5,
            "template": {
                "spec": {"containers": [{"name": "web", "image": "w:1", "ports": [{"containerPort": 80}]}]},
            },
        },
    }


def test_an_empty_map_that_kix_applied_stays_empty_whatever_others_put_in() -> None:
    paths = parse_fields({"f:spec": {"f:emptyDir": {}}})
    live = {"spec": {"emptyDir": {"sizeLimit": "1Gi"}}}
    assert project(live, paths, {"spec": {"emptyDir": {}}}) == {"spec": {"emptyDir": {}}}
    assert project(live, paths, {"spec": {"emptyDir": {"sizeLimit": "1Gi"}}}) == live


def test_fields_that_are_gone_are_not_in_the_projection() -> None:
    assert project({"spec": {}}, parse_fields(FIELDS)) == {"spec": {}}
    assert project({}, parse_fields(FIELDS)) == {}


def test_a_manager_owns_what_its_apply_entry_says() -> None:
    assert find_entry(LIVE, "kubectl") is None
    assert find_entry(LIVE, "kubectl", operation="Update", subresource="scale") is not None
    assert owned_paths(LIVE, "nobody") == frozenset()
    assert owned_paths({}, "kix") == frozenset()


def test_who_else_holds_a_field_is_found_above_and_below_it() -> None:
    scale = Holder(manager="kubectl", operation="Update", subresource="scale", time="2026-09-09T10:48:00Z")
    assert holders(LIVE, (Name("spec"), Name("replicas")), but="kix") == (scale,)
    assert holders(LIVE, (Name("spec"),), but="kix") == (scale,)
    assert holders(LIVE, IMAGE, but="kix") == ()
    whole = {"metadata": {"managedFields": [{"manager": "m", "operation": "Apply", "fieldsV1": {"f:spec": {}}}]}}
    assert holders(whole, IMAGE) == (Holder(manager="m", operation="Apply", subresource=None, time=None),)


@pytest.mark.parametrize(
    ("cede", "covered"),
    [
        ("spec.template.spec.containers[web].image", True),
        ("spec.template", True),
        ("spec.template.spec.containers[log].image", False),
        ("spec.template.spec.containers[web].image.x", False),
        ("spec.temp", False),
    ],
)
def test_a_ceded_path_covers_all_below_it(cede: str, *, covered: bool) -> None:
    assert is_ceded(IMAGE, cede) is covered


def test_ceded_paths_quote_keys_with_dots() -> None:
    assert parse_cede('metadata.annotations."a.b/c"') == ("metadata", "annotations", "a.b/c")
    path = (Name("metadata"), Name("annotations"), Name("a.b/c"))
    assert is_ceded(path, 'metadata.annotations."a.b/c"')
    with pytest.raises(ValueError, match="is no field path"):
        parse_cede("")


def test_values_are_followed_by_key_and_member() -> None:
    assert value_at(LIVE, IMAGE) == "w:1"
    assert value_at(LIVE, (Name("metadata"), Name("finalizers"), Member('"a/b"'))) == "a/b"
    assert value_at(LIVE, (Name("spec"), Name("gone"))) is ABSENT
    assert value_at({"a": [{"port": 53}]}, (Name("a"), Key((("port", 53), ("protocol", "TCP"))))) == {"port": 53}


def test_taking_out_a_field_takes_out_what_becomes_empty_and_leaves_the_original() -> None:
    body: dict[str, Any] = {"spec": {"a": {"b": 1}, "c": [{"name": "x", "v": 1}]}}
    assert without(body, [(Name("spec"), Name("a"), Name("b"))]) == {"spec": {"c": [{"name": "x", "v": 1}]}}
    assert without(body, [(Name("spec"), Name("c"), Key((("name", "x"),)), Name("v"))]) == {
        "spec": {"a": {"b": 1}, "c": [{"name": "x"}]}
    }
    assert without(body, [(Name("spec"), Name("gone"), Name("x"))]) == body
