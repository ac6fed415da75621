"""Written paths: what is written can be read back."""

import pytest
from hypothesis import given, strategies as st

from kixbot.model.path import Index, Item, Key, Step, item_keys, items, member, parse, write


@pytest.mark.parametrize(
    ("written", "steps"),
    [
        ("$", ()),
        ("$.spec.replicas", (Key("spec"), Key("replicas"))),
        ("spec.replicas", (Key("spec"), Key("replicas"))),
        ("$.spec.containers[web].image", (Key("spec"), Key("containers"), Item("web"), Key("image"))),
        ("$.ports[80/TCP]", (Key("ports"), Item("80/TCP"))),
        ("$.volumeMounts[/var/lib]", (Key("volumeMounts"), Item("/var/lib"))),
        ("$.args[0][1]", (Key("args"), Index(0), Index(1))),
        ('$.env["0"]', (Key("env"), Item("0"))),
        ('metadata.annotations."a.b/c"', (Key("metadata"), Key("annotations"), Key("a.b/c"))),
        ('$.""', (Key(""),)),
        ('$."a\\"b".c', (Key('a"b'), Key("c"))),
    ],
)
def test_paths_are_read(written: str, steps: tuple[Step, ...]) -> None:
    assert parse(written) == steps


@pytest.mark.parametrize(
    "written", ["$spec", "spec..x", "a b", "$.a[", "$.a[]", '$."a', "a.b c", ".a.", "$.a]b", 'x"y"']
)
def test_what_is_no_path_is_refused(written: str) -> None:
    with pytest.raises(ValueError, match="not a field path"):
        parse(written)


STEPS = st.lists(
    st.builds(Key, st.text()) | st.builds(Item, st.text()) | st.builds(Index, st.integers(0, 99)), max_size=5
)


@given(STEPS)
def test_every_path_reads_back(steps: list[Step]) -> None:
    assert parse(write(steps)) == tuple(steps)


@pytest.mark.parametrize(
    ("field", "entries", "keys"),
    [
        ("containers", [{"name": "a"}, {"name": "b"}], ("a", "b")),
        ("containers", [{"name": "a"}, {"name": "a"}], None),
        ("containers", [{"name": "a"}, {}], None),
        ("containers", [{"name": ["a"]}], None),
        ("containers", ["a"], None),
        ("containers", [{"name": True}], None),
        ("rules", [{"name": "a"}], None),
        ("ports", [{"containerPort": 80}, {"containerPort": 80, "protocol": "UDP"}], ("80/TCP", "80/UDP")),
        ("ports", [{"port": 80}], ("80/TCP",)),
        ("ports", [{"containerPort": 80}, {"containerPort": 80, "protocol": "TCP"}], None),
        ("env", [], ()),
    ],
)
def test_items_are_named_by_a_merge_key_that_all_have_once(
    field: str, entries: list[object], keys: tuple[str, ...] | None
) -> None:
    assert item_keys(field, entries) == keys


def test_items_without_a_key_are_named_by_their_place() -> None:
    assert items("$.env", "env", [{"name": "A"}, {"name": "A"}]) == ["$.env[0]", "$.env[1]"]
    assert items("$.env", "env", [{"name": "A"}, {"name": "1"}]) == ["$.env[A]", '$.env["1"]']


def test_keys_outside_letters_digits_dash_and_underscore_are_quoted() -> None:
    assert member("$", "a_B-1") == "$.a_B-1"
    assert member("$", "a.b") == '$."a.b"'
    assert member("$", 'é"\n') == '$."é\\"\\n"'
