"""Baselines: what they keep of an object, and what moves their fingerprint."""

from typing import Any

from hypothesis import given, strategies as st

from kixbot.diff.baseline import (
    Baseline,
    baseline_of,
    decode,
    encode,
    fingerprint,
    ordered_lists,
    same_values,
    topmost,
)
from kixbot.diff.fields import Key, Member, Name, Path, parse_fields
from kixbot.diff.shown import shown_path

FIELDS = {
    "f:data": {"f:a": {}},
    "f:env": {'k:{"name":"A"}': {".": {}, "f:name": {}, "f:value": {}}, 'k:{"name":"B"}': {".": {}, "f:name": {}}},
    "f:ports": {
        'k:{"port":80,"protocol":"TCP"}': {".": {}, "f:port": {}},
        'k:{"port":81,"protocol":"TCP"}': {".": {}, "f:port": {}},
    },
    "f:resources": {},
    "f:selector": {},
}
MANIFEST: dict[str, Any] = {
    "data": {"a": "1"},
    "env": [{"name": "A", "value": "x"}, {"name": "B"}],
    "ports": [{"port": 80}, {"port": 81}],
    "resources": {},
    "selector": {"app": "web"},
}
LIVE: dict[str, Any] = {**MANIFEST, "ports": [{"port": 80, "protocol": "TCP"}, {"port": 81, "protocol": "TCP"}]}
BASELINE = baseline_of(parse_fields(FIELDS), MANIFEST)


def prints(**changed: Any) -> tuple[bool, bool]:
    """Whether a changed object has the values of the baseline, and the same fingerprint."""
    one, other = fingerprint(LIVE, BASELINE), fingerprint({**LIVE, **changed}, BASELINE)
    return same_values(one, other), one == other


def test_a_field_sent_as_an_empty_map_is_marked_and_reads_back() -> None:
    assert BASELINE.empty == {(Name("resources"),)}
    assert '"f:resources":{".":{}}' in encode(BASELINE)
    assert decode(encode(BASELINE)) == BASELINE
    assert decode("") == Baseline(paths=frozenset())


def test_what_others_add_moves_nothing() -> None:
    assert prints(other=1, data={"a": "1", "b": "2"}, resources={"limits": {"cpu": "1"}}) == (True, True)
    assert prints(env=[{"name": "Z"}, *LIVE["env"]]) == (True, True)


def test_a_value_moves_the_fingerprint_also_inside_an_atomic_map() -> None:
    assert prints(data={"a": "2"}) == (False, False)
    assert prints(selector={"app": "web", "tier": "front"}) == (False, False)
    assert prints(data={}) == (False, False)


def test_order_counts_only_where_it_has_a_meaning() -> None:
    assert prints(ports=LIVE["ports"][::-1]) == (True, True)
    assert prints(env=LIVE["env"][::-1]) == (True, False)
    assert ordered_lists({**LIVE, "env": LIVE["env"][::-1]}, BASELINE) == {(Name("env"),): ("B", "A")}


def test_a_key_makes_another_fingerprint() -> None:
    assert fingerprint(LIVE, BASELINE, b"k") != fingerprint(LIVE, BASELINE)
    assert len(fingerprint(LIVE, BASELINE, b"k")) == 32


def test_of_paths_below_each_other_the_topmost_stays() -> None:
    item: Path = (Name("env"), Key((("name", "A"),)))
    assert set(topmost(frozenset({item, (*item, Name("value")), (Name("data"),)}))) == {(Name("data"),), item}


def test_paths_are_shown_as_in_a_plan() -> None:
    path = (Name("metadata"), Name("annotations"), Name("a.b/c"))
    assert shown_path(path) == '$.metadata.annotations."a.b/c"'
    ports = (Name("ports"), Key((("containerPort", 80), ("protocol", "TCP"))), Name("name"))
    assert shown_path(ports) == "$.ports[80/TCP].name"
    assert shown_path((Name("finalizers"), Member('"a/b"'))) == "$.finalizers[a/b]"


NAMES = st.text(min_size=1, max_size=6)
ELEMENTS = st.one_of(
    NAMES.map(Name),
    st.dictionaries(NAMES, st.integers() | NAMES, min_size=1, max_size=2).map(
        lambda it: Key(tuple(sorted(it.items())))
    ),
)


@given(st.frozensets(st.lists(ELEMENTS, min_size=1, max_size=4).map(tuple), max_size=12), st.data())
def test_any_baseline_is_the_same_after_a_round_trip(paths: frozenset[Path], data: st.DataObject) -> None:
    leaves = [path for path in paths if not any(path != one and one[: len(path)] == path for one in paths)]
    empty = data.draw(st.frozensets(st.sampled_from(leaves))) if leaves else frozenset()
    baseline = Baseline(paths=paths, empty=empty)
    assert decode(encode(baseline)) == baseline
