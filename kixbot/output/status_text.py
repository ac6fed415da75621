"""The status of a cluster, for people and for programs (`docs/schemas/status.json`)."""

import json
from typing import Any

from kixbot.cluster.receipts import encode
from kixbot.model.activation import Hold
from kixbot.ops.status import Status
from kixbot.output.plan_values import count
from kixbot.output.terminal import escape

SCHEMA = 1
_WIDTH = 14


def status_text(found: Status) -> str:
    """The current activation, packages with what is up, then every object that is not."""
    current = found.current
    if current is None:
        lines = [_row("cluster", found.cluster), _row("activation", "none: nothing was deployed yet")]
    else:
        lines = [
            _row("cluster", found.cluster),
            _row("activation", current.name),
            _row("phase", current.phase.value),
            _row("deployed", (current.activated_at or "not yet")[:16].replace("T", " ")),
            _row("commit", (current.commit or "none")[:7] if current.commit else "none"),
        ]
    if current is not None and current.hold is not None:
        lines.append(_row("held", _held(current.hold)))
    if found.drifted:
        lines.append(
            _row("drift", f"{count(found.drifted, 'resource')} changed outside kix; kix drift {found.cluster}")
        )
    if found.holder:
        lines.append(_row("locked by", found.holder))
    lines += [_row("unfinished", f"{one.name} ({one.phase.value}) {one.message}".rstrip()) for one in found.open]
    packages = found.packages()
    if packages:
        width = max(len(name) for name in packages) + 2
        lines += ["", "PACKAGES"]
        lines += [f"{escape(name):<{width}}{ready}/{total} ready" for name, (ready, total) in packages.items()]
    troubled = [one for one in found.objects if one.state in ("waiting", "failed", "missing")]
    if troubled:
        lines += ["", "NOT READY"]
        lines += [escape(f"{one.ref.short} {one.state}{': ' + one.reason if one.reason else ''}") for one in troubled]
    return "\n".join(lines)


def _held(hold: Hold) -> str:
    """`by ann since 2026-11-29T10:00:00Z: rolled back from shop-…`."""
    until = f" until {hold.until}" if hold.until else ""
    return f"by {hold.who}{f' since {hold.since}' if hold.since else ''}{until}: {hold.why}"


def _hold_document(hold: Hold | None) -> dict[str, str | None] | None:
    if hold is None:
        return None
    return {"who": hold.who, "why": hold.why, "since": hold.since or None, "until": hold.until}


def _row(name: str, value: str) -> str:
    return f"{name:<{_WIDTH}}{escape(value)}"


def status_document(found: Status) -> str:
    """The JSON document."""
    current = found.current
    document: dict[str, Any] = {
        "schema": SCHEMA,
        "cluster": found.cluster,
        "activation": None if current is None else current.name,
        "phase": None if current is None else current.phase.value,
        "activatedAt": None if current is None else current.activated_at,
        "commit": None if current is None else current.commit,
        "lockedBy": found.holder or None,
        "hold": _hold_document(None if current is None else current.hold),
        "unfinished": [
            {"activation": one.name, "phase": one.phase.value, "message": one.message} for one in found.open
        ],
        "drifted": found.drifted,
        "packages": [{"id": name, "ready": ready, "total": total} for name, (ready, total) in found.packages().items()],
        "resources": [
            {"id": one.ref.id, "package": one.package, "state": one.state, "reason": one.reason or None}
            for one in found.objects
        ],
        "receipt": None if current is None or current.receipt is None else encode(current.receipt),
    }
    return json.dumps(document, indent=2, ensure_ascii=False)
