"""A build: one cluster, evaluated, with the identity of every resource."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

from kixbot.model.resource import Location, Ref, Resource


class EdgeKind(Enum):
    """How strongly one resource points at another (design: identities and waves).

    HARD counts in the hash and in the order. SOFT (selectors) counts in neither, but places a Service after its
    workloads. ORDER counts in the order only.
    """

    HARD = "hard"
    SOFT = "soft"
    ORDER = "order"


@dataclass(frozen=True, slots=True, order=True)
class Edge:
    """`source` points at `target` from the field `path` (`$.spec…`, empty when declared, not written)."""

    source: Ref
    target: Ref
    kind: EdgeKind = field(compare=False)
    path: str = ""


@dataclass(frozen=True, slots=True, order=True)
class DanglingReference:
    """A field that names an object which is neither in the build nor declared external."""

    source: Ref
    target: Ref
    path: str
    optional: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """Who fills a role of the cluster; `provider` is the instance id when `kind` is "provider"."""

    kind: Literal["builtin", "absent", "external", "provider"]
    provider: str | None = None


ROLES = (
    "loadBalancer", "storage", "ingress", "gateway", "monitoring",
    "certificates", "dns", "cni", "autoscaler", "policy",
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterFacts:
    """What is true of the cluster itself: its flavor's facts and what the definition says over them."""

    name: str
    flavor: str = "generic"
    kubernetes_version: str = "1.34"
    availability: Literal["none", "zone"] = "none"
    zones: tuple[str, ...] = ()
    nodes: int | None = None
    roles: Mapping[str, Binding] = field(default_factory=dict)
    storage_classes: tuple[str, ...] = ()
    ingress_classes: tuple[str, ...] = ()
    priority_classes: tuple[str, ...] = ()
    runtime_classes: tuple[str, ...] = ()
    external_kinds: frozenset[str] = frozenset()
    """Kinds of which any instance counts as existing outside (Namespaces and classes of a bare path)."""
    custom_kinds_external: bool = False
    """True for a bare path: a kind without a CRD in the build counts as external."""


@dataclass(frozen=True, slots=True, kw_only=True)
class External:
    """An object outside the build: `namespace` None means any; `keys` None means unknown; `verify`: at deploy."""

    kind: str
    name: str
    namespace: str | None = None
    group: str | None = None
    keys: tuple[str, ...] | None = None
    verify: bool = False
    origin: Location | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A package instance of a definition. `id` is `namespace/name`."""

    id: str
    namespace: str
    name: str
    package: str
    version: str | None
    provides: tuple[str, ...] = ()
    depends_on: tuple[str, ...] = ()
    added: bool = False
    """True when kix instantiated it from availablePackages to satisfy a dependency."""
    brings_crds: bool = False
    origin: Location | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assertion:
    """Something the definition or its library says must hold and does not; fails eval (exit 3)."""

    message: str
    package: str | None = None
    ref: Ref | None = None
    hint: str | None = None
    origin: Location | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectedFault:
    """A fault found while evaluating that is a finding, not a stop: a wrong key or port of `.out`."""

    rule: str
    message: str
    ref: Ref | None = None
    package: str | None = None
    hint: str | None = None
    path: str = ""
    origin: Location | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """One entry of `scorecard.ignore`."""

    rule: str
    resource: str
    reason: str
    until: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ScorecardSettings:
    """`fail`: rule ids (or `group/*`) whose warnings fail; `ignore`: suppressions."""

    fail: tuple[str, ...] = ()
    ignore: tuple[Suppression, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PinUse:
    """A package asked for image `key`; `reference` is what the manifest got, `pinned` tells whether by digest."""

    key: str
    reference: str
    pinned: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceInfo:
    """Where a build came from. `commit` is 40 hex or None (a working tree); `clean` None when unknown."""

    kind: Literal["nix", "flake", "manifests", "kustomize", "derivation"]
    path: str
    commit: str | None = None
    branch: str | None = None
    remote: str | None = None
    clean: bool | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Evaluated:
    """What a source gives before graph and identity: the common currency of every kind of source."""

    cluster: ClusterFacts
    source: SourceInfo
    resources: tuple[Resource, ...]
    packages: tuple[Package, ...] = ()
    externals: tuple[External, ...] = ()
    assertions: tuple[Assertion, ...] = ()
    faults: tuple[CollectedFault, ...] = ()
    scorecard: ScorecardSettings = field(default_factory=ScorecardSettings)
    pins_used: tuple[PinUse, ...] = ()
    marked: bool = False
    """True when references came as markers (Nix definitions): then table edges are order-only."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Identity:
    """A resource's content path and body: `path` is the store path, `hash` its 32 characters."""

    path: str
    body: str
    references: tuple[str, ...]

    @property
    def hash(self) -> str:
        """The hash part of the path, 32 characters of nix base-32."""
        return self.path.removeprefix("/nix/store/")[:32]


@dataclass(frozen=True, slots=True, kw_only=True)
class ActivationIdentity:
    """The root: `name` is `<cluster>-<12 characters>`, `path` its store path, `body` the JSON list."""

    name: str
    path: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """A whole cluster, built: resources sorted by id, edges, identities, and what was noticed on the way.

    `duplicates` are ids that stand more than once: equal ones collapse to an info, differing ones fail eval.
    `cycles` are hard cycles of a marked build (fail eval); `softened` are hard edges of plain sources that became
    soft because they closed a cycle. `activation` is None when a cycle or a differing duplicate stands.
    """

    evaluated: Evaluated
    resources: tuple[Resource, ...]
    edges: tuple[Edge, ...]
    dangling: tuple[DanglingReference, ...]
    identities: Mapping[Ref, Identity]
    activation: ActivationIdentity | None
    cycles: tuple[tuple[Ref, ...], ...] = ()
    softened: tuple[Edge, ...] = ()
    duplicates: tuple[tuple[Resource, Resource], ...] = ()

    @property
    def cluster(self) -> ClusterFacts:
        """The cluster's facts."""
        return self.evaluated.cluster

    @property
    def by_ref(self) -> dict[Ref, Resource]:
        """Resources by what they are called."""
        return {resource.ref: resource for resource in self.resources}
