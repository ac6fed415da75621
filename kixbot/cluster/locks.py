"""The Lease of a cluster: who deploys now, and which record is current.

One `coordination.k8s.io` Lease per cluster, in the record namespace. It expires, so a killed deploy blocks nobody for
long; taking it over is a guarded write, so only one of two wins. The annotation `kix.run/current` names the current
record and outlives the holder.
"""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final, Self

from kixbot.cluster.faults import ExistsError, NotFoundError, RequestError, StaleError, UnreachableError
from kixbot.cluster.interface import ApiKind, Cluster
from kixbot.errors import RefusedError
from kixbot.model.activation import CLUSTER_LABEL, record_manager

LEASE: Final = ApiKind(
    group="coordination.k8s.io", version="v1", kind="Lease", plural="leases", namespaced=True, subresources=()
)
CURRENT: Final = "kix.run/current"
SECONDS: Final = 30
RENEW_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseState:
    """What a Lease says. `holder` is "" when nobody holds it; `current` names the current record."""

    holder: str = ""
    current: str | None = None
    expires: datetime | None = None
    resource_version: str = ""

    def is_free(self, now: datetime) -> bool:
        """Nobody holds it, or whoever did has not renewed in time."""
        return not self.holder or self.expires is None or self.expires <= now


def read_lease(cluster: Cluster, *, name: str, namespace: str) -> LeaseState:
    """The Lease of the cluster called `name`; an empty state when there is none yet."""
    try:
        return _state(cluster.get(LEASE, name, namespace))
    except NotFoundError:
        return LeaseState()


def _state(body: Mapping[str, Any]) -> LeaseState:
    spec = body.get("spec") or {}
    renewed = spec.get("renewTime")
    seconds = spec.get("leaseDurationSeconds") or SECONDS
    metadata = body["metadata"]
    return LeaseState(
        holder=str(spec.get("holderIdentity") or ""),
        current=(metadata.get("annotations") or {}).get(CURRENT),
        expires=None if renewed is None else _parse(str(renewed)) + timedelta(seconds=seconds),
        resource_version=str(metadata["resourceVersion"]),
    )


def _parse(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _format(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


class Lock:
    """A held Lease, renewed from a thread until released. Use as a context manager.

    `holder` says who, for people, and is unique to the process; `wait` is how long to wait for another and `renew` how
    often to renew, in seconds; `now` gives UTC.
    """

    def __init__(
        self,
        cluster: Cluster,
        *,
        name: str,
        namespace: str,
        holder: str,
        wait: float = 0.0,
        renew: float = RENEW_SECONDS,
        now: Callable[[], datetime] | None = None,
    ) -> None:
        self._cluster, self._name, self._namespace, self._holder = cluster, name, namespace, holder
        self._wait, self._every = wait, renew
        self._now = now or (lambda: datetime.now(UTC))
        self._ended = threading.Event()
        self._lost = threading.Event()
        self._thread: threading.Thread | None = None
        self.current: str | None = None

    def __enter__(self) -> Self:
        self.acquire()
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def acquire(self) -> None:
        """Take the Lease, waiting for it as long as allowed. Raises RefusedError while somebody else holds it."""
        deadline = self._now() + timedelta(seconds=self._wait)
        while True:
            state = self._try()
            if state is None:
                break
            if self._now() >= deadline:
                raise self._held(state)
            self._ended.wait(1.0)
        self._thread = threading.Thread(target=self._renew, name=f"kix-lease-{self._name}", daemon=True)
        self._thread.start()

    def _try(self) -> LeaseState | None:
        """None when it is ours now, else who holds it."""
        state = read_lease(self._cluster, name=self._name, namespace=self._namespace)
        if not state.is_free(self._now()):
            return state
        try:
            body = self._create() if not state.resource_version else self._patch(self._spec(), state.resource_version)
        except (StaleError, ExistsError):
            return read_lease(self._cluster, name=self._name, namespace=self._namespace)
        self.current = _state(body).current
        return None

    @property
    def is_lost(self) -> bool:
        """Whether another took it, or it could not be renewed before it ran out."""
        return self._lost.is_set()

    def set_current(self, record: str) -> None:
        """Name the current record."""
        self._patch({"metadata": {"annotations": {CURRENT: record}}})
        self.current = record

    def release(self) -> None:
        """Let others take it at once. Never raises: it expires by itself."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join(timeout=5)
        if self._lost.is_set():
            return
        try:
            self._patch({"spec": {"holderIdentity": None, "renewTime": _format(self._now())}})
        except (RequestError, UnreachableError):
            return

    def _held(self, state: LeaseState) -> RefusedError:
        left = 0 if state.expires is None else max(0, int((state.expires - self._now()).total_seconds()))
        return RefusedError(
            f'cluster {self._name}: locked by "{state.holder}"',
            hint=f"wait for it to end; if it was killed, the lock expires by itself in {left} s",
        )

    def _spec(self) -> dict[str, Any]:
        now = _format(self._now())
        return {
            "spec": {
                "holderIdentity": self._holder,
                "leaseDurationSeconds": SECONDS,
                "acquireTime": now,
                "renewTime": now,
            }
        }

    def _create(self) -> dict[str, Any]:
        body = {
            "apiVersion": LEASE.api_version,
            "kind": LEASE.kind,
            "metadata": {"name": self._name, "namespace": self._namespace, "labels": {CLUSTER_LABEL: self._name}},
            **self._spec(),
        }
        return self._cluster.create(LEASE, body, manager=record_manager(self._name))

    def _patch(self, patch: dict[str, Any], version: str | None = None) -> dict[str, Any]:
        if version is not None:
            patch = {**patch, "metadata": {**patch.get("metadata", {}), "resourceVersion": version}}
        return self._cluster.merge_patch(
            LEASE, self._name, patch, namespace=self._namespace, manager=record_manager(self._name)
        )

    def _renew(self) -> None:
        renewed = self._now()
        while not self._ended.wait(self._every):
            try:
                state = read_lease(self._cluster, name=self._name, namespace=self._namespace)
                if state.holder != self._holder:
                    self._lost.set()
                    return
                self._patch({"spec": {"renewTime": _format(self._now())}}, state.resource_version)
                renewed = self._now()
            except StaleError:
                continue
            except (RequestError, UnreachableError):
                if self._now() - renewed > timedelta(seconds=SECONDS):
                    self._lost.set()
                    return
