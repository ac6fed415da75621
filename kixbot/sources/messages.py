"""Nix's messages made readable: a place in the tree, a sentence, a hint. No store path of the tree reaches people."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_PRIVATE = re.compile(r"[^\s'\"«]*/kix-nix-[^/\s'\"]+/root")
_STORE_PATH = re.compile(r"\S*?/nix/store/[0-9a-z]{32}-")
_EVALUATED = re.compile(r"while evaluating the file '([^']*)'")
# The library's own marks in a trace: what was being evaluated, and where it stands.
_RESOURCE = re.compile(r"while evaluating resource '([^']*)'(?: \((?!<kix>)([^()\s]+):([0-9]{1,9})\))?")
_OPTION = re.compile(r"while evaluating the option `([^']*)'")
_SAID = re.compile(r"\bat (?!<kix>)([^\s:]+\.nix):([0-9]{1,9})\b")
# How two versions of Nix say that a file is not there.
_ABSENT = re.compile(r"\A(?:getting status of|path) '([^']*)'(?:: No such file or directory| does not exist)\Z")
# Nix's advice to switch off what keeps a definition harmless.
_ADVICE = re.compile(r" \(use '--impure' to override\)|; use '--extra-experimental-features [^']*' to override")
# What Nix says, and what people can do about it.
_HINTS = (
    (re.compile(r"forbidden in restricted mode|is not allowed in pure evaluation|access to (absolute )?path"),
     "a definition reads files of its own tree only, and never the network"),
    (re.compile(r"experimental Nix feature"), "a definition fetches nothing: commit what it needs to its tree"),
    (re.compile(r"in pure evaluation mode|requires? a 'sha256' argument|access to URI|cannot be fetched|fetch"),
     "a definition fetches nothing: commit what it needs to its tree"),
    (re.compile(r"no such file in the tree$"), "name a file of this tree that git knows: git add it"),
    (re.compile(r"^infinite recursion"), "a value refers to itself; look at what the named place depends on"),
    (re.compile(r"^undefined variable"), "check the spelling, and whether the argument is listed at the top"),
    (re.compile(r"^attribute .* missing$"), "check the spelling: the set before the dot has no such name"),
    (re.compile(r"^cannot (add|coerce|compare|convert)\b|^value is .* was expected"),
     "a value has another type than the place where it is used asks for"),
    (re.compile(r"^syntax error"), "look at this line and the one before"),
    (re.compile(r"cannot build|import-from-derivation"), "a definition builds nothing while it is evaluated"),
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """A message about a place in the tree; `file` None when no place is known."""

    message: str
    hint: str | None = None
    file: str | None = None
    line: int | None = None


def read(text: str, tree_name: str, library_name: str) -> Told | None:
    """The last error among internal-json messages, with the innermost known place of the tree; None without one."""
    found = None
    for row in text.splitlines():
        if row.startswith("@nix "):
            message = _decoded(row)
            if message.get("action") == "msg" and message.get("level") == 0 and "raw_msg" in message:
                found = message
    if found is None:
        return None
    raw = _ANSI.sub("", str(found["raw_msg"]))
    plain = shorten(_ADVICE.sub("", raw), tree_name, library_name).removeprefix("error: ").strip()
    sentence, hint = _split_hint(_ABSENT.sub(r"\1: no such file in the tree", plain))
    sentence = sentence or "evaluation failed"
    file, line = _said_place(sentence) or _place(found, tree_name)
    if line is None:
        about, place = _surroundings(found, tree_name, library_name)
        sentence = f"{sentence}\n  {about}" if about else sentence
        file, line = place or (file, line)
    return Told(message=sentence, hint=hint or _hint_for(sentence), file=file, line=line)


def shorten(text: str, tree_name: str, library_name: str) -> str:
    """The text with places of the tree relative to it, and places of the library below `<kix>`."""
    text = re.sub(rf"[^\s'\"«(]*/nix/store/{re.escape(tree_name)}/?", "", text)
    text = _PRIVATE.sub("", text)
    return re.sub(rf"[^\s'\"«(]*/nix/store/{re.escape(library_name)}", "<kix>", text)


def last_line(text: str) -> str:
    """The last thing a program said, in one line, without control characters."""
    for row in reversed(text.splitlines()):
        said = str(_decoded(row).get("raw_msg") or "") if row.startswith("@nix ") else row
        plain = _STORE_PATH.sub("", _ANSI.sub("", said)).removeprefix("error: ").strip()
        if plain:
            return plain.splitlines()[0][:300]
    return "it said nothing"


def is_out_of_memory(text: str) -> bool:
    """Whether the allocator gave up: it says so outside of Nix's own messages, or as a bare exception."""
    own = re.compile(r"out of memory|std::bad_alloc|cannot allocate memory|Failed to expand heap", re.IGNORECASE)
    if own.search("\n".join(row for row in text.splitlines() if not row.startswith("@nix "))):
        return True
    errors = (str(_decoded(row).get("raw_msg") or "") for row in text.splitlines() if row.startswith("@nix "))
    return any(_ANSI.sub("", error).strip() in {"std::bad_alloc", "out of memory"} for error in errors)


def is_stack_overflow(text: str) -> bool:
    """Whether Nix's stack ended: it says so in plain text, whatever the log format."""
    return "stack overflow" in "\n".join(row for row in text.splitlines() if not row.startswith("@nix "))


def _decoded(row: str) -> Mapping[str, Any]:
    try:
        value = json.loads(row.removeprefix("@nix "))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _said_place(sentence: str) -> tuple[str, int] | None:
    """The first place that the message itself names: kix's library knows better than the call that came upon it."""
    found = _SAID.search(sentence)
    return (found[1], int(found[2])) if found else None


def _place(message: Mapping[str, Any], tree_name: str) -> tuple[str | None, int | None]:
    """The error's own place if it lies in the tree, else that of the innermost trace entry that does.

    A `throw` that stands alone in a file has no position: then the file that was being read.
    """
    marker = f"{tree_name}/"
    for entry in (message, *_traces(message)):
        file, line = entry.get("file"), entry.get("line")
        if isinstance(file, str) and marker in file:
            return file.partition(marker)[2], line if isinstance(line, int) else None
    for entry in _traces(message):
        told = _EVALUATED.search(_ANSI.sub("", str(entry.get("raw_msg"))))
        if told and marker in told[1]:
            return told[1].partition(marker)[2], None
    return None, None


def _surroundings(
    message: Mapping[str, Any], tree_name: str, library_name: str
) -> tuple[str | None, tuple[str, int] | None]:
    """For an error without a line: the innermost resource or option being evaluated, and the resource's place."""
    for entry in _traces(message):
        text = shorten(_ANSI.sub("", str(entry.get("raw_msg"))), tree_name, library_name)
        if found := _RESOURCE.search(text):
            return f"in resource {found[1]}", (found[2], int(found[3])) if found[2] else None
        if found := _OPTION.search(text):
            return f"in option {found[1]}", None
    return None, None


def _traces(message: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    traces = message.get("trace")
    return [entry for entry in traces if isinstance(entry, dict)] if isinstance(traces, list) else []


def _split_hint(text: str) -> tuple[str, str | None]:
    """A message of kix's own library may end with a line `hint: …`."""
    sentence, marker, hint = text.partition("\nhint: ")
    return sentence.strip(), hint.strip() if marker else None


def _hint_for(sentence: str) -> str | None:
    return next((hint for pattern, hint in _HINTS if pattern.search(sentence)), None)
