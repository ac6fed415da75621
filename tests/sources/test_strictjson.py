"""JSON as Kubernetes reads it, strictly."""

import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kixbot.errors import SourceError
from kixbot.sources import strictjson, text


def refusal(source: str) -> tuple[int | None, str, str | None]:
    with pytest.raises(SourceError) as caught:
        strictjson.parse(source, file="a.json")
    assert caught.value.file == "a.json"
    return caught.value.line, caught.value.message, caught.value.hint


def values(source: str) -> list[Any]:
    return [document.value for document in strictjson.parse(source, file="a.json")]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(JSON, st.sampled_from([None, 2]))
def test_what_json_says_is_what_is_read(value: Any, indent: int | None) -> None:
    assert values(json.dumps(value, indent=indent, ensure_ascii=False)) == ([] if value is None else [value])


@given(st.dictionaries(st.text(), JSON, min_size=1, max_size=3))
def test_every_field_has_a_line_within_the_text(value: dict[str, Any]) -> None:
    text = json.dumps(value, indent=1)
    (document,) = strictjson.parse(text, file="a.json")
    keys = [path[0] for path in document.places.lines if len(path) == 1]
    assert keys == list(value)
    assert set(document.places.lines.values()) <= set(range(1, text.count("\n") + 2))


def test_a_stream_of_values_is_several_documents() -> None:
    found = strictjson.parse('{"a": 1}\n\n{"b": 2} [3]\nnull', file="a.json")
    assert [(document.value, document.line) for document in found] == [({"a": 1}, 1), ({"b": 2}, 3), ([3], 3)]


def test_whole_floats_are_integers_and_large_integers_floats() -> None:
    found = values('{"a": 1.0, "b": 0.1, "c": 1e3, "d": 18446744073709551616}')
    assert found == [{"a": 1, "b": 0.1, "c": 1000, "d": 1.8446744073709552e19}]
    assert [type(value) for value in found[0].values()] == [int, float, int, float]


def test_a_key_that_stands_twice_is_refused_with_both_lines() -> None:
    text = '{\n "kind": "A",\n "spec": {\n  "x": 1,\n  "y": 2,\n  "x": 3\n }\n}'
    assert refusal(text) == (6, "key 'x' stands twice, on lines 4 and 6", "remove or rename one x")


def test_items_of_a_list_know_their_lines() -> None:
    (document,) = strictjson.parse('{"kind": "List", "items": [\n {"a": 1},\n\n {"b":\n 2}]}', file="a.json")
    assert document.item_lines == (2, 4)
    assert document.places.find(("items", 1), "$.b") == 4


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('{"a":\n1,}', 2, "broken JSON: Expecting property name enclosed in double quotes"),
        ('{"a": 1', 1, "broken JSON: Expecting ',' delimiter"),
        ("nonsense", 1, "broken JSON: Expecting value"),
        ('{"a": NaN}', None, "NaN is no number that JSON can hold"),
        ('{"a": 1e999}', None, "1e999 is no number that JSON can hold"),
        ('\n{"a": "\\ud800"}', 2, "a string holds half a surrogate pair, which is no text"),
        ("[" * 100_000, 1, "nested deeper than 200 levels"),
        ('{"a": ' * 100_000, 1, "nested deeper than 200 levels"),
    ],
)
def test_broken_json_is_said_with_its_line(text: str, line: int | None, message: str) -> None:
    assert refusal(text)[:2] == (line, message)


def test_brackets_in_strings_are_no_depth() -> None:
    assert values(json.dumps({"a": "[" * 1000})) == [{"a": "[" * 1000}]


def test_empty_objects_cannot_fill_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text, "MAX_NODES", 100)
    assert refusal("[" + "{}," * 100 + "{}]")[1] == "more than 100 values"
    assert values(json.dumps({"a": "{}" * 100})) == [{"a": "{}" * 100}]


@pytest.mark.parametrize("digits", ["-1000000000000000001", "9223372036854775807", "-9223372036854775808"])
def test_integers_of_64_bits_stay_exact(digits: str) -> None:
    assert values(f'{{"a": {digits}}}') == [{"a": int(digits)}]


@pytest.mark.parametrize("source", ['{"a":"' + '\\"' * 400_000, '{"a":' + '"\\' * 400_000, '{"a":"\\'])
def test_a_string_that_does_not_end_is_refused_at_once(source: str) -> None:
    assert refusal(source)[1].startswith("broken JSON: ")


def test_many_documents_are_read_in_one_pass() -> None:
    assert refusal('"" ' * 400_000)[1] == "more than 50,000 documents"
