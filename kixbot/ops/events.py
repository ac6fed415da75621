"""What a deploy says while it runs. The terminal, the JSON log, the bot and the tests only consume these."""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from kixbot.model.activation import Phase
from kixbot.model.plan import Conflict, Plan
from kixbot.model.receipt import Receipt
from kixbot.model.resource import Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Planned:
    """The plan this deploy carries out, before anything is written."""

    plan: Plan


@dataclass(frozen=True, slots=True, kw_only=True)
class Installed:
    """A custom resource definition of kix was installed."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Recorded:
    """The record was written with this phase."""

    activation: str
    phase: Phase


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveStarted:
    """A wave with changes begins."""

    wave: int
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """An object was written. `refreshed`: only its bookkeeping."""

    ref: Ref
    wave: int
    action: Literal["created", "changed", "adopted", "refreshed"]
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """An object is not up yet; said again only when the reason changes."""

    ref: Ref
    wave: int
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Ready:
    """An object is up. `note` says why it was not waited for, where it was not."""

    ref: Ref
    wave: int
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """An object could not be written or did not come up.

    `pod`, `log` and `event` are the pod's reason, its last log line and the last event, "" where there is none.
    `not_started` are the objects that depend on it and were not written.
    """

    ref: Ref
    wave: int
    reason: str
    pod: str = ""
    log: str = ""
    event: str = ""
    not_started: tuple[Ref, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflicted:
    """Fields of an object belong to other managers; the deploy stops here."""

    ref: Ref
    wave: int
    conflicts: tuple[Conflict, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """An object that left the build was deleted."""

    ref: Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """An object that left the build stays."""

    ref: Ref
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Warned:
    """Something to know that stops nothing."""

    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finished:
    """The deploy ended; `phase` is the record's."""

    phase: Phase
    receipt: Receipt


Event: TypeAlias = (
    Planned
    | Installed
    | Recorded
    | WaveStarted
    | Applied
    | Waiting
    | Ready
    | Failed
    | Conflicted
    | Pruned
    | Kept
    | Warned
    | Finished
)
