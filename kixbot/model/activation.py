"""The record of a deploy as the cluster keeps it: Activation, its parts, the current pointer."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any

from kixbot.model.receipt import Receipt
from kixbot.model.resource import Ref

GROUP = "kix.run"
VERSION = "v1alpha1"
API_VERSION = f"{GROUP}/{VERSION}"
FIELD_MANAGER = "kix"
SECRET_MANAGER = "kix-secret"  # noqa: S105  the name of a field manager
DEFAULT_RECORD_NAMESPACE = "kix-system"
CLUSTER_LABEL = "kix.run/cluster"
"""On what is of a record (Activation, parts, Lease): the cluster's name."""
ACTIVATION_LABEL = "kix.run/activation"
"""On the parts of a record: the Activation's name."""


def record_manager(cluster: str) -> str:
    """The field manager of bookkeeping (labels and annotations), one per cluster."""
    return f"kix-record.{cluster}"


def cluster_label(cluster: str) -> str:
    """The label that marks an object as held by this cluster."""
    return f"cluster.kix.run/{cluster}"


class Phase(Enum):
    """Where an activation stands; which one is current stands in the Lease, and phases follow from it."""

    PENDING = "Pending"
    APPLYING = "Applying"
    ACTIVE = "Active"
    DEGRADED = "Degraded"
    FAILED = "Failed"
    SUPERSEDED = "Superseded"


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordRow:
    """One object of a record. `left_out` are leaves not sent because another manager holds a ceded field.

    `owned` is the set of owned paths as canonical FieldsV1 JSON; `value_hash` is of the owned projection (see
    `diff.baseline`); `resource_version` is that of the last answer or watch event. Empty before the object was applied.
    `cede` are the paths the build leaves to others. A row without `identity` is a leftover: no longer in the build, not
    yet deleted.
    """

    ref: Ref
    api_version: str
    uid: str = ""
    content_hash: str = ""
    identity: str = ""
    package: str | None = None
    left_out: tuple[str, ...] = ()
    resource_version: str = ""
    owned: str = ""
    value_hash: str = ""
    cede: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """What refuses deploys until it is released or, where `until` is given, that time (RFC 3339) has passed."""

    who: str
    why: str
    since: str = ""
    until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Activation:
    """An Activation object with its rows."""

    name: str
    cluster: str
    phase: Phase
    source_path: str
    source_kind: str
    commit: str | None
    repository: str | None
    cluster_uid: str
    packages: tuple[str, ...] = ()
    rows: tuple[RecordRow, ...] = ()
    receipt: Receipt | None = None
    message: str = ""
    activated_at: str | None = None
    created_at: str | None = None
    partial: bool = False
    hold: Hold | None = None
    uid: str = ""
    extra: Mapping[str, Any] = field(default_factory=dict)
