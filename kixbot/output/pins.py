"""Pins as text and as documents: the list, a check's results, what an update moves.

Documents follow `docs/schemas/pin-list.json`, `pin-check.json` and `pin-update.json`. What a registry said (created,
revision) is foreign text: escaped here, and never a link.
"""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from kixbot.model.pin import Pin, PinChange, Pins
from kixbot.ops.pin import PinCheck, PinUpdates
from kixbot.output.terminal import escape

SCHEMA = 1
_SHORT = 12


def list_text(pins: Pins) -> str:
    """The table of all pins, by key."""
    rows = [
        (pin.key, pin.image, pin.tag, short(pin.digest), "frozen" if pin.frozen else pin.update or "-")
        for pin in pins.pins.values()
    ]
    return _table(("KEY", "IMAGE", "TAG", "DIGEST", "UPDATE"), rows)


def list_json(pins: Pins) -> str:
    """The document of `kix pin list -o json`."""
    return _document({"pins": [{"key": pin.key, **_fields(pin)} for pin in pins.pins.values()]})


def check_text(checks: Iterable[PinCheck]) -> str:
    """The table of a check, by key."""
    rows = [
        (check.key, f"{check.pin.image}:{check.pin.tag}", check.result.value, check.details or "-") for check in checks
    ]
    return _table(("KEY", "IMAGE", "RESULT", "DETAILS"), rows)


def check_json(checks: Iterable[PinCheck]) -> str:
    """The document of `kix pin check -o json`."""
    return _document(
        {
            "pins": [
                {
                    "key": check.key,
                    "image": check.pin.image,
                    "tag": check.pin.tag,
                    "digest": check.pin.digest,
                    "result": check.result.value,
                    "current": check.current,
                    "details": check.details,
                }
                for check in checks
            ]
        }
    )


def change_text(change: PinChange) -> str:
    """One pin that moves, with its evidence."""
    old, new = change.old, change.new
    tag = old.tag if old.tag == new.tag else f"{old.tag} -> {new.tag}"
    lines = [f"{change.key} {new.image}: {tag}", f"  {old.digest} -> {new.digest}"]
    evidence = [
        *([f"created {change.created}"] if change.created else []),
        *([" ".join(change.platforms)] if change.platforms else []),
        *([f"revision {change.revision}"] if change.revision else []),
    ]
    if evidence:
        lines.append(f"  {', '.join(evidence)}")
    return "\n".join(escape(line) for line in lines)


def update_text(found: PinUpdates, *, is_dry_run: bool) -> str:
    """What an update moved, or would move."""
    moved = len(found.changes)
    verb = "would move" if is_dry_run else "moved"
    parts = [f"{moved} pin{'' if moved == 1 else 's'} {verb}", f"{found.unchanged} unchanged"]
    if found.failures:
        parts.append(f"{len(found.failures)} not looked up")
    return "\n".join([*(change_text(change) for change in found.changes), ", ".join(parts)])


def update_json(found: PinUpdates, *, is_dry_run: bool) -> str:
    """The document of `kix pin update -o json`."""
    return _document(
        {
            "dryRun": is_dry_run,
            "changes": [
                {
                    "key": change.key,
                    "image": change.new.image,
                    "from": {"tag": change.old.tag, "digest": change.old.digest},
                    "to": {"tag": change.new.tag, "digest": change.new.digest},
                    "created": change.created,
                    "platforms": list(change.platforms),
                    "revision": change.revision,
                }
                for change in found.changes
            ],
            "failures": [{"key": failure.key, "message": failure.error.message} for failure in found.failures],
            "unchanged": found.unchanged,
        }
    )


def short(digest: str) -> str:
    """A digest as tables show it."""
    algorithm, _, value = digest.partition(":")
    return f"{algorithm}:{value[:_SHORT]}"


def _fields(pin: Pin) -> dict[str, Any]:
    return {
        "image": pin.image,
        "tag": pin.tag,
        "digest": pin.digest,
        "user": pin.user,
        "update": pin.update,
        "frozen": pin.frozen,
    }


def _document(fields: Mapping[str, Any]) -> str:
    return json.dumps({"schema": SCHEMA, **fields}, indent=2, ensure_ascii=False) + "\n"


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, *(tuple(escape(cell) for cell in row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
    )
