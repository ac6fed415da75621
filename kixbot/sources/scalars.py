"""What a plain YAML scalar means to Kubernetes.

Rules: YAML 1.1 as kubectl's own reader (go-yaml v2 below sigs.k8s.io/yaml) applies it. Booleans are y, n, yes, no,
on, off, true, false in three spellings; integers may be decimal, 0x, 0b, 0o or octal by a leading zero, with
underscores; timestamps and base 60 stay text. Numbers then go through JSON: a float without a fraction is an integer
where it fits 64 bits, an integer beyond them is a float, infinity and not-a-number have no JSON form.
"""

import base64
import binascii
import re

Scalar = str | int | float | bool | None
CORE_TAG = "tag:yaml.org,2002:"

_WORDS: dict[str, Scalar] = {
    **{word: True for base in ("y", "yes", "true", "on") for word in (base, base.capitalize(), base.upper())},
    **{word: False for base in ("n", "no", "false", "off") for word in (base, base.capitalize(), base.upper())},
    **dict.fromkeys(("", "~", "null", "Null", "NULL")),
}
_NOT_JSON = re.compile(r"[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)")
_INTEGER = re.compile(r"[-+]?(?:0[xX][0-9a-fA-F]+|0[bB][01]+|0[oO][0-7]+|0[0-7]+|0|[1-9][0-9]*)")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_LEADING_DOT = re.compile(r"\.[0-9](?:_?[0-9])*(?:[eE][-+]?[0-9](?:_?[0-9])*)?")
_LONGEST_NUMBER = 400  # characters; the longest double written out in full has fewer


def resolve(text: str) -> Scalar:
    """The value of an unquoted scalar. Raises ValueError for infinity and not-a-number, which JSON cannot hold."""
    if text in _WORDS:
        return _WORDS[text]
    first = text[0]
    if first == ".":
        if _NOT_JSON.fullmatch(text):
            raise ValueError(f"{text[:80]} is no number that JSON can hold")
        return _number_or_text(text) if _LEADING_DOT.fullmatch(text) else text
    if first not in "+-0123456789" or len(text) > _LONGEST_NUMBER:
        return text
    if _NOT_JSON.fullmatch(text):
        raise ValueError(f"{text[:80]} is no number that JSON can hold")
    plain = text.replace("_", "")
    if _INTEGER.fullmatch(plain):
        value = _integer(plain)
        if -(2**63) <= value < 2**64:
            return bounded(value)
    return _number_or_text(text) if _FLOAT.fullmatch(plain) else text


def tagged(tag: str, text: str) -> Scalar:
    """The value of a scalar with an explicit tag. Raises ValueError with the reason in words."""
    kind = tag.removeprefix(CORE_TAG)
    if kind in {"!", "str", "timestamp"}:
        return text
    if kind == "binary":
        try:
            return base64.b64decode(text).decode()
        except (binascii.Error, UnicodeDecodeError) as err:
            raise ValueError("!!binary does not hold text in base64") from err
    if kind not in {"bool", "int", "float", "null"}:
        raise ValueError(f"unknown tag{shown_tag(tag)}")
    value = resolve(text)
    found = {bool: "bool", int: "int", float: "float", type(None): "null"}.get(type(value), "str")
    if kind != found and (kind, found) != ("float", "int"):
        raise ValueError(f"the value is no !!{kind}")
    return value


def shown_tag(tag: str) -> str:
    """A tag of YAML's own namespace; any other may be a password that begins with `!`, and is not told."""
    return f" {tag[:80]!r}" if tag.startswith(CORE_TAG) else " (`!…`)"


def number(text: str) -> int | float:
    """A decimal number as JSON would carry it. Raises ValueError when it overflows a double."""
    value = float(text)
    if value in {float("inf"), float("-inf")}:
        raise ValueError(f"{text[:80]} is no number that JSON can hold")
    return bounded(int(value)) if value.is_integer() and abs(value) < 2**63 else value


def bounded(value: int) -> int | float:
    """An integer, as a float where 64 bits do not hold it."""
    return value if -(2**63) <= value < 2**63 else float(value)


def _number_or_text(text: str) -> int | float | str:
    """A decimal number; the text itself where a double cannot hold it, as in kubectl."""
    try:
        return number(text.replace("_", ""))
    except ValueError:
        return text


def _integer(plain: str) -> int:
    sign = -1 if plain.startswith("-") else 1
    digits = plain.lstrip("+-")
    prefix = digits[:2].lower()
    if prefix in {"0x", "0b", "0o"}:
        return sign * int(digits[2:], {"0x": 16, "0b": 2, "0o": 8}[prefix])
    if len(digits) > 1 and digits[0] == "0":
        return sign * int(digits, 8)
    return sign * int(digits)
