"""pins.json as text."""

import dataclasses
import json
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kixbot.errors import SourceError
from kixbot.model.pin import Pin, Pins
from kixbot.model.pinfile import decode, encode

D = "sha256:" + "a" * 64
E = "sha512:" + "b" * 128

FILE = f"""\
{{
  "$schema": "pins.schema.json",
  "pins": {{
    "db": {{
      "digest": "{E}",
      "image": "ghcr.io/cloudnative-pg/postgresql",
      "source": {{
        "a": [
          1.5,
          null
        ]
      }},
      "tag": "17.6",
      "user": 26
    }},
    "web": {{
      "digest": "{D}",
      "frozen": true,
      "image": "registry:5000/acme/web",
      "tag": "1.4.2",
      "update": "^1.4",
      "user": "101:101"
    }}
  }},
  "team": "größe",
  "version": 1
}}
"""

PINS = Pins(
    pins={
        "db": Pin(
            key="db",
            image="ghcr.io/cloudnative-pg/postgresql",
            tag="17.6",
            digest=E,
            user=26,
            extra={"source": {"a": [1.5, None]}},
        ),
        "web": Pin(
            key="web",
            image="registry:5000/acme/web",
            tag="1.4.2",
            digest=D,
            user="101:101",
            update="^1.4",
            frozen=True,
        ),
    },
    extra={"$schema": "pins.schema.json", "team": "größe"},
)


def test_a_file_is_read_whole_and_unknown_fields_are_kept() -> None:
    assert decode(FILE) == PINS


def test_a_file_is_written_sorted_with_two_spaces_and_a_final_newline() -> None:
    assert encode(PINS) == FILE


def test_no_pins_are_a_file_too() -> None:
    assert encode(Pins()) == '{\n  "pins": {},\n  "version": 1\n}\n'


def test_the_order_of_keys_does_not_change_the_bytes() -> None:
    document = json.loads(FILE)
    turned = {name: document[name] for name in reversed(document)}
    turned["pins"] = {name: document["pins"][name] for name in reversed(document["pins"])}
    assert encode(decode(json.dumps(turned))) == FILE


def pin_file(**fields: Any) -> str:
    return json.dumps({"version": 1, "pins": {"web": {"image": "ghcr.io/a", "tag": "1", "digest": D, **fields}}})


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "pins.json: not JSON: expecting value"),
        ('{"version": 1,}', "pins.json: not JSON: "),
        ("[]", "pins.json: an object is needed at the top"),
        ("{}", 'pins.json: "version" is needed, an integer'),
        ('{"version": true, "pins": {}}', 'pins.json: "version" is needed, an integer'),
        ('{"version": 0, "pins": {}}', 'pins.json: "version" is needed, an integer'),
        ('{"version": 2, "pins": {}}', "pins.json: version 2 is newer than this kix reads (1)"),
        ('{"version": 1}', 'pins.json: "pins" is needed, an object of pins by key'),
        ('{"version": 1, "version": 1, "pins": {}}', 'pins.json: "version" stands twice in one object'),
        ('{"version": 1, "pins": {"a": {}, "a": {}}}', 'pins.json: "a" stands twice in one object'),
        ('{"version": 1, "pins": {}, "x": NaN}', "pins.json: NaN is not a number JSON can hold"),
        ('{"version": 1, "pins": {}, "x": 1e999}', "pins.json: 1e999 is not a number JSON can hold"),
        ('{"version": 1, "pins": {}, "x": "\\ud800"}', "pins.json: holds half of a surrogate pair, which is no text"),
        ('{"version": 1, "pins": {}, "x": ' + "1" * 5000 + "}", "pins.json: holds a number that is too long"),
        ("[" * 100_000, "pins.json: nested too deeply"),
        ('{"version": 1, "pins": {"a b": {}}}', 'pins.json: pin "a b": a key holds letters, digits, _ . - and begins with one of the first three'),
        ('{"version": 1, "pins": {"a": 1}}', 'pins.json: pin "a": an object is needed, with image, tag and digest'),
        (pin_file(image=1), 'pins.json: pin "web": image is needed, such as ghcr.io/acme/web'),
        (pin_file(image="a b"), 'pins.json: pin "web": image is needed, such as ghcr.io/acme/web'),
        (pin_file(image=f"a@{D}"), 'pins.json: pin "web": image is needed, such as ghcr.io/acme/web'),
        (pin_file(image="ghcr.io/a:1"), 'pins.json: pin "web": image "ghcr.io/a:1" holds a tag'),
        (pin_file(tag=1.28), 'pins.json: pin "web": tag is needed, a tag such as 1.28-alpine'),
        (pin_file(tag="a b"), 'pins.json: pin "web": tag is needed, a tag such as 1.28-alpine'),
        (pin_file(digest="sha256:abc"), 'pins.json: pin "web": digest is needed, sha256: and 64 hexadecimal digits'),
        (pin_file(user=True), 'pins.json: pin "web": user is a name or a number'),
        (pin_file(update=""), 'pins.json: pin "web": update is a text'),
        (pin_file(frozen="yes"), 'pins.json: pin "web": frozen is true or false'),
    ],
)  # fmt: skip
def test_what_is_no_pins_file_is_refused_by_name(text: str, message: str) -> None:
    with pytest.raises(SourceError) as caught:
        decode(text)
    assert caught.value.message.startswith(message)


def test_broken_json_names_its_line() -> None:
    with pytest.raises(SourceError) as caught:
        decode('{\n"version": 1\n"pins": {}}', file="other.json")
    assert (caught.value.file, caught.value.line) == ("other.json", 3)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip
PIN = st.builds(
    Pin,
    key=st.just("set below"),
    image=st.sampled_from(["ghcr.io/acme/web", "nginx", "registry:5000/a/b"]),
    tag=st.from_regex(r"\A[A-Za-z0-9_][A-Za-z0-9._-]{0,20}\Z"),
    digest=st.sampled_from([D, E]),
    user=st.none() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    update=st.none() | st.sampled_from(["tag", "^1", "1.*"]),
    frozen=st.booleans(),
    extra=st.dictionaries(st.sampled_from(["source", "note", "x"]), JSON, max_size=2),
)


@given(
    st.dictionaries(st.from_regex(r"\A[a-z][a-z0-9_.-]{0,10}\Z"), PIN, max_size=4),
    st.dictionaries(st.sampled_from(["$schema", "team"]), JSON, max_size=2),
)
def test_what_is_written_reads_back_and_writes_the_same_bytes(entries: dict[str, Pin], extra: dict[str, Any]) -> None:
    pins = Pins(pins={key: dataclasses.replace(pin, key=key) for key, pin in sorted(entries.items())}, extra=extra)
    text = encode(pins)
    assert decode(text) == pins
    assert encode(decode(text)) == text
