"""Faults that several rules find, each worded once."""

from collections.abc import Sequence
from typing import Any

from kixbot.checks.schema.node import Fault, Raw
from kixbot.checks.schema.values import shown

UNKNOWN_FIELD = "schema/unknown-field"
UNKNOWN_KIND = "schema/unknown-kind"
TYPE = "schema/type"
REQUIRED = "schema/required"
ENUM = "schema/enum"
DUPLICATE = "schema/duplicate-item"
CRD = "schema/crd"
VALUE = "schema/value"
CEL = "schema/cel"
NAME = "api/name"
LABEL = "api/label"
FORMAT = "api/format"
RANGE = "api/range"
ONE_OF = "api/one-of"
CONFLICT = "api/conflict"
UNIQUE = "api/unique"
SELECTOR = "api/selector"
RESOURCES = "api/resources"
VOLUME_MOUNT = "api/volume-mount"


def missing(key: str, at: Raw) -> Fault:
    """A field that must be there, and not empty."""
    return Fault(rule=REQUIRED, at=at, text=f"has no {key} in {dotted(at)}", hint=f"add {key}")


def not_allowed(value: Any, allowed: Sequence[Any], at: Raw) -> Fault:
    """A value that is not one of those that may stand there."""
    close = next((one for one in allowed if str(one).lower() == str(value).lower()), None)
    allowed = [one for one in allowed if one != ""]
    names = ", ".join(str(one) for one in allowed)
    return Fault(
        rule=ENUM,
        at=at,
        text=f"has {shown(value)} in {dotted(at)}, which takes {'one of ' * (len(allowed) > 1)}{names}",
        hint=f'did you mean "{close}"?' if close is not None else f"write {'one of ' * (len(allowed) > 1)}{names}",
    )


def dotted(at: Raw) -> str:
    """A place without its list items: `spec.template.spec.containers`; "the object" at the root."""
    return ".".join(shown_key(step) for step in at if isinstance(step, str))[-200:] or "the object"


def shown_key(key: str) -> str:
    """A key for a message: cut, on one line."""
    return key if len(key) <= 80 and key.isprintable() else ascii(key)[1:77] + "…"
