"""Bodies as YAML that every reader takes alike: the same body gives the same bytes.

Keys sorted, but apiVersion, kind and metadata first. A string stands plain only where no version of YAML could read
anything else; else in double quotes as JSON writes it, or as a literal block where it has several lines.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.identity import canonical

_FIRST = ("apiVersion", "kind", "metadata")
_PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9./_-]*")
# Words that some YAML reads as booleans, nulls or numbers.
_WORDS = frozenset(
    {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "nan", "inf", "e", "none"}
)  # fmt: skip
_BLOCK = re.compile(r"[^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff\ud800-\udfff\t]*")


def yaml_text(body: Mapping[str, Any]) -> str:
    """One document, without a marker, ending with a newline."""
    return "".join(f"{line}\n" for line in _map(body, top=True))


def yaml_stream(bodies: tuple[Mapping[str, Any], ...]) -> str:
    """Several documents."""
    return "---\n".join(yaml_text(body) for body in bodies)


def _map(value: Mapping[str, Any], *, top: bool = False) -> Iterator[str]:
    keys = sorted(value)
    if top:
        keys = [*(key for key in _FIRST if key in value), *(key for key in keys if key not in _FIRST)]
    for key in keys:
        yield from _entry(f"{_scalar(key)}:", value[key], inside="  ")


def _entry(head: str, value: Any, *, inside: str) -> Iterator[str]:
    """A key with its value: on the same line where it is short, below it where it is a collection."""
    match value:
        case Mapping() if value:
            yield head
            yield from (f"{inside}{line}" for line in _map(value))
        case list() if value:
            yield head
            yield from (f"{inside}{line}" for line in _list(value))
        case str() if _is_block(value):
            yield f"{head} |{'' if value.endswith(chr(10)) else '-'}"
            yield from (f"{inside}{line}" if line else "" for line in value.removesuffix("\n").split("\n"))
        case _:
            yield f"{head} {_scalar(value)}"


def _list(value: list[Any]) -> Iterator[str]:
    for item in value:
        if isinstance(item, Mapping) and item:
            lines = _map(item)
        elif isinstance(item, list) and item:
            lines = _list(item)
        else:
            yield f"- {_scalar(item)}"
            continue
        for at, line in enumerate(lines):
            yield f"{'  ' if at and line else '- ' if not at else ''}{line}"


def _is_block(text: str) -> bool:
    """Several lines that a literal block holds as they are: no line that starts or ends with a space."""
    if "\n" not in text or text.endswith("\n\n") or not _BLOCK.fullmatch(text):
        return False
    lines = text.removesuffix("\n").split("\n")
    return bool(lines[0]) and not any(line != line.strip() for line in lines)


def _scalar(value: Any) -> str:
    if isinstance(value, str):
        if _PLAIN.fullmatch(value) and value.lower() not in _WORDS:
            return value
        return "".join(map(_escaped, json.dumps(value, ensure_ascii=False)))
    return canonical(value)


def _escaped(character: str) -> str:
    """YAML reads no pairs of surrogates, so beyond 16 bits it is `\\U`."""
    if character.isprintable():
        return character
    number = ord(character)
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
