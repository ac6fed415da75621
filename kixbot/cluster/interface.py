"""The edge to a cluster: what kix asks of an API server, as values.

Bodies are decoded JSON. Every implementation counts its requests (`requests`), so that the cost of a plan is a test.
An implementation must be safe to use from several threads.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol

from kixbot.model.resource import Ref, split_api_version


@dataclass(frozen=True, slots=True, kw_only=True)
class ApiKind:
    """A kind as the API server serves it."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool
    subresources: tuple[str, ...] = ()

    @property
    def api_version(self) -> str:
        """`apps/v1`, `v1`."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def has_status(self) -> bool:
        """Whether status is a subresource."""
        return "status" in self.subresources


@dataclass(frozen=True, slots=True, kw_only=True)
class Discovery:
    """The kinds an API server serves, preferred version of a group first."""

    kinds: tuple[ApiKind, ...]
    by_version: Mapping[tuple[str, str], ApiKind] = field(default_factory=dict)
    by_group: Mapping[tuple[str, str], ApiKind] = field(default_factory=dict)

    def find(self, api_version: str, kind: str) -> ApiKind | None:
        """The kind at exactly this apiVersion, None when it is not served."""
        return self.by_version.get((api_version, kind))

    def find_ref(self, ref: Ref, api_version: str | None = None) -> ApiKind | None:
        """The kind of `ref`, at `api_version` when given and served, else at the group's preferred version."""
        exact = self.by_version.get((api_version, ref.kind)) if api_version else None
        return exact or self.by_group.get((ref.group, ref.kind))


def discovery_of(kinds: tuple[ApiKind, ...]) -> Discovery:
    """A Discovery from kinds in order of preference."""
    by_group: dict[tuple[str, str], ApiKind] = {}
    for kind in kinds:
        by_group.setdefault((kind.group, kind.kind), kind)
    return Discovery(kinds=kinds, by_version={(kind.api_version, kind.kind): kind for kind in kinds}, by_group=by_group)


@dataclass(frozen=True, slots=True, kw_only=True)
class Listing:
    """One LIST: its items (metadata-only ones carry apiVersion, kind and metadata) and where to watch from."""

    items: tuple[dict[str, Any], ...]
    resource_version: str


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchEvent:
    """One event of a watch."""

    type: Literal["ADDED", "MODIFIED", "DELETED"]
    body: dict[str, Any]


class Watch(Protocol):
    """A running watch: iterate, and close from any thread to end it."""

    def __iter__(self) -> Iterator[WatchEvent]: ...

    def close(self) -> None: ...


Propagation = Literal["Background", "Foreground", "Orphan"]


class Cluster(Protocol):
    """A cluster. Every method raises faults of `cluster.faults`; none retries on its own but as `retry` names."""

    name: str
    """The context people chose it by."""
    requests: Counter[str]
    """Requests made so far, by verb: discovery, get, list, apply, dry-run, patch, create, delete, watch, log."""

    def discover(self, *, refresh: bool = False) -> Discovery:
        """What is served. Cached until `refresh`."""

    def get(self, kind: ApiKind, name: str, namespace: str = "") -> dict[str, Any]:
        """One object. Raises NotFoundError."""

    def listing(
        self,
        kind: ApiKind,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        metadata_only: bool = False,
    ) -> Listing:
        """Objects of a kind; all namespaces when `namespace` is empty."""

    def apply(
        self,
        kind: ApiKind,
        body: Mapping[str, Any],
        *,
        manager: str,
        force: bool = False,
        dry_run: bool = False,
        subresource: str = "",
    ) -> dict[str, Any]:
        """Server-side apply; gives the object after it. Raises ConflictError with the fields and their managers."""

    def create(self, kind: ApiKind, body: Mapping[str, Any], *, manager: str) -> dict[str, Any]:
        """Create. Raises ExistsError."""

    def merge_patch(
        self,
        kind: ApiKind,
        name: str,
        patch: Mapping[str, Any],
        *,
        namespace: str = "",
        manager: str,
        subresource: str = "",
    ) -> dict[str, Any]:
        """JSON merge patch; a metadata.resourceVersion or uid in it guards. Raises StaleError."""

    def replace_owners(
        self,
        kind: ApiKind,
        name: str,
        entries: Sequence[Mapping[str, Any]],
        *,
        namespace: str = "",
        resource_version: str,
    ) -> dict[str, Any]:
        """Replace metadata.managedFields of exactly the version that was seen. Raises StaleError."""

    def delete(
        self,
        kind: ApiKind,
        name: str,
        *,
        namespace: str = "",
        uid: str,
        resource_version: str | None = None,
        propagation: Propagation = "Background",
    ) -> None:
        """Delete exactly the object that was seen. Raises StaleError when it is another by now."""

    def watch(
        self,
        kind: ApiKind,
        *,
        namespace: str = "",
        label_selector: str = "",
        resource_version: str,
        seconds: int = 60,
    ) -> Watch:
        """Events from a LIST's resourceVersion on, at most `seconds` long. Raises GoneError."""

    def pod_log(self, name: str, *, namespace: str, container: str, lines: int = 1) -> str:
        """The last lines of a container's log. Raises NotFoundError or RequestError."""

    def close(self) -> None:
        """Give connections and files back."""


def ref_of(body: Mapping[str, Any]) -> Ref:
    """What a live body is called."""
    group, _ = split_api_version(str(body.get("apiVersion", "")))
    metadata = body.get("metadata") or {}
    return Ref(str(body.get("kind", "")), group, str(metadata.get("namespace") or ""), str(metadata.get("name") or ""))
