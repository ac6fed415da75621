"""The published JSON Schema of kix.toml and what kix reads agree."""

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import orjson
import pytest
from hypothesis import given, settings, strategies as st

from kixbot.errors import SettingsError
from kixbot.settings import load
from tests.settings.test_load import WHOLE

SCHEMA = json.loads((Path(__file__).parents[2] / "docs" / "schemas" / "kix.toml.json").read_text())
VALIDATOR = jsonschema.Draft202012Validator(SCHEMA)


def written(value: Any) -> str:
    """A value as TOML's inline form, which is JSON's but for `:` and null."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {written(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(written(entry) for entry in value) + "]"
    return orjson.dumps(value).decode()


def document(value: dict[str, Any]) -> str:
    return "".join(f"{json.dumps(key)} = {written(entry)}\n" for key, entry in value.items())


def is_read(value: dict[str, Any]) -> bool:
    try:
        load(document(value))
    except SettingsError:
        return False
    return True


def test_the_schema_is_a_json_schema() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


def test_every_key_says_what_it_means() -> None:
    tables = {"cluster": SCHEMA["$defs"]["cluster"], **SCHEMA["properties"]}
    keys = {(name, key): value for name, table in tables.items() for key, value in table.get("properties", {}).items()}
    assert [place for place, value in keys.items() if not value.get("description")] == []


def test_a_document_with_every_key_of_the_schema_is_valid_and_read() -> None:
    whole = tomllib.loads(WHOLE)
    VALIDATOR.validate(whole)
    assert is_read(whole)
    assert set(whole) == set(SCHEMA["properties"])
    assert set(whole["clusters"]["shop"]) == set(SCHEMA["$defs"]["cluster"]["properties"])
    for table in ("check", "pins", "bot", "registries"):
        assert set(whole[table]) == set(SCHEMA["properties"][table]["properties"])


ODD = st.sampled_from(
    ["", "x", "merge", "10m", "1.34", "/abs", "a/b", "true", "warn", "A", "x" * 51, "2027-01-31", "own/a", 0, 1, 101, -1,
     True, False, 1.5, [], [""], ["x"], [1], ["merge"], ["check"], {}, {"x": "y"}, {"x": 1}, {"dns": "absent"}, [{}],
     [{"kind": "a", "name": "b"}], [{"rule": "a", "resource": "b", "reason": "c"}]]
)  # fmt: skip


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """The paths of everything that may be replaced; orders between clusters are kix's own rule, not the schema's."""
    found = [path] if path else []
    entries = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return found + [place for key, entry in entries if key != "after" for place in places(entry, (*path, key))]


PLACES = places(tomllib.loads(WHOLE))


@settings(max_examples=300)
@given(st.sampled_from(PLACES), ODD, st.booleans())
def test_whatever_stands_anywhere_both_judge_alike(place: tuple[Any, ...], odd: Any, is_extra: bool) -> None:  # noqa: FBT001
    value = copy.deepcopy(tomllib.loads(WHOLE))
    holder: Any = value
    for step in place[:-1]:
        holder = holder[step]
    if is_extra and isinstance(holder, dict) and place[:1] != ("clusters",):
        holder["extra"] = odd
    else:
        holder[place[-1]] = odd
    assert is_read(value) == VALIDATOR.is_valid(value)


@pytest.mark.parametrize("key", sorted(SCHEMA["$defs"]["cluster"]["properties"]))
def test_a_cluster_s_key_may_be_absent_unless_the_schema_requires_it(key: str) -> None:
    value = tomllib.loads(WHOLE)
    del value["clusters"]["shop"][key]
    assert is_read(value) == VALIDATOR.is_valid(value)
