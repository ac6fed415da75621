"""What differs in the cluster from what kix applied: by field, with who wrote it and when."""

from dataclasses import dataclass
from enum import Enum
from typing import Any, Literal, TypeAlias

from kixbot.model.resource import Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A value that may be shown."""

    value: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """The keys of a list's items, in order."""

    keys: tuple[str, ...]


class Unknown(Enum):
    """Why there is no value to show."""

    UNAVAILABLE = "old value not available"  # no build at hand has the recorded content
    REMOVED = "removed"
    SECRET = "secret"  # noqa: S105  it stands for a value and is none
    UNREAD = "not read"  # the object was listed by its metadata alone


Shown: TypeAlias = Known | Order | Unknown

FieldDriftKind = Literal["changed", "removed", "reordered", "ownership", "added"]


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldDrift:
    """One field. `applied` is what was sent, `live` what stands there now; `manager` None: not recorded.

    "ownership": the value is the applied one, but kix holds the field no more. "added": somebody set a field that kix
    never applied; `applied` then says nothing.
    """

    path: str
    kind: FieldDriftKind
    live: Shown
    applied: Shown = Unknown.UNAVAILABLE
    manager: str | None = None
    subresource: str | None = None
    time: str | None = None


ResourceDriftState = Literal["changed", "deleted", "replaced", "disowned", "added"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceDrift:
    """One object. "deleted": a deploy will create it; "replaced": another object has its name; "disowned": its record
    of field managers was reset or taken over as a whole, so kix holds no field of it.
    """

    ref: Ref
    package: str | None
    state: ResourceDriftState
    fields: tuple[FieldDrift, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Drift:
    """`resources` drifted; `additions` are fields that people added by hand beside those of kix, which is no drift."""

    resources: tuple[ResourceDrift, ...] = ()
    additions: tuple[ResourceDrift, ...] = ()

    @property
    def lacks_values(self) -> bool:
        """Whether any applied value is not available from the builds at hand."""
        return any(
            field.applied is Unknown.UNAVAILABLE and field.kind != "added"
            for resource in self.resources
            for field in resource.fields
        )
