"""What would change: field, resource, package, wave."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias

from kixbot.model.drift import Drift
from kixbot.model.resource import Ref


@dataclass(frozen=True, slots=True, kw_only=True)
class Added:
    """A field that is new."""

    path: str
    new: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Removed:
    """A field that is gone."""

    path: str
    old: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Changed:
    """A field whose value moved."""

    path: str
    old: Any
    new: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Reordered:
    """A list whose items are the same in another order; `old` and `new` are the items' keys in order."""

    path: str
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SecretChanged:
    """A secret value that moved, came or went. The values are nowhere in this value."""

    path: str
    action: Literal["added", "removed", "changed"]


FieldChange: TypeAlias = Added | Removed | Changed | Reordered | SecretChanged

Action = Literal["added", "changed", "removed", "adopted", "recreated"]
Reason = Literal["content", "dependency"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ResourceChange:
    """One resource that would change. `reason` "dependency": only its identity moved (hash bump)."""

    ref: Ref
    action: Action
    reason: Reason = "content"
    changes: tuple[FieldChange, ...] = ()
    simulated: bool = True
    note: str | None = None
    """Why it is "not simulated", or who manages an adopted object."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackageChange:
    """One package that would change; `id` is `namespace/name`, `(cluster)/(manifests)` for loose objects."""

    id: str
    namespace: str
    name: str
    action: Literal["added", "changed", "removed"]
    old_version: str | None = None
    new_version: str | None = None
    resources: tuple[ResourceChange, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Conflict:
    """A field that kix wants and another manager holds."""

    ref: Ref
    path: str
    manager: str
    subresource: str | None
    live: Any
    desired: Any
    verdict: Literal["ceded", "conflict"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PruneCandidate:
    """An object the record lists and the build does not. `kept` says why it stays, None when it may go."""

    ref: Ref
    kept: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Tracker:
    """Another tool that keeps objects of the build: what it does to them, and the commands that let them go."""

    tool: Literal["Argo CD", "Flux"]
    owner: str
    refs: tuple[Ref, ...]
    does: tuple[str, ...]
    commands: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wave:
    """Resources applied together; `number` 0 is Namespaces, CRDs and what brings them."""

    number: int
    refs: tuple[Ref, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The change from one build (or the live cluster) to another, grouped by package.

    `old_activation` None: nothing was there. `same_name_secrets`: the names are equal and only Secret values differ.
    `hash` is what review and deploy are compared by: equal hashes, the very same change. `unchanged` counts packages.
    """

    cluster: str | None
    old_activation: str | None
    new_activation: str | None
    packages: tuple[PackageChange, ...] = ()
    unchanged: int = 0
    same_name_secrets: bool = False
    conflicts: tuple[Conflict, ...] = ()
    waves: tuple[Wave, ...] = ()
    prune: tuple[PruneCandidate, ...] = ()
    drift: Drift = field(default_factory=Drift)
    trackers: tuple[Tracker, ...] = ()
    hash: str = ""
    facts: Mapping[str, object] = field(default_factory=dict)
