"""The objects of the embedded cluster, and what its API server does around every write."""

import uuid
from collections import Counter
from collections.abc import Callable, Mapping
from copy import deepcopy
from pathlib import Path
from typing import Any

from kixbot.cluster import memory_fields
from kixbot.cluster.faults import KindNotServedError, NamespaceMissingError, NotFoundError
from kixbot.cluster.interface import ApiKind, Discovery, discovery_of
from kixbot.cluster.memory_controller import CONTROLLER, next_status
from kixbot.cluster.memory_fields import Writer
from kixbot.cluster.memory_kinds import BUILTIN_KINDS, WITHOUT_GENERATION, kinds_of_crd
from kixbot.cluster.memory_rules import builtin, check_size, is_custom, name_of, spec_of, utc_now
from kixbot.cluster.memory_store import DictStore, FolderStore, Place, Store
from kixbot.cluster.selectors import matches_labels

FIRST_NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
_CRD = "CustomResourceDefinition"

Readiness = Callable[[Mapping[str, Any]], Mapping[str, Any] | None]


class MemoryObjects:
    """What `MemoryCluster`'s verbs are made of. `status_of` stands for the controller where it gives a status."""

    def __init__(
        self,
        folder: Path | None = None,
        *,
        now: Callable[[], str] = utc_now,
        status_of: Readiness | None = None,
    ) -> None:
        self.name = "embedded"
        self.requests: Counter[str] = Counter()
        self._store: Store = DictStore() if folder is None else FolderStore(folder)
        self._now = now
        self._status_of = status_of
        self._dirty = True
        self._known: Discovery | None = None
        with self._store.transaction():
            if self._store.find(Place("", "namespaces", "", "kube-system")) is None:
                for namespace in FIRST_NAMESPACES:
                    body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
                    self._save(builtin("Namespace"), None, body, self._writer("kube-apiserver", builtin("Namespace")))

    def _watched(self, kind: ApiKind, namespace: str, label_selector: str) -> list[dict[str, Any]]:
        with self._store.transaction():
            self._reconcile()
            return [body for body in self._bodies(kind, namespace) if matches_labels(body, label_selector)]

    def _discovery(self) -> Discovery:
        crds = builtin(_CRD)
        custom = [found for body in self._bodies(crds, "") for found in kinds_of_crd(body)]
        return discovery_of((*BUILTIN_KINDS, *custom))

    def _require_served(self, kind: ApiKind) -> None:
        if is_custom(kind) and self._discovery().find(kind.api_version, kind.kind) is None:
            raise KindNotServedError(f"{kind.kind}: the API server does not serve this kind", status=404)

    def _bodies(self, kind: ApiKind, namespace: str) -> list[dict[str, Any]]:
        found = (self._store.find(place) for place in self._store.places(kind.group, kind.plural, namespace))
        return [body for body in found if body is not None]

    def _find(self, kind: ApiKind, name: str, namespace: str) -> dict[str, Any] | None:
        return self._store.find(Place(kind.group, kind.plural, namespace if kind.namespaced else "", name))

    def _get(self, kind: ApiKind, name: str, namespace: str) -> dict[str, Any]:
        self._require_served(kind)
        live = self._find(kind, name, namespace)
        if live is None:
            raise NotFoundError(f'{kind.plural} "{name}" not found', status=404)
        return live

    def _writer(self, manager: str, kind: ApiKind, operation: str = "Update", subresource: str = "") -> Writer:
        return Writer(manager=manager, operation=operation, subresource=subresource, api_version=kind.api_version,
                      time=self._now())  # fmt: skip

    def _save(
        self,
        kind: ApiKind,
        live: Mapping[str, Any] | None,
        after: dict[str, Any],
        writer: Writer,
        *,
        dry_run: bool = False,
        owned: bool = False,
    ) -> dict[str, Any]:
        name, namespace = name_of(kind, after)
        if kind.namespaced and self._store.find(Place("", "namespaces", "", namespace)) is None:
            raise NamespaceMissingError(f'namespaces "{namespace}" not found', status=404)
        body = after if owned else memory_fields.update(live, after, writer, custom=is_custom(kind))
        check_size(kind, body)
        metadata = body["metadata"]
        before = (live or {}).get("metadata") or {}
        metadata["uid"] = before.get("uid") or str(uuid.uuid4())
        metadata["creationTimestamp"] = before.get("creationTimestamp") or self._now()
        if kind.kind not in WITHOUT_GENERATION:
            metadata["generation"] = before.get("generation", 0) + int(live is None or spec_of(live) != spec_of(body))
        metadata["resourceVersion"] = before.get("resourceVersion", "")
        if live is not None and body == live:
            return body
        metadata["resourceVersion"] = str(self._store.version() + 1)
        if not dry_run:
            metadata["resourceVersion"] = str(self._store.next_version())
            self._dirty = self._dirty or writer.manager != CONTROLLER
            self._store.write(Place(kind.group, kind.plural, namespace if kind.namespaced else "", name), body)
        return deepcopy(body)

    def _reconcile(self) -> None:
        if not self._dirty and self._status_of is None:
            return
        self._dirty = False
        for kind in self._discovery().kinds:
            if kind.has_status:
                for body in self._bodies(kind, ""):
                    self._reconcile_one(kind, body)

    def _reconcile_one(self, kind: ApiKind, body: dict[str, Any]) -> None:
        said = self._status_of(body) if self._status_of else None
        status = (
            next_status(body, has_status=True, custom=is_custom(kind))
            if said is None
            else (dict(said) if said != body.get("status", {}) else None)
        )
        if status:
            self._save(kind, body, {**body, "status": status}, self._writer(CONTROLLER, kind, "Update", "status"))

    def _collect_garbage(self, owner: str) -> None:
        for place in self._store.places():
            body = self._store.find(place)
            owners = ((body or {}).get("metadata") or {}).get("ownerReferences") or ()
            if body is not None and any(reference.get("uid") == owner for reference in owners):
                self._store.remove(place)
                self._collect_garbage(body["metadata"]["uid"])
