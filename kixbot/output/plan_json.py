"""A plan as the versioned document that other programs read (`docs/schemas/diff.json`, `plan.json`)."""

import json
from collections import Counter
from typing import Any

from kixbot.model.plan import (
    Added,
    Changed,
    Conflict,
    FieldChange,
    PackageChange,
    Plan,
    Removed,
    Reordered,
    ResourceChange,
    SecretChanged,
    Tracker,
)
from kixbot.output import drift_json
from kixbot.output.plan_values import CHANGED, SECRET, tally

SCHEMA = 1


def text(plan: Plan) -> str:
    """The document as JSON text, in stable order."""
    return json.dumps(document(plan), indent=2, ensure_ascii=False) + "\n"


def document(plan: Plan) -> dict[str, Any]:
    """The document of a plan: ids in long form, no times, a Secret's values nowhere."""
    resources = Counter[str]()
    for package in plan.packages:
        if package.action == "changed":
            resources.update(tally(package))
        else:
            resources[package.action] += len(package.resources)
    packages = Counter(package.action for package in plan.packages)
    return {
        "schema": SCHEMA,
        "cluster": plan.cluster,
        "from": plan.old_activation,
        "to": plan.new_activation,
        "summary": {
            "packages": {
                "added": packages["added"],
                "changed": packages["changed"],
                "removed": packages["removed"],
                "unchanged": plan.unchanged,
            },
            "resources": {
                "changed": resources["changed"],
                "depAffected": resources["dep-affected"],
                "added": resources["added"],
                "removed": resources["removed"],
            },
        },
        "packages": [_package(package) for package in plan.packages],
        "drift": drift_json.resources(plan.drift.resources),
        "additions": drift_json.resources(plan.drift.additions),
        "trackers": [_tracker(one) for one in plan.trackers],
        "conflicts": [_conflict(conflict) for conflict in plan.conflicts],
        "waves": [{"wave": wave.number, "resources": [ref.id for ref in wave.refs]} for wave in plan.waves],
        "prune": [{"id": candidate.ref.id, "kept": candidate.kept} for candidate in plan.prune],
        "recreate": [
            change.ref.id for package in plan.packages for change in package.resources if change.action == "recreated"
        ],
        "hash": plan.hash,
    }


def _tracker(one: Tracker) -> dict[str, Any]:
    return {
        "tool": one.tool,
        "owner": one.owner,
        "does": list(one.does),
        "resources": [ref.id for ref in one.refs],
        "commands": list(one.commands),
    }


def _package(package: PackageChange) -> dict[str, Any]:
    return {
        "id": package.id,
        "action": package.action,
        "from": package.old_version,
        "to": package.new_version,
        "resources": [_resource(change) for change in package.resources],
    }


def _resource(change: ResourceChange) -> dict[str, Any]:
    found: dict[str, Any] = {
        "id": change.ref.id,
        "action": change.action,
        "reason": change.reason,
        "changes": [_change(field) for field in change.changes],
    }
    if not change.simulated:
        found["simulated"] = False
    if change.note is not None:
        found["note"] = change.note
    return found


def _change(change: FieldChange) -> dict[str, Any]:
    match change:
        case Added(path=path, new=new):
            return {"path": path, "new": new}
        case Removed(path=path, old=old):
            return {"path": path, "old": old}
        case Changed(path=path, old=old, new=new):
            return {"path": path, "old": old, "new": new}
        case Reordered(path=path, old=before, new=after):
            return {"path": path, "reordered": True, "old": list(before), "new": list(after)}
        case SecretChanged(path=path, action=action):
            found: dict[str, Any] = {"path": path, "secret": True}
            if action != "added":
                found["old"] = SECRET
            if action != "removed":
                found["new"] = CHANGED if action == "changed" else SECRET
            return found


def _conflict(conflict: Conflict) -> dict[str, Any]:
    hidden = conflict.ref.kind == "Secret" and conflict.ref.group == "" and conflict.path.startswith("$.data")
    return {
        "id": conflict.ref.id,
        "path": conflict.path,
        "manager": conflict.manager,
        "subresource": conflict.subresource,
        "wanted": SECRET if hidden else conflict.desired,
        "live": SECRET if hidden else conflict.live,
        "verdict": conflict.verdict,
    }
