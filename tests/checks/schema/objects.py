"""Objects to judge: the valid ones of `valid/`, and mutants of them."""

import copy
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from kixbot.checks.schema.api.metadata import judge_name
from kixbot.checks.schema.judge import tables
from kixbot.checks.schema.node import Fault, Raw
from kixbot.checks.schema.walk import walk

Body = dict[str, Any]
VALID = Path(__file__).parent / "valid"
VERSION = "1.34"
"""The version of Kubernetes that the control plane of the tests runs."""


@cache
def _documents() -> tuple[str, ...]:
    files = sorted(VALID.glob("*.yaml"))
    bodies = [body for file in files for body in yaml.safe_load_all(file.read_text(encoding="utf-8"))]
    return tuple(json.dumps(body) for body in bodies)


def valid() -> list[Body]:
    """Every valid object, fresh."""
    return [json.loads(text) for text in _documents()]


def title(body: Body) -> str:
    """`Pod/web`."""
    return f"{body['kind']}/{body['metadata']['name']}"


def faults(body: Body, version: str = VERSION) -> list[Fault]:
    """What kix says of one object of a built-in kind."""
    node = tables(version).find(body["apiVersion"], body["kind"])
    assert node is not None, f"{body['apiVersion']} {body['kind']}"
    return [*walk(body, node), *judge_name(node.name, body, version)]


def places(value: Any, at: Raw = ()) -> Iterator[tuple[Any, Raw]]:
    """Every value of a body and where it stands."""
    yield value, at
    if isinstance(value, dict):
        for key, entry in value.items():
            yield from places(entry, (*at, key))
    elif isinstance(value, list):
        for place, entry in enumerate(value):
            yield from places(entry, (*at, place))


def edited(body: Body, at: Raw, edit: Callable[[Any, Any], object]) -> Body:
    """A copy in which `edit` changed what holds the place: it gets the holder and the key in it."""
    changed = copy.deepcopy(body)
    holder: Any = changed
    for step in at[:-1]:
        holder = holder[step]
    edit(holder, at[-1])
    return changed


_UNTOUCHED = {("apiVersion",), ("kind",), ("metadata",), ("metadata", "namespace"), ("metadata", "name")}
_NUMBERS = (0, -1, 1, 2, 100, 101, 65535, 65536, "x", 1.5, True)
_TEXTS: tuple[Any, ...] = (
    "", 5, True, "UPPER_case!", "a" * 64, "a" * 260, "-", "a.b", "a_b", "a/b", "a/b/c", "1", "../x", "/x", "é", "10%",
    "0", "101%", "1Gi", "http", "x-y-z-very-long-name", "*", {}, [],
)  # fmt: skip


def mutants(body: Body) -> Iterator[tuple[str, Body]]:
    """Objects that differ from a valid one in one place, each with a word for what was done where."""
    for value, at in places(body):
        if not at or at in _UNTOUCHED:
            continue
        where = ".".join(map(str, at))
        yield f"{where} left out", edited(body, at, lambda holder, key: holder.pop(key))
        for word, new in _replacements(value):
            yield f"{where} {word}", edited(body, at, lambda holder, key, new=new: holder.__setitem__(key, new))  # type: ignore[misc]  # the default binds it


def _replacements(value: Any) -> Iterator[tuple[str, Any]]:
    match value:
        case dict():
            yield "with a field more", {**value, "bogusField": "x"}
            yield from (("empty", {}), ("a text", "x"), ("a list", []))
        case list():
            yield "with its first item twice", value + value[:1]
            yield from (("empty", []), ("a text", "x"), ("an object", {}))
        case bool():
            yield from (("a text", "true"), ("turned", not value), ("a number", 1))
        case int() | float():
            yield from ((f"as {new!r}", new) for new in (*_NUMBERS, str(value)))
        case str():
            new_texts = (*_TEXTS, value.lower(), value.upper(), f"{value}x", f" {value}")
            yield from ((f"as {str(new)[:20]!r}", new) for new in new_texts)
