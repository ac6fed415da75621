"""Drift as the versioned document that other programs read (`docs/schemas/drift.json`)."""

import json
from collections.abc import Iterable
from typing import Any, assert_never

from kixbot.model.drift import Drift, FieldDrift, Known, Order, ResourceDrift, Shown, Unknown
from kixbot.output.plan_values import CHANGED, SECRET

SCHEMA = 1


def text(cluster: str, activation: str | None, drift: Drift) -> str:
    """The document as JSON text, in stable order."""
    document = {
        "schema": SCHEMA,
        "cluster": cluster,
        "activation": activation,
        "clean": not drift.resources,
        "drift": resources(drift.resources),
        "additions": resources(drift.additions),
    }
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def resources(found: Iterable[ResourceDrift]) -> list[dict[str, Any]]:
    """The objects; `applied` and `live` are left out where there is no value to tell."""
    return [
        {
            "id": one.ref.id,
            "package": one.package,
            "state": one.state,
            "fields": [_field(field) for field in one.fields],
        }
        for one in found
    ]


def _field(field: FieldDrift) -> dict[str, Any]:
    found: dict[str, Any] = {"path": field.path, "kind": field.kind}
    if field.kind != "added":
        found |= _value("applied", field.applied)
    changed = field.live is Unknown.SECRET and field.kind == "changed"
    found |= {"live": CHANGED} if changed else _value("live", field.live)
    if Unknown.SECRET in (field.live, field.applied):
        found["secret"] = True
    return {**found, "manager": field.manager, "subresource": field.subresource, "time": field.time}


def _value(name: str, shown: Shown) -> dict[str, Any]:
    match shown:
        case Known(value=value):
            return {name: value}
        case Order(keys=keys):
            return {name: list(keys)}
        case Unknown.SECRET:
            return {name: SECRET}
        case Unknown():
            return {}
        case _:
            assert_never(shown)
