"""Kubernetes' dialect of YAML, its bounds and its lines."""

from typing import Any

import pytest

from kixbot.errors import SourceError
from kixbot.sources import text, yaml


def one(source: str) -> Any:
    (document,) = yaml.parse(source, file="a.yaml")
    return document.value


def refusal(source: str) -> tuple[int | None, str, str | None]:
    with pytest.raises(SourceError) as caught:
        yaml.parse(source, file="a.yaml")
    assert caught.value.file == "a.yaml"
    return caught.value.line, caught.value.message, caught.value.hint


# What sigs.k8s.io/yaml v1.6.0 made of each scalar, by its YAMLToJSON; a whole number is an integer, one beyond 64
# bits a float, as apimachinery decodes the JSON.
SCALARS: dict[str, Any] = {
    "y": True, "Y": True, "yes": True, "Yes": True, "YES": True, "on": True, "On": True, "ON": True,
    "n": False, "N": False, "no": False, "No": False, "NO": False, "off": False, "Off": False, "OFF": False,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    "yEs": "yEs", "tRue": "tRue", "nO": "nO", "oN": "oN",
    "~": None, "null": None, "Null": None, "NULL": None, "nUll": "nUll", "": None,
    "0": 0, "12": 12, "-12": -12, "+12": 12, "1_000": 1000, "1__0": 10, "_1": "_1", "-_1": -1,
    "010": 8, "08": 8, "0o17": 15, "0O17": 15, "0o8": "0o8", "0x1F": 31, "-0x1f": -31, "0b101": 5, "-0b11": -3,
    "0x": "0x", "0b2": "0b2", "0_1": 1,
    "9223372036854775807": 9223372036854775807, "-9223372036854775808": -9223372036854775808,
    "1.5": 1.5, "1.0": 1, "1.": 1, ".5": 0.5, ".5e1": 5, "1e3": 1000, "1.5e3": 1500, "1e+3": 1000, "1E-1": 0.1,
    "1e": "1e", "e1": "e1", "1.2.3": "1.2.3", ".": ".", "..": "..", "1:30": "1:30", "190:20:30": "190:20:30",
    "2024-01-01": "2024-01-01", "2001-12-14t21:59:43.10-05:00": "2001-12-14t21:59:43.10-05:00",
    "1e999": "1e999", "0x1FFFFFFFFFFFFFFFF": "0x1FFFFFFFFFFFFFFFF", "0777777777777777777777777": 7.777777777777778e23, ".6_1": 0.61,
    "=": "=", "<<": "<<", "!!str 5": "5", "!!str yes": "yes", "! 5": "5", "!!int 5": 5, "!!float 5": 5,
    "'5'": "5", '"yes"': "yes", "!!binary aGk=": "hi", "!!null ~": None, "!!bool yes": True,
}  # fmt: skip


@pytest.mark.parametrize("written", SCALARS, ids=repr)
def test_a_scalar_means_what_it_means_to_kubernetes(written: str) -> None:
    found = one(f"a: {written}\n")["a"]
    assert (type(found), found) == (type(SCALARS[written]), SCALARS[written])


def test_integers_beyond_64_bits_become_floats() -> None:
    assert one("a: 18446744073709551616") == {"a": 1.8446744073709552e19}


@pytest.mark.parametrize("written", [".inf", "-.inf", "+.INF", ".nan"])
def test_a_number_that_json_cannot_hold_is_refused(written: str) -> None:
    assert refusal(f"a:\n  b: {written}\n") == (2, f"{written} is no number that JSON can hold", "quote it")


def test_a_key_that_stands_twice_is_refused_with_both_lines() -> None:
    source = "a: 1\nb:\n  image: x\n  other: y\n  image: z\n"
    assert refusal(source) == (5, "key 'image' stands twice, on lines 3 and 5", "remove or rename one image")


def test_keys_are_compared_as_the_text_they_become() -> None:
    assert refusal("8080: a\n'8080': b\n")[1] == "key '8080' stands twice, on lines 1 and 2"


@pytest.mark.parametrize(
    ("key", "meaning"),
    [
        ("on", "the boolean true"),
        ("n", "the boolean false"),
        ("~", "null"),
        ("1.10", "the number 1.1"),
        ("0x10", "the number 16"),
    ],
)
def test_a_key_that_yaml_would_change_is_refused(key: str, meaning: str) -> None:
    assert refusal(f"a: 1\n{key}: b\n") == (2, f"key {key} reads as {meaning}", "quote it")


def test_a_plain_number_is_a_key() -> None:
    assert one("8080: web") == {"8080": "web"}


def test_an_alias_stands_for_what_its_anchor_holds() -> None:
    assert one("a: &x {b: [1]}\nc: *x\n") == {"a": {"b": [1]}, "c": {"b": [1]}}


def test_anchors_do_not_reach_into_the_next_document() -> None:
    assert refusal("a: &x 1\n---\nb: *x\n") == (
        3,
        "an alias (`*…`) without its anchor",
        "quote the value if `*` begins a text",
    )


def test_an_anchor_that_contains_itself_is_refused_by_name() -> None:
    assert refusal("a:\n- &loop\n  b: *loop\n") == (3, "anchor &loop contains itself", None)


def test_a_few_hundred_bytes_of_aliases_do_not_become_gigabytes() -> None:
    rows = [f"a{level}: &a{level} [" + ", ".join([f"*a{level - 1}"] * 10) + "]" for level in range(1, 10)]
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "\n".join(rows)
    assert len(bomb) < 700
    line, message, hint = refusal(bomb)
    assert (line, message, hint) == (6, "alias *a4 makes the file grow beyond bounds", "write out what &a4 holds")


def test_a_long_text_cannot_be_aliased_into_gigabytes() -> None:
    bomb = f"a: &long {'x' * 100_000}\nb: [{', '.join(['*long'] * 1000)}]\n"
    assert refusal(bomb)[1] == "alias *long makes the file grow beyond bounds"


def test_aliases_cannot_nest_deeper_than_text_may() -> None:
    rows = "\n".join(f"a{level}: &a{level} [[[[[[[[[[*a{level - 1}]]]]]]]]]]" for level in range(1, 30))
    assert refusal("a0: &a0 x\n" + rows)[1] == "alias *a19 nests deeper than 200 levels"


@pytest.mark.parametrize("source", ["[" * 100_000, "- " * 5_000 + "a", "{a: " * 5_000])
def test_depth_is_bounded(source: str) -> None:
    assert "nest" in refusal(source)[1]


def test_the_number_of_documents_is_bounded() -> None:
    source = "--- 1\n" * (text.MAX_DOCUMENTS + 1)
    assert refusal(source) == (None, "more than 50,000 documents", "split the file")


def test_merge_keys_add_what_is_not_said() -> None:
    assert one("base: &b {a: 1, b: 2}\nx:\n  <<: *b\n  a: 3\n") == {"base": {"a": 1, "b": 2}, "x": {"a": 3, "b": 2}}


def test_the_first_of_several_merged_maps_wins() -> None:
    assert one("x:\n  <<: [{a: 1}, {a: 2, b: 3}]\n") == {"x": {"a": 1, "b": 3}}


def test_a_key_before_a_merge_that_holds_it_too_is_refused() -> None:
    """kubectl's reader would take the merged value, YAML's own rule the written one."""
    assert refusal("x:\n  a: 1\n  <<: {a: 2}\n") == (
        2,
        "key 'a' stands before `<<`, which holds it too: readers of YAML disagree",
        "put `<<` first",
    )


def test_a_quoted_merge_key_is_an_ordinary_key() -> None:
    assert one('"<<": 1') == {"<<": 1}


@pytest.mark.parametrize("source", ["a: !vault x", "a: !!set {b}", "a: !Ref [b]"])
def test_unknown_tags_are_refused(source: str) -> None:
    assert "unknown tag" in refusal(source)[1]


@pytest.mark.parametrize(
    ("source", "line", "message", "hint"),
    [
        (
            "a: b: c",
            1,
            "broken YAML: mapping values are not allowed in this context",
            "quote a value that holds `: `, or check the indentation of this line and the one before",
        ),
        (
            "a:\n\tb: c",
            2,
            "broken YAML: while scanning for the next token, found character that cannot start any token",
            "indent with spaces: YAML allows no tabs",
        ),
        ("a: [b", 2, "broken YAML: while parsing a flow sequence, did not find expected ',' or ']'", None),
        ("a: 'x", 1, "broken YAML: while scanning a quoted scalar, found unexpected end of stream", None),
        ("? [a]\n: b", 1, "a key must be a plain value, not a map or list", None),
    ],
)
def test_broken_yaml_is_said_in_a_sentence_with_its_line(
    source: str, line: int, message: str, hint: str | None
) -> None:
    assert refusal(source) == (line, message, hint)


def test_control_characters_are_refused() -> None:
    assert "control characters are not allowed" in refusal("a: \x00")[1]


def test_documents_without_content_are_left_out() -> None:
    found = yaml.parse("# only a comment\n---\n---\na: 1\n---\n~\n...\n", file="a.yaml")
    assert [(document.value, document.line) for document in found] == [({"a": 1}, 4)]


def test_every_field_knows_its_line() -> None:
    source = (
        "# é𝄞\nkind: A\n---\nkind: B\nspec:\n  containers:\n  - image: x\n    name: web\n  x.y/z:\n    - 1\n    - 2\n"
    )
    first, second = yaml.parse(source, file="a.yaml")
    assert first.places.find((), "$.kind") == 2
    asked = [
        "$",
        "$.kind",
        "$.spec.containers[web].image",
        "$.spec.containers[0].name",
        '$.spec."x.y/z"[1]',
        "$.spec.absent",
    ]
    assert [second.places.find((), path) for path in asked] == [4, 4, 7, 8, 11, 5]


def test_the_c_parser_reads() -> None:
    import yaml as library  # noqa: PLC0415

    assert library.__with_libyaml__


@pytest.mark.parametrize("value", ["*hunter2", "!hunter2", "!hunter2 x", "!hunter2 {a: b}"])
def test_a_password_that_begins_with_a_sign_of_yaml_stands_in_no_message(value: str) -> None:
    assert "hunter2" not in repr(refusal(f"stringData:\n  password: {value}\n"))
