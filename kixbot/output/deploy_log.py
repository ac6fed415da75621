"""The deploy's events as JSON, one a line: `docs/schemas/deploy-event.json`."""

import json
from typing import Any, assert_never

from kixbot.cluster.receipts import encode
from kixbot.model.plan import Conflict
from kixbot.ops.events import (
    Applied,
    Conflicted,
    Event,
    Failed,
    Finished,
    Installed,
    Kept,
    Planned,
    Pruned,
    Ready,
    Recorded,
    Waiting,
    Warned,
    WaveStarted,
)

SCHEMA = 1


def line(event: Event, time: str) -> str:
    """One line of the log. `time` is RFC 3339 in UTC."""
    document = {"schema": SCHEMA, "time": time, **_document(event)}
    kept = {name: value for name, value in document.items() if value not in ("", None)}
    return json.dumps(kept, ensure_ascii=True, separators=(",", ":"))


def _document(event: Event) -> dict[str, Any]:
    match event:
        case Planned(plan=plan):
            waves = [{"wave": one.number, "resources": [ref.id for ref in one.refs]} for one in plan.waves]
            return {
                "event": "planned",
                "cluster": plan.cluster,
                "from": plan.old_activation,
                "to": plan.new_activation,
                "waves": waves,
                "hash": plan.hash,
            }
        case Installed(name=name):
            return {"event": "installed", "resource": f"CustomResourceDefinition/{name}"}
        case Recorded(activation=activation, phase=phase):
            return {"event": "recorded", "activation": activation, "phase": phase.value}
        case WaveStarted(wave=wave, refs=refs):
            return {"event": "wave", "wave": wave, "resources": [ref.id for ref in refs]}
        case Applied(ref=ref, wave=wave, action=action, left_out=left_out):
            left = {"leftOut": list(left_out)} if left_out else {}
            return {"event": "applied", "resource": ref.id, "wave": wave, "action": action, **left}
        case Waiting(ref=ref, wave=wave, reason=reason):
            return {"event": "waiting", "resource": ref.id, "wave": wave, "reason": reason}
        case Ready(ref=ref, wave=wave, note=note):
            return {"event": "ready", "resource": ref.id, "wave": wave, "note": note}
        case Failed():
            return _failed(event)
        case Conflicted(ref=ref, wave=wave, conflicts=conflicts):
            found = [_conflict(one) for one in conflicts]
            return {"event": "conflict", "resource": ref.id, "wave": wave, "conflicts": found}
        case Pruned(ref=ref):
            return {"event": "pruned", "resource": ref.id}
        case Kept(ref=ref, why=why):
            return {"event": "kept", "resource": ref.id, "reason": why}
        case Warned(message=message):
            return {"event": "warning", "message": message}
        case Finished(phase=phase, receipt=receipt):
            return {"event": "finished", "phase": phase.value, "receipt": encode(receipt)}
        case _:
            assert_never(event)


def _failed(failed: Failed) -> dict[str, Any]:
    return {
        "event": "failed",
        "resource": failed.ref.id,
        "wave": failed.wave,
        "reason": failed.reason,
        "pod": failed.pod,
        "log": failed.log,
        "lastEvent": failed.event,
        "notStarted": [ref.id for ref in failed.not_started],
    }


def _conflict(conflict: Conflict) -> dict[str, Any]:
    return {
        "path": conflict.path,
        "manager": conflict.manager,
        "subresource": conflict.subresource,
        "live": conflict.live,
        "desired": conflict.desired,
        "verdict": conflict.verdict,
    }
