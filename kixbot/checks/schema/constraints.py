"""Value validations of CRDs: bounds, lengths, patterns, formats, and schemas joined by allOf, anyOf, oneOf and not."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from ipaddress import IPv4Address, IPv6Address
from typing import Any

from kixbot.checks.schema.api import names
from kixbot.checks.schema.cel import find_match
from kixbot.checks.schema.faults import VALUE, dotted, missing, not_allowed
from kixbot.checks.schema.node import Fault, Raw
from kixbot.checks.schema.values import is_base64, is_time
from kixbot.checks.shape import mapping

Schema = Mapping[str, Any]


def violations(schema: Schema, value: Any, at: Raw) -> Iterator[Fault]:
    """What a value violates of its own schema; fields and items below it are judged on their own."""
    if value is None:
        return
    match value:
        case bool():
            pass
        case int() | float():
            yield from _number(schema, value, at)
        case str():
            yield from _text(schema, value, at)
        case list():
            yield from _sized(schema, value, at, "Items", "items")
            if schema.get("uniqueItems") is True and len({_canonical(item) for item in value}) < len(value):
                yield _fault(at, f"has one item twice in {dotted(at)}", "keep one of them")
        case dict():
            yield from _sized(schema, value, at, "Properties", "fields")
    allowed = schema.get("enum")
    if isinstance(allowed, list) and not any(_same(value, one) for one in allowed):
        yield not_allowed(value, [one for one in allowed if isinstance(one, str | int | float)], at)
    yield from _joined(schema, value, at)


def _number(schema: Schema, value: float, at: Raw) -> Iterator[Fault]:
    low, high, step = (_number_of(schema, key) for key in ("minimum", "maximum", "multipleOf"))
    if low is not None and (value <= low if schema.get("exclusiveMinimum") is True else value < low):
        more = "more than" if schema.get("exclusiveMinimum") is True else "at least"
        yield _fault(at, f"has {value} in {dotted(at)}, which takes {more} {low}", f"write {more} {low}")
    if high is not None and (value >= high if schema.get("exclusiveMaximum") is True else value > high):
        less = "less than" if schema.get("exclusiveMaximum") is True else "at most"
        yield _fault(at, f"has {value} in {dotted(at)}, which takes {less} {high}", f"write {less} {high}")
    if step is not None and step > 0 and _remainder(value, step) not in {0, None}:
        yield _fault(at, f"has {value} in {dotted(at)}, which takes multiples of {step}", f"write a multiple of {step}")
    if schema.get("format") == "int32" and not -(2**31) <= value < 2**31:
        yield _fault(at, f"has {value} in {dotted(at)}, which has 32 bits", "write a smaller number")


def _remainder(value: float, step: float) -> Decimal | None:
    try:
        return Decimal(str(value)) % Decimal(str(step))
    except ArithmeticError:  # more digits than anybody can count
        return None


def _text(schema: Schema, value: str, at: Raw) -> Iterator[Fault]:
    """Texts may be secrets of some operator: they are never shown."""
    least, most = schema.get("minLength"), schema.get("maxLength")
    if isinstance(least, int) and len(value) < least:
        yield _fault(at, f"has a text of {len(value)} characters in {dotted(at)}", f"write at least {least}")
    if isinstance(most, int) and len(value) > most:
        yield _fault(at, f"has a text of {len(value)} characters in {dotted(at)}", f"write at most {most}")
    pattern = schema.get("pattern")
    if isinstance(pattern, str) and find_match(pattern, value) is False:
        yield _fault(
            at, f"has a text in {dotted(at)} that does not match {pattern[:80]}", "write what the pattern asks for"
        )
    check = _FORMATS.get(str(schema.get("format")))
    if check is not None and not check(value):
        yield _fault(at, f"has a text in {dotted(at)} that is no {schema['format']}", f"write a {schema['format']}")


def _sized(schema: Schema, value: Any, at: Raw, what: str, word: str) -> Iterator[Fault]:
    least, most = schema.get(f"min{what}"), schema.get(f"max{what}")
    if isinstance(least, int) and len(value) < least:
        yield _fault(at, f"has {len(value)} {word} in {dotted(at)}", f"write at least {least}")
    if isinstance(most, int) and len(value) > most:
        yield _fault(at, f"has {len(value)} {word} in {dotted(at)}", f"write at most {most}")


def _joined(schema: Schema, value: Any, at: Raw) -> Iterator[Fault]:
    for part in _schemas(schema.get("allOf")):
        yield from deep(part, value, at)
    for word, wanted in (("anyOf", "one of"), ("oneOf", "exactly one of")):
        parts = _schemas(schema.get(word))
        if not parts:
            continue
        count = sum(accepts(part, value) for part in parts)
        if count == 0 or (word == "oneOf" and count > 1):
            meets = "none" if count == 0 else f"{count}"
            yield _fault(
                at,
                f"meets {meets} of {len(parts)} conditions in {dotted(at)}, where {wanted} them must hold",
                _wanted(parts),
            )
    refused = schema.get("not")
    if isinstance(refused, dict) and accepts(refused, value):
        yield _fault(at, f"has what its CRD excludes in {dotted(at)}", "see `not` in the schema of the CRD")


def _wanted(parts: list[Schema]) -> str:
    named = [" and ".join(part["required"]) for part in parts if _names(part.get("required"))]
    return f"set one of {', '.join(named)}" if len(named) == len(parts) else "see the schema of the CRD"


def accepts(schema: Schema, value: Any) -> bool:
    """Whether a value and all below it meet a schema."""
    return next(deep(schema, value, ()), None) is None


def deep(schema: Schema, value: Any, at: Raw) -> Iterator[Fault]:
    """What a value and all below it violate: parts of allOf and the like speak of what lies below, too."""
    if not _is_type(schema, value):
        yield _fault(at, f"has a value of another type in {dotted(at)}", f"write a value of type {schema['type']}")
        return
    yield from violations(schema, value, at)
    if isinstance(value, dict):
        properties = mapping(schema.get("properties"))
        for name in schema.get("required") or () if _names(schema.get("required")) else ():
            if name not in value:
                yield missing(name, at)
        for name, entry in value.items():
            inner = properties.get(name, schema.get("additionalProperties"))
            if isinstance(inner, dict):
                yield from deep(inner, entry, (*at, name))
    if isinstance(value, list) and isinstance(inner := schema.get("items"), dict):
        for place, entry in enumerate(value):
            yield from deep(inner, entry, (*at, place))


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "array": (list,),
    "object": (dict,),
}  # fmt: skip


def _is_type(schema: Schema, value: Any) -> bool:
    kinds = _TYPES.get(str(schema.get("type")))
    if kinds is None or value is None:
        return True
    return isinstance(value, kinds) and not (isinstance(value, bool) and bool not in kinds)


def _schemas(value: Any) -> list[Schema]:
    return [part for part in value if isinstance(part, dict)] if isinstance(value, list) else []


def _names(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, str) for one in value)


def _number_of(schema: Schema, key: str) -> float | None:
    value = schema.get(key)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def _same(one: Any, other: Any) -> bool:
    return _canonical(one) == _canonical(other)


def _canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def _fault(at: Raw, text: str, hint: str) -> Fault:
    return Fault(rule=VALUE, at=at, text=text, hint=hint)


_UUID = re.compile(r"(?i)[0-9a-f]{8}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{4}-?[0-9a-f]{12}")
_DATE = re.compile(r"\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])")
_MAC = re.compile(r"(?i)[0-9a-f]{2}([:-][0-9a-f]{2}){5}|[0-9a-f]{4}(\.[0-9a-f]{4}){2}")


def _reads(parse: Callable[[str], object]) -> Callable[[str], bool]:
    def check(text: str) -> bool:
        try:
            parse(text)
        except ValueError:
            return False
        return True

    return check


_FORMATS: Mapping[str, Callable[[str], bool]] = {
    "byte": lambda text: bool(text) and is_base64(text),
    "cidr": lambda text: names.cidr(text) is None,
    "date": lambda text: _DATE.fullmatch(text) is not None,
    "date-time": lambda text: is_time(text.upper()),
    "ipv4": _reads(IPv4Address),
    "ipv6": _reads(IPv6Address),
    "mac": lambda text: _MAC.fullmatch(text) is not None,
    "uuid": lambda text: _UUID.fullmatch(text) is not None,
}
"""Formats that are checked; the API server knows a few more, and takes any text for formats it does not know."""
