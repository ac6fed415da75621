"""The fields in which two bodies differ."""

from typing import Any

import pytest
from hypothesis import given, strategies as st

from kixbot.diff.normalize import is_same, without_nulls
from kixbot.diff.tree import diff
from kixbot.identity import without_values
from kixbot.model.path import item_keys
from kixbot.model.plan import Added, Changed, FieldChange, Removed, Reordered, SecretChanged
from tests.diff.apply import apply


def container(name: str, image: str = "a:1", **more: Any) -> dict[str, Any]:
    return {"name": name, "image": image, **more}


def pod(*containers: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"containers": list(containers)}}


def secret(**data: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}, "data": data}


def shown(changes: tuple[FieldChange, ...]) -> list[str]:
    lines = []
    for change in changes:
        match change:
            case Added():
                lines.append(f"+ {change.path} {change.new}")
            case Removed():
                lines.append(f"- {change.path} {change.old}")
            case Changed():
                lines.append(f"~ {change.path} {change.old} {change.new}")
            case Reordered():
                lines.append(f"~ {change.path} order {','.join(change.old)} {','.join(change.new)}")
            case SecretChanged():
                lines.append(f"{change.action} {change.path}")
    return lines


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 1.0}, []),
        ({"a": None}, {}, []),
        ({"a": {"b": None}}, {"a": {}}, []),
        ({"a": 1}, {"a": True}, ["~ $.a 1 True"]),
        ({"a": 0}, {"a": False}, ["~ $.a 0 False"]),
        ({"a": [1]}, {"a": [True]}, ["~ $.a[0] 1 True"]),
        ({"a": "1"}, {"a": 1}, ["~ $.a 1 1"]),
        ({"a": 1}, {"b": 2}, ["- $.a 1", "+ $.b 2"]),
        ({"a": {"b": 1}}, {"a": [1]}, ["~ $.a {'b': 1} [1]"]),
        ({"a": {}}, {"a": {"x.y/z": 1}}, ['+ $.a."x.y/z" 1']),
        # Scalars by longest common subsequence.
        ({"args": ["a", "b", "c"]}, {"args": ["a", "x", "b", "c"]}, ["+ $.args[1] x"]),
        ({"args": ["a", "b", "c"]}, {"args": ["a", "c"]}, ["- $.args[1] b"]),
        ({"args": ["a", "b"]}, {"args": ["a", "c"]}, ["~ $.args[1] b c"]),
        ({"args": ["a", "b", "c"]}, {"args": ["c", "a", "b"]}, ["~ $.args order a,b,c c,a,b"]),
        ({"args": ["a", "b"]}, {"args": ["b", "c"]}, ["- $.args[0] a", "+ $.args[1] c"]),
        # Objects without a merge key: by place, reordered ones by their old place.
        ({"rules": [{"a": 1}, {"b": 2}]}, {"rules": [{"a": 1}, {"b": 3}]}, ["~ $.rules[1].b 2 3"]),
        ({"rules": [{"a": 1}, {"b": 2}]}, {"rules": [{"b": 2}, {"a": 1}]}, ["~ $.rules order 0,1 1,0"]),
        # By merge key.
        (pod(container("web")), pod(container("web", "a:2")), ["~ $.spec.containers[web].image a:1 a:2"]),
        (
            pod(container("web"), container("log")),
            pod(container("log", "a:2"), container("web")),
            ["~ $.spec.containers order web,log log,web", "~ $.spec.containers[log].image a:1 a:2"],
        ),
        (
            pod(container("web")),
            pod(container("new"), container("web")),
            ["+ $.spec.containers[new] {'name': 'new', 'image': 'a:1'}"],
        ),
        (
            {"ports": [{"port": 80}, {"port": 53, "protocol": "UDP"}]},
            {"ports": [{"port": 80, "protocol": "TCP"}, {"port": 53, "protocol": "UDP", "name": "dns"}]},
            ["+ $.ports[80/TCP].protocol TCP", "+ $.ports[53/UDP].name dns"],
        ),
        # A key that is repeated or missing sends the whole list by place.
        (
            {"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "2"}]},
            {"env": [{"name": "A", "value": "1"}, {"name": "A", "value": "3"}]},
            ["~ $.env[1].value 2 3"],
        ),
        ({"env": [{"value": "1"}]}, {"env": [{"value": "2"}]}, ["~ $.env[0].value 1 2"]),
        # A key that looks like a place is quoted.
        ({"env": [{"name": "0", "value": "1"}]}, {"env": [{"name": "0"}]}, ['- $.env["0"].value 1']),
    ],
)
def test_changes_are_named_by_their_field(old: dict[str, Any], new: dict[str, Any], expected: list[str]) -> None:
    assert shown(diff(old, new)) == expected


def test_of_secret_values_only_that_they_changed_is_said() -> None:
    old = {**secret(a="b25l", b="dHdv"), "type": "Opaque"}
    new = {**secret(b="dHJlcw==", c="dGhyZWU="), "type": "x"}
    changes = diff(old, new)
    assert shown(changes) == ["removed $.data.a", "changed $.data.b", "added $.data.c", "~ $.type Opaque x"]
    assert "b25l" not in repr(changes)


def test_secret_data_that_comes_or_goes_as_a_whole_is_said_by_key() -> None:
    empty = {key: value for key, value in secret().items() if key != "data"}
    assert shown(diff(empty, secret(b="x", a="y"))) == ["added $.data.a", "added $.data.b"]
    assert shown(diff(secret(b="x", a="y"), empty)) == ["removed $.data.a", "removed $.data.b"]
    assert shown(diff(secret(a="y"), {**empty, "data": "y"})) == ["changed $.data"]


def test_the_copy_of_secret_values_that_kubectl_keeps_is_hidden() -> None:
    copy = {"kubectl.kubernetes.io/last-applied-configuration": "b25l"}
    noted = {**secret(), "metadata": {"name": "db", "annotations": copy}}
    again = {**secret(), "metadata": {"name": "db", "annotations": {**copy, "x": "y"}}}
    changed = {**secret(), "metadata": {"name": "db", "annotations": dict.fromkeys(copy, "dHdv")}}
    assert shown(diff(secret(), noted)) == ["added $.metadata.annotations"]
    assert shown(diff(noted, again)) == ["+ $.metadata.annotations.x y"]
    assert shown(diff(noted, changed)) == [f'changed $.metadata.annotations."{next(iter(copy))}"']


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ({}, {"stringdata": {"password": "hunter2"}}),
        ({"stringdata": {"password": "hunter1"}}, {"stringdata": {"password": "hunter2"}}),
        ({"immutable": True}, {"immutable": "hunter2"}),
        ({"data": {"a": ""}}, {"data": "hunter2"}),
        ({"apiVersion": "v2"}, {"apiVersion": "v2", "data": {"password": "hunter2"}}),
        ({"apiVersion": "apps/v1"}, {"apiVersion": "apps/v1", "spec": {"password": "hunter2"}}),
    ],
)
def test_a_value_that_stands_in_a_secret_by_mistake_is_hidden_too(old: dict[str, Any], new: dict[str, Any]) -> None:
    changes = diff({**secret(), **old}, {**secret(), **new})
    assert changes
    assert "hunter" not in repr(changes)
    assert "hunter" not in repr(without_values({**secret(), **new}))


def test_a_secret_of_another_group_is_no_secret() -> None:
    old = {**secret(a="1"), "apiVersion": "example.org/v1"}
    new = {**secret(a="2"), "apiVersion": "example.org/v1"}
    assert shown(diff(old, new)) == ["~ $.data.a 1 2"]


def test_very_long_lists_are_compared_without_their_common_ends() -> None:
    old = {"args": [f"a{at}" for at in range(5000)]}
    new = {"args": [*old["args"][:2500], "new", *old["args"][2500:]]}
    assert shown(diff(old, new)) == ["+ $.args[2500] new"]
    assert len(diff({"args": ["x", *old["args"]]}, {"args": ["y", *map(str.upper, old["args"])]})) == 5001


SCALARS = st.sampled_from([0, 1, 2, "a", "b", "c"])
ENV = st.lists(st.fixed_dictionaries({"name": st.sampled_from("ABCD")}, optional={"value": SCALARS}), max_size=4)
BODIES = st.recursive(
    SCALARS | st.booleans() | st.lists(SCALARS, max_size=5) | ENV,
    lambda below: (
        st.dictionaries(st.sampled_from(["a", "x.y", "env", "args", "0"]), below, max_size=4)
        | st.lists(below, max_size=4)
    ),
    max_leaves=12,
)
MAPS = st.dictionaries(st.sampled_from(["a", "b", "env", "args", "ports", "é"]), BODIES, max_size=5)


def settled(value: Any, field: str = "") -> Any:
    """The value with lists that have merge keys in the order of their keys: the place of a new item is no change."""
    if isinstance(value, dict):
        return {key: settled(entry, key) for key, entry in value.items()}
    if isinstance(value, list):
        entries = [settled(entry) for entry in value]
        keys = item_keys(field, entries)
        return (
            entries
            if keys is None
            else [entry for _, entry in sorted(zip(keys, entries, strict=True), key=lambda one: one[0])]
        )
    return value


@given(MAPS)
def test_nothing_differs_from_itself(body: dict[str, Any]) -> None:
    assert diff(body, body) == ()


@given(MAPS, MAPS)
def test_changes_applied_to_the_old_body_give_the_new_one(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert is_same(settled(apply(old, diff(old, new))), settled(new))


@given(MAPS, MAPS)
def test_equal_bodies_are_exactly_those_without_changes_up_to_order(old: dict[str, Any], new: dict[str, Any]) -> None:
    assert (diff(old, new) == ()) == is_same(without_nulls(old), without_nulls(new))
