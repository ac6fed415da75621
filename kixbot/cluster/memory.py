"""The embedded cluster: a small API server in this process, for `kixbot demo` and tests.

Honest in what kix relies on: server-side apply with field owners, conflicts and forced writes, dry-run, uid,
resourceVersion, generation, preconditions, namespaces, label selectors, watch, garbage of owners, and the size limits.
It stops there: no schema validation, no defaults, no admission, no webhooks, no conversion, no authorization, no pods,
no list order of several managers, no owners of maps that are sent empty.
A kind it does not know is "not served", as on a real one.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from kixbot.cluster import memory_fields
from kixbot.cluster.faults import ExistsError, NotFoundError
from kixbot.cluster.interface import ApiKind, Discovery, Listing, Propagation, Watch
from kixbot.cluster.memory_objects import MemoryObjects
from kixbot.cluster.memory_rules import is_custom, merge_patched, metadata_of, name_of, require_same
from kixbot.cluster.memory_store import Place
from kixbot.cluster.memory_watch import MemoryWatch
from kixbot.cluster.selectors import matches_fields, matches_labels


class MemoryCluster(MemoryObjects):
    """See the module and `interface.Cluster`."""

    def discover(self, *, refresh: bool = False) -> Discovery:
        """Built-in kinds of the table and those of the CustomResourceDefinitions; counts as the two requests it is."""
        if self._known is None or refresh:
            self.requests["discovery"] += 2
            with self._store.transaction():
                self._known = self._discovery()
        return self._known

    def get(self, kind: ApiKind, name: str, namespace: str = "") -> dict[str, Any]:
        """One object."""
        self.requests["get"] += 1
        with self._store.transaction():
            self._reconcile()
            return self._get(kind, name, namespace)

    def listing(
        self,
        kind: ApiKind,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        metadata_only: bool = False,
    ) -> Listing:
        """Objects of a kind, by namespace and name."""
        self.requests["list"] += 1
        with self._store.transaction():
            self._reconcile()
            self._require_served(kind)
            items = [
                metadata_of(body) if metadata_only else body
                for body in self._bodies(kind, namespace)
                if matches_labels(body, label_selector) and matches_fields(body, field_selector)
            ]
            return Listing(items=tuple(items), resource_version=str(self._store.version()))

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
        """Server-side apply."""
        self.requests["dry-run" if dry_run else "apply"] += 1
        with self._store.transaction():
            self._reconcile()
            self._require_served(kind)
            live = self._find(kind, *name_of(kind, body))
            if live is None and subresource:
                raise NotFoundError(f'{kind.plural} "{name_of(kind, body)[0]}" not found', status=404)
            require_same(live, body)
            sent = {key: value for key, value in body.items() if (key == "status") == (subresource == "status") or
                    key in ("apiVersion", "kind", "metadata")}  # fmt: skip
            writer = self._writer(manager, kind, "Apply", subresource)
            result = memory_fields.apply(live, sent, writer, force=force, custom=is_custom(kind))
            return self._save(kind, live, result, writer, dry_run=dry_run, owned=True)

    def create(self, kind: ApiKind, body: Mapping[str, Any], *, manager: str) -> dict[str, Any]:
        """Create, owned as an update."""
        self.requests["create"] += 1
        with self._store.transaction():
            self._reconcile()
            self._require_served(kind)
            name, namespace = name_of(kind, body)
            if self._find(kind, name, namespace) is not None:
                raise ExistsError(f'{kind.plural} "{name}" already exists', status=409)
            return self._save(kind, None, deepcopy(dict(body)), self._writer(manager, kind))

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
        """JSON merge patch (RFC 7386)."""
        self.requests["patch"] += 1
        with self._store.transaction():
            self._reconcile()
            live = self._get(kind, name, namespace)
            require_same(live, patch)
            after = merge_patched(live, patch)
            if kind.has_status and subresource != "status":
                after.pop("status", None)
                after.update({"status": live["status"]} if "status" in live else {})
            return self._save(kind, live, after, self._writer(manager, kind, "Update", subresource))

    def replace_owners(
        self,
        kind: ApiKind,
        name: str,
        entries: Sequence[Mapping[str, Any]],
        *,
        namespace: str = "",
        resource_version: str,
    ) -> dict[str, Any]:
        """Owners as given; values stay."""
        self.requests["patch"] += 1
        with self._store.transaction():
            live = self._get(kind, name, namespace)
            require_same(live, {"metadata": {"resourceVersion": resource_version}})
            after = {**live, "metadata": {**live["metadata"], "managedFields": [dict(one) for one in entries]}}
            return self._save(kind, live, after, self._writer("", kind), owned=True)

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
        """Delete, with what it owns (but Orphan) and, for a Namespace, what is in it."""
        self.requests["delete"] += 1
        with self._store.transaction():
            self._reconcile()
            live = self._get(kind, name, namespace)
            guard: dict[str, Any] = {"uid": uid} | ({"resourceVersion": resource_version} if resource_version else {})
            require_same(live, {"metadata": guard})
            self._store.remove(Place(kind.group, kind.plural, namespace if kind.namespaced else "", name))
            self._store.next_version()
            if kind.kind == "Namespace":
                for place in self._store.places(namespace=name):
                    self._store.remove(place)
            if propagation != "Orphan":
                self._collect_garbage(uid)

    def watch(
        self,
        kind: ApiKind,
        *,
        namespace: str = "",
        label_selector: str = "",
        resource_version: str,
        seconds: int = 60,
    ) -> Watch:
        """Events by comparing what is there with what was."""
        self.requests["watch"] += 1
        self._require_served(kind)
        return MemoryWatch(
            lambda: self._watched(kind, namespace, label_selector), since=int(resource_version or 0), seconds=seconds
        )

    def pod_log(self, name: str, *, namespace: str, container: str, lines: int = 1) -> str:  # noqa: ARG002
        """There are no pods that run."""
        self.requests["log"] += 1
        raise NotFoundError(f'pods "{namespace}/{name}": the embedded cluster runs no containers', status=404)

    def close(self) -> None:
        """Nothing is held between requests."""
