"""What readiness is, and the questions many kinds share. Pure: a live body in, a judgement out."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any


class State(Enum):
    """READY goes on, WAITING waits, FAILED stops, PASSED goes on though it is not up (paused, cannot bind yet)."""

    READY = "ready"
    WAITING = "waiting"
    FAILED = "failed"
    PASSED = "passed"


@dataclass(frozen=True, slots=True)
class Readiness:
    """`reason` says in words what is missing, why it failed, or why it is not waited for."""

    state: State
    reason: str = ""


READY = Readiness(State.READY)


def waiting(reason: str) -> Readiness:
    """Not yet."""
    return Readiness(State.WAITING, reason)


def failed(reason: str) -> Readiness:
    """Not without somebody's help."""
    return Readiness(State.FAILED, reason)


def passed(reason: str) -> Readiness:
    """Not waited for, and said so."""
    return Readiness(State.PASSED, reason)


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What a judgement needs beside the object.

    `late_binding` are storage classes that bind a claim when a pod uses it, "" standing for the default class.
    `condition` is the condition type this custom resource is waited for, None when it is not. `status` tells whether
    its kind has a status subresource.
    """

    late_binding: frozenset[str] = field(default_factory=frozenset)
    condition: str | None = None
    status: bool = True


def conditions(body: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    """status.conditions by type."""
    found = (body.get("status") or {}).get("conditions") or ()
    return {str(one.get("type")): one for one in found if isinstance(one, Mapping)}


def condition_is(body: Mapping[str, Any], kind: str, value: str = "True") -> bool:
    """Whether the condition says this."""
    return bool(conditions(body).get(kind, {}).get("status") == value)


def reason_of(condition: Mapping[str, Any]) -> str:
    """`Reason: message` of a condition, as far as it has them."""
    return ": ".join(str(condition[key]) for key in ("reason", "message") if condition.get(key))


def count(status: Mapping[str, Any], name: str) -> int:
    """A number of status; absent is 0, as the API server leaves zeros out."""
    return int(status.get(name) or 0)


def is_observed(body: Mapping[str, Any]) -> bool:
    """Whether the controller has seen this generation; kinds that do not say count as seen."""
    observed = (body.get("status") or {}).get("observedGeneration")
    generation = (body.get("metadata") or {}).get("generation")
    return observed is None or generation is None or int(observed) >= int(generation)
