"""Single values: what counts as one of a kind, and what to call what stands there instead."""

import binascii
import re
from base64 import b64decode
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from kixbot.checks.quantities import find_amount

PLAIN: Mapping[str, type] = {"string": str, "boolean": bool}
"""Kinds for which the Python type alone decides."""

_INT32 = 2**31
_INT64 = 2**63
# RFC 3339, as Go reads it: a fraction of any length, an offset or Z in upper case.
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?(Z|[+-][0-9]{2}:[0-9]{2})")
_LONGEST = 60  # characters of a value that a message shows


def is_one(value: Any, kind: str) -> bool:
    """Whether a value is of a kind that is neither object, map nor list."""
    match kind:
        case "any":
            return True
        case "string":
            return isinstance(value, str)
        case "boolean":
            return isinstance(value, bool)
        case "integer":
            return _integer(value) and -_INT32 <= value < _INT32
        case "long":
            return _integer(value) and -_INT64 <= value < _INT64
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "int-or-string":
            return isinstance(value, str) or (_integer(value) and -_INT32 <= value < _INT32)
        case "long-or-string":
            return isinstance(value, str) or (_integer(value) and -_INT64 <= value < _INT64)
        case "quantity":
            return find_amount(value) is not None
        case "time":
            return isinstance(value, str) and is_time(value)
        case "bytes":
            return isinstance(value, str) and is_base64(value)
        case _:
            raise AssertionError(kind)


def _integer(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def is_time(value: str) -> bool:
    """Whether this is a time of RFC 3339."""
    if not _TIME.fullmatch(value):
        return False
    try:
        datetime.fromisoformat(value[:19])
    except ValueError:
        return False
    return True


def is_base64(value: str) -> bool:
    """Whether this is base64 with padding, as Go decodes it: line ends may stand anywhere."""
    try:
        b64decode(value.replace("\n", "").replace("\r", ""), validate=True)
    except (binascii.Error, ValueError):
        return False
    return True


def noun(value: Any) -> str:
    """What stands there, without its content: `a string`, `a list`."""
    match value:
        case None:
            return "null"
        case bool():
            return "a boolean"
        case int():
            return "an integer" if -_INT32 <= value < _INT32 else "a large integer"
        case float():
            return "a number"
        case str():
            return "a string"
        case list():
            return "a list"
        case _:
            return "an object"


def shown(value: Any) -> str:
    """A scalar as it may be quoted in a message; never used for what may be secret."""
    if isinstance(value, str):
        text = value if len(value) <= _LONGEST else value[: _LONGEST - 1] + "…"
        return f'"{text}"' if text.isprintable() else ascii(text)
    if isinstance(value, bool):
        return str(value).lower()
    return str(value) if isinstance(value, int | float) else noun(value)


def hint_for(value: Any, kind: str) -> str:
    """What to write instead of a value of the wrong type."""
    match kind:
        case "string" if isinstance(value, bool | int | float):
            return "quote it"
        case "integer" | "long" | "number" | "boolean" if isinstance(value, str):
            return "write it without quotes" if _reads_as(value, kind) else f"write {_EXAMPLES[kind]}"
        case "list" if not isinstance(value, list):
            return "write a list, also for one item: `- …`"
        case _:
            return f"write {_EXAMPLES.get(kind, 'what belongs there')}"


_EXAMPLES = {
    "object": "an object: `key: value`",
    "map": "an object: `key: value`",
    "list": "a list",
    "string": "a string",
    "integer": "a whole number of at most 32 bits",
    "long": "a whole number of at most 64 bits",
    "number": "a number",
    "boolean": "true or false",
    "quantity": "a number with a unit, such as 500m or 1.5Gi",
    "int-or-string": "a whole number or a string",
    "time": "a time such as 2030-01-31T12:00:00Z",
    "bytes": "the content in base64",
}


def _reads_as(value: str, kind: str) -> bool:
    if kind == "boolean":
        return value in {"true", "false"}
    return re.fullmatch(r"-?[0-9]{1,18}" if kind != "number" else r"-?[0-9]+(\.[0-9]+)?", value) is not None
