"""What a resource is called, where it was written, and what it says."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Body = Mapping[str, Any]
"""A Kubernetes body: decoded JSON with string keys. Never mutated; copy before changing."""

# API groups of kinds that kube-apiserver itself serves (1.28 to 1.37, `kubectl api-resources` of a bare control
# plane). Their group is left out of ids; custom resources always carry theirs.
BUILTIN_GROUPS = frozenset(
    {
        "",
        "admissionregistration.k8s.io",
        "apiextensions.k8s.io",
        "apiregistration.k8s.io",
        "apps",
        "authentication.k8s.io",
        "authorization.k8s.io",
        "autoscaling",
        "batch",
        "certificates.k8s.io",
        "coordination.k8s.io",
        "discovery.k8s.io",
        "events.k8s.io",
        "flowcontrol.apiserver.k8s.io",
        "internal.apiserver.k8s.io",
        "networking.k8s.io",
        "node.k8s.io",
        "policy",
        "rbac.authorization.k8s.io",
        "resource.k8s.io",
        "scheduling.k8s.io",
        "storage.k8s.io",
        "storagemigration.k8s.io",
    }
)


@dataclass(frozen=True, slots=True, order=True)
class Ref:
    """Which object: group and kind, namespace ("" when cluster-scoped) and name. Orders by (kind, group, ns, name)."""

    kind: str
    group: str
    namespace: str
    name: str

    @property
    def id(self) -> str:
        """`Kind[.group]/name[@namespace]`; the group is left out for built-in kinds."""
        return f"{self.kind_group}/{self.name}{self._at}"

    @property
    def short(self) -> str:
        """`Kind/name[@namespace]`, what people see where no two groups share the kind."""
        return f"{self.kind}/{self.name}{self._at}"

    @property
    def plain(self) -> str:
        """`Kind namespace/name` (`Kind name` when cluster-scoped), the form inside sentences of findings."""
        return f"{self.kind} {self.namespace}/{self.name}" if self.namespace else f"{self.kind} {self.name}"

    @property
    def kind_group(self) -> str:
        """`Kind` for built-in kinds, else `Kind.group`."""
        return self.kind if self.group in BUILTIN_GROUPS else f"{self.kind}.{self.group}"

    @property
    def _at(self) -> str:
        return f"@{self.namespace}" if self.namespace else ""


def split_api_version(api_version: str) -> tuple[str, str]:
    """`apps/v1` to (`apps`, `v1`); `v1` to (`""`, `v1`)."""
    group, slash, version = api_version.rpartition("/")
    return (group, version) if slash else ("", api_version)


@dataclass(frozen=True, slots=True, kw_only=True)
class Location:
    """A place in a source. `file` is relative to the source's tree, `line` counts from 1."""

    file: str
    line: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One object of a build.

    `manifest` is what the author wrote, normalised (see `identity.normalize`). `hard`, `soft` and `after` are the
    references a Nix definition declared by markers; for plain sources they are empty and the edges table finds them.
    `cede` are field paths left to other managers. `ready` names a condition type that means ready, where declared.
    `generated` lists the dotted key paths whose values are made at apply (`scope.mkSecret`). `find_line` gives the
    line of a field path (`$.spec.replicas`) or of its nearest parent, where the source is text.
    """

    ref: Ref
    api_version: str
    manifest: Body
    package: str | None = None
    origin: Location | None = None
    hard: tuple[Ref, ...] = ()
    soft: tuple[Ref, ...] = ()
    after: tuple[Ref, ...] = ()
    cede: tuple[str, ...] = ()
    ready: str | None = None
    generated: tuple[str, ...] = ()
    find_line: Callable[[str], int | None] | None = field(default=None, compare=False, repr=False)

    def place(self, path: str = "$") -> Location | None:
        """Where that field was written: the file and the nearest known line. None when the source is unknown."""
        if self.origin is None or self.find_line is None:
            return self.origin
        return Location(file=self.origin.file, line=self.find_line(path) or self.origin.line)

    @property
    def labels(self) -> Mapping[str, str]:
        """metadata.labels, empty when absent or no map."""
        return _map(self.manifest.get("metadata", {}).get("labels"))

    @property
    def annotations(self) -> Mapping[str, str]:
        """metadata.annotations, empty when absent or no map."""
        return _map(self.manifest.get("metadata", {}).get("annotations"))


def _map(value: object) -> Mapping[str, str]:
    return value if isinstance(value, Mapping) else {}
