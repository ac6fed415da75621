"""Records: Activation objects with their parts, as the cluster keeps them.

"The record" of a cluster is the rows of its current Activation and of every Applying or Failed one, so that what a
killed or stopped deploy made is never lost sight of.
"""

import base64
import secrets
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from kixbot.cluster import receipts
from kixbot.cluster.crds import ACTIVATION
from kixbot.cluster.faults import ExistsError, ForbiddenError, NotFoundError
from kixbot.cluster.interface import ApiKind, Cluster
from kixbot.cluster.locks import LeaseState, read_lease
from kixbot.cluster.parts import pack, part_body, part_name
from kixbot.cluster.record_rows import CONFIG_MAP, parts_of, read_rows
from kixbot.model.activation import CLUSTER_LABEL, Activation, Hold, Phase, RecordRow, record_manager
from kixbot.model.receipt import Receipt
from kixbot.model.resource import Ref

SECRET: Final = ApiKind(group="", version="v1", kind="Secret", plural="secrets", namespaced=True)
NAMESPACE: Final = ApiKind(
    group="", version="v1", kind="Namespace", plural="namespaces", namespaced=False, subresources=("status",)
)
KEY_NAME: Final = "kix-hash-key"
HISTORY: Final = 20
OPEN_PHASES: Final = (Phase.APPLYING, Phase.FAILED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """What the cluster says of earlier deploys. `activations` are all, oldest first; rows only of those that count.

    `key` is the key of Secret hashes, None before the first deploy.
    """

    lease: LeaseState
    activations: tuple[Activation, ...] = ()
    current: Activation | None = None
    open: tuple[Activation, ...] = ()
    key: bytes | None = None

    @property
    def counting(self) -> tuple[Activation, ...]:
        """The current record and the open ones."""
        return (*((self.current,) if self.current else ()), *self.open)

    def rows(self) -> dict[Ref, tuple[RecordRow, ...]]:
        """Every row that counts, by object."""
        found: dict[Ref, tuple[RecordRow, ...]] = {}
        for activation in self.counting:
            for row in activation.rows:
                found[row.ref] = (*found.get(row.ref, ()), row)
        return found


class Records:
    """The records of the cluster called `cluster` in `namespace`."""

    def __init__(self, edge: Cluster, *, cluster: str, namespace: str) -> None:
        self._edge, self._cluster, self._namespace = edge, cluster, namespace
        self._manager = record_manager(cluster)

    def read(self) -> Record:
        """One GET of the Lease, one LIST of Activations, one LIST of parts per record that counts, one GET of the key.

        Raises ClusterError when a part is damaged.
        """
        if self._edge.discover().find(ACTIVATION.api_version, ACTIVATION.kind) is None:
            return Record(lease=LeaseState())
        lease = read_lease(self._edge, name=self._cluster, namespace=self._namespace)
        listed = self._edge.listing(
            ACTIVATION, namespace=self._namespace, label_selector=f"{CLUSTER_LABEL}={self._cluster}"
        )
        found = sorted((activation_of(body) for body in listed.items), key=lambda one: (one.created_at or "", one.name))
        current = next((one for one in found if one.name == lease.current), None)
        opened = tuple(one for one in found if one.phase in OPEN_PHASES and one is not current)
        return Record(
            lease=lease,
            activations=tuple(found),
            current=None if current is None else self._with_rows(current),
            open=tuple(self._with_rows(one) for one in opened),
            key=self._readable_key(),
        )

    def _with_rows(self, activation: Activation) -> Activation:
        return replace(activation, rows=read_rows(self._edge, activation.name, namespace=self._namespace))

    def _readable_key(self) -> bytes | None:
        """The key, None also for those who may not read it: they dry-run Secrets instead of comparing hashes."""
        try:
            return self._find_key()
        except ForbiddenError:
            return None

    def _find_key(self) -> bytes | None:
        try:
            body = self._edge.get(SECRET, KEY_NAME, self._namespace)
        except NotFoundError:
            return None
        return base64.b64decode((body.get("data") or {}).get("key") or "")

    def ensure_namespace(self) -> None:
        """Make the record namespace where it is missing."""
        try:
            self._edge.get(NAMESPACE, self._namespace)
        except NotFoundError:
            body = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self._namespace}}
            self._edge.apply(NAMESPACE, body, manager=self._manager)

    def ensure_key(self) -> bytes:
        """The key of Secret hashes, made on the first deploy. It never leaves the cluster but for hashing."""
        found = self._find_key()
        if found is not None:
            return found
        key = secrets.token_bytes(32)
        body = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": KEY_NAME, "namespace": self._namespace},
            "type": "Opaque",
            "data": {"key": base64.b64encode(key).decode()},
        }
        try:
            self._edge.create(SECRET, body, manager=self._manager)
        except ExistsError:
            return self._find_key() or key
        return key

    def write(self, activation: Activation) -> Activation:
        """Write the Activation, its phase and all its parts; drops parts that are too many. Gives it with its uid."""
        body = self._edge.apply(
            ACTIVATION, activation_body(activation, self._namespace), manager=self._manager, force=True
        )
        self.write_rows(activation, body)
        self.write_status(activation)
        return activation_of(body)

    def write_rows(self, activation: Activation, owner: Mapping[str, Any] | None = None) -> None:
        """Write the parts alone."""
        live = owner or self._edge.get(ACTIVATION, activation.name, self._namespace)
        packed = pack(activation.rows)
        for number, text in enumerate(packed):
            body = part_body(text, number=number, owner=live, cluster=self._cluster)
            self._edge.apply(CONFIG_MAP, body, manager=self._manager, force=True)
        self._drop_parts(activation.name, len(packed))

    def _drop_parts(self, activation: str, kept: int) -> None:
        names = {part_name(activation, number) for number in range(kept)}
        listed = self._edge.listing(
            CONFIG_MAP,
            namespace=self._namespace,
            label_selector=parts_of(activation),
            metadata_only=True,
        )
        for body in listed.items:
            if body["metadata"]["name"] not in names:
                self._edge.delete(
                    CONFIG_MAP, body["metadata"]["name"], namespace=self._namespace, uid=body["metadata"]["uid"]
                )

    def write_status(self, activation: Activation, *, history: tuple[Mapping[str, Any], ...] = ()) -> None:
        """Write phase, conditions, message, receipt and history; nothing else."""
        self._edge.apply(
            ACTIVATION,
            {
                "apiVersion": ACTIVATION.api_version,
                "kind": ACTIVATION.kind,
                "metadata": {"name": activation.name, "namespace": self._namespace},
                "status": status_of(activation, history),
            },
            manager=self._manager,
            force=True,
            subresource="status",
        )

    def set_phase(self, name: str, phase: Phase, message: str = "") -> None:
        """Change one record's phase, leaving its receipt."""
        self._patch_status(name, {"phase": phase.value, "message": message, "conditions": _conditions(phase)})

    def _patch_status(self, name: str, status: Mapping[str, Any]) -> None:
        patch = {"status": status}
        self._edge.merge_patch(
            ACTIVATION, name, patch, namespace=self._namespace, manager=self._manager, subresource="status"
        )

    def release(self, name: str) -> None:
        """Take the hold off a record."""
        self._patch_status(name, {"hold": None})


def activation_body(activation: Activation, namespace: str) -> dict[str, Any]:
    """The Activation object without its status."""
    source = {
        "path": activation.source_path,
        "kind": activation.source_kind,
        "commit": activation.commit,
        "repository": activation.repository,
    }
    return {
        "apiVersion": ACTIVATION.api_version,
        "kind": ACTIVATION.kind,
        "metadata": {
            "name": activation.name,
            "namespace": namespace,
            "labels": {CLUSTER_LABEL: activation.cluster},
        },
        "spec": {
            "cluster": activation.cluster,
            "mode": "local",
            "source": {key: value for key, value in source.items() if value is not None},
            "clusterUID": activation.cluster_uid,
            "packages": list(activation.packages),
        },
    }


def status_of(activation: Activation, history: tuple[Mapping[str, Any], ...]) -> dict[str, Any]:
    """The status of an Activation as it is written."""
    status: dict[str, Any] = {
        "phase": activation.phase.value,
        "message": activation.message,
        "observedGeneration": 1,
        "conditions": _conditions(activation.phase),
    }
    if activation.partial:
        status["progress"] = {"partial": True}
    if activation.hold is not None:
        status["hold"] = {key: value for key, value in asdict(activation.hold).items() if value}
    if activation.activated_at:
        status["activatedAt"] = activation.activated_at
    if activation.receipt is not None:
        status["receipt"] = receipts.encode(activation.receipt)
    if history:
        status["history"] = [dict(one) for one in history[-HISTORY:]]
    return status


def _conditions(phase: Phase) -> list[dict[str, str]]:
    says = {
        "Ready": phase is Phase.ACTIVE,
        "Progressing": phase in (Phase.PENDING, Phase.APPLYING),
        "Degraded": phase in (Phase.DEGRADED, Phase.FAILED),
    }
    return [{"type": name, "status": str(value), "reason": phase.value} for name, value in says.items()]


def activation_of(body: Mapping[str, Any]) -> Activation:
    """An Activation object as a value, without rows."""
    metadata, spec, status = body["metadata"], body.get("spec") or {}, body.get("status") or {}
    source = spec.get("source") or {}
    receipt = status.get("receipt")
    known = {phase.value: phase for phase in Phase}
    return Activation(
        name=str(metadata["name"]),
        cluster=str(spec.get("cluster") or ""),
        phase=known.get(str(status.get("phase") or "Pending"), Phase.PENDING),
        source_path=str(source.get("path") or ""),
        source_kind=str(source.get("kind") or ""),
        commit=source.get("commit"),
        repository=source.get("repository"),
        cluster_uid=str(spec.get("clusterUID") or ""),
        packages=tuple(spec.get("packages") or ()),
        receipt=_receipt(receipt),
        message=str(status.get("message") or ""),
        activated_at=status.get("activatedAt"),
        created_at=metadata.get("creationTimestamp"),
        partial=bool((status.get("progress") or {}).get("partial")),
        hold=_hold(status.get("hold")),
        uid=str(metadata.get("uid") or ""),
        extra={"history": tuple(status.get("history") or ())},
    )


def _hold(document: Any) -> Hold | None:
    """A hold stands also where somebody wrote it by hand and left fields out."""
    if not isinstance(document, Mapping) or not document:
        return None
    until = document.get("until")
    return Hold(
        who=str(document.get("who") or "somebody"),
        why=str(document.get("why") or "no reason given"),
        since=str(document.get("since") or ""),
        until=None if until is None else str(until),
    )


def _receipt(document: Any) -> Receipt | None:
    return receipts.decode(document) if isinstance(document, Mapping) and document else None
