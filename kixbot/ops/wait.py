"""Waiting for a wave: one LIST and one WATCH per kind and namespace, judged by `readiness`, until all are up.

Watched, not polled: a watch that ends, or whose resourceVersion is too old, starts again from a LIST. The readers are
threads; what they see goes through one queue to the one that waits.
"""

import queue
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from kixbot import readiness
from kixbot.cluster.faults import BusyError, GoneError, RequestError, UnreachableError
from kixbot.cluster.interface import ApiKind, Cluster, Watch, ref_of
from kixbot.model.activation import cluster_label
from kixbot.model.resource import Body, Ref
from kixbot.readiness import Facts, Readiness, State
from kixbot.readiness.custom import condition_of_siblings
from kixbot.retry import Clock

WATCH_SECONDS: Final = 30
RECONNECT_SECONDS: Final = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Awaited:
    """An object to wait for, as it was after its write."""

    kind: ApiKind
    body: Body
    facts: Facts


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A judgement, with the object it was made of. `deleted`: somebody took it away."""

    ref: Ref
    readiness: Readiness
    body: Body


def wait(
    cluster: Cluster, name: str, awaited: Mapping[Ref, Awaited], *, seconds: float, clock: Clock
) -> Iterator[Seen]:
    """Judgements as they change, until every object is up, one failed, or `seconds` are over.

    The last judgement of an object that is still WAITING when this ends says that its time ran out. Raises the fault
    of a reader that cannot go on, also when the time runs out while the API server does not answer.
    """
    last: dict[Ref, Readiness] = {}
    pending = dict(awaited)
    for ref, one in awaited.items():
        seen = _judge(ref, one, one.body)
        last[ref] = seen.readiness
        yield seen
        if seen.readiness.state is not State.WAITING:
            del pending[ref]
    if not pending or any(one.state is State.FAILED for one in last.values()):
        return
    readers = _Readers(cluster, name, pending)
    deadline = clock.now() + seconds
    try:
        while pending and (left := deadline - clock.now()) > 0:
            body = readers.next(min(left, 0.5))
            if body is None or (ref := ref_of(body)) not in pending:
                continue
            seen = _judge(ref, pending[ref], body)
            if seen.readiness == last[ref]:
                continue
            last[ref] = seen.readiness
            yield seen
            if seen.readiness.state is State.FAILED:
                return
            if seen.readiness.state is not State.WAITING:
                del pending[ref]
                readers.forget(ref)
        if readers.is_unheard:
            # The objects may well be up: what is wrong is that nobody answers, and this says so.
            cluster.discover(refresh=True)
    finally:
        readers.close()


def _judge(ref: Ref, one: Awaited, body: Body) -> Seen:
    if body.get("_deleted"):
        return Seen(ref=ref, readiness=Readiness(State.FAILED, "deleted by somebody"), body=one.body)
    full = {"apiVersion": one.kind.api_version, "kind": one.kind.kind, **body}
    return Seen(ref=ref, readiness=readiness.judge(full, one.facts), body=full)


class _Readers:
    """The reading threads and their queue."""

    def __init__(self, cluster: Cluster, name: str, pending: Mapping[Ref, Awaited]) -> None:
        self._cluster, self._label = cluster, cluster_label(name)
        self._queue: queue.Queue[dict[str, Any] | Exception] = queue.Queue()
        self._ended = threading.Event()
        self._asking: set[tuple[ApiKind, str]] = set()
        self._wanted: dict[tuple[ApiKind, str], set[Ref]] = defaultdict(set)
        self._watches: set[Watch] = set()
        self._lock = threading.Lock()
        for ref, one in pending.items():
            self._wanted[one.kind, ref.namespace].add(ref)
        for kind, namespace in self._wanted:
            thread = threading.Thread(
                target=self._read, args=(kind, namespace), name=f"kix-watch-{kind.plural}", daemon=True
            )
            thread.start()

    def next(self, seconds: float) -> dict[str, Any] | None:
        """The next object seen, None when nothing came. Raises what a reader met."""
        try:
            found = self._queue.get(timeout=max(seconds, 0.01))
        except queue.Empty:
            return None
        if isinstance(found, Exception):
            raise found
        return found

    @property
    def is_unheard(self) -> bool:
        """Whether a LIST has no answer yet; those of a cluster that is well take far less than a wave's time."""
        return bool(self._asking)

    def forget(self, ref: Ref) -> None:
        """It is up; its reader may end when it was the last."""
        for wanted in self._wanted.values():
            wanted.discard(ref)

    def close(self) -> None:
        """End all readers; those in a blocking read end when the connection closes."""
        self._ended.set()
        with self._lock:
            for watch in self._watches:
                watch.close()

    def _read(self, kind: ApiKind, namespace: str) -> None:
        while not self._ended.is_set() and self._wanted[kind, namespace]:
            try:
                self._read_once(kind, namespace)
            except (GoneError, BusyError, UnreachableError):
                self._ended.wait(RECONNECT_SECONDS)
            except Exception as error:  # noqa: BLE001  whatever it is, the one that waits must hear it
                self._queue.put(error)
                return

    def _read_once(self, kind: ApiKind, namespace: str) -> None:
        self._asking.add((kind, namespace))
        listing = self._cluster.listing(kind, namespace=namespace, label_selector=self._label)
        self._asking.discard((kind, namespace))
        for body in listing.items:
            self._queue.put({"apiVersion": kind.api_version, "kind": kind.kind, **body})
        watch = self._cluster.watch(
            kind,
            namespace=namespace,
            label_selector=self._label,
            resource_version=listing.resource_version,
            seconds=WATCH_SECONDS,
        )
        with self._lock:
            self._watches.add(watch)
        try:
            for event in watch:
                if self._ended.is_set():
                    return
                gone = {"_deleted": True} if event.type == "DELETED" else {}
                self._queue.put({"apiVersion": kind.api_version, "kind": kind.kind, **event.body, **gone})
                if not self._wanted[kind, namespace]:
                    return
        finally:
            watch.close()
            with self._lock:
                self._watches.discard(watch)


def facts_for(cluster: Cluster, kind: ApiKind, *, declared: str | None, late_binding: frozenset[str]) -> Facts:
    """What judging this kind needs: for a custom resource, the condition it is waited for.

    The package's declared one first, else one that a sibling in the cluster shows (one LIST, only for kinds with a
    status subresource).
    """
    condition = declared
    is_custom = readiness.can_wait(kind.group, kind.kind) and (kind.group, kind.kind) not in readiness.TABLE
    if condition is None and is_custom and kind.has_status:
        try:
            condition = condition_of_siblings(cluster.listing(kind).items)
        except RequestError:
            condition = None
    return Facts(late_binding=late_binding, condition=condition, status=kind.has_status)


def late_binding_classes(cluster: Cluster) -> frozenset[str]:
    """Storage classes that bind when a pod comes, with "" when the default class is one."""
    kind = cluster.discover().find("storage.k8s.io/v1", "StorageClass")
    if kind is None:
        return frozenset()
    try:
        items = cluster.listing(kind).items
    except RequestError:
        return frozenset()
    late = {body["metadata"]["name"] for body in items if body.get("volumeBindingMode") == "WaitForFirstConsumer"}
    default = "storageclass.kubernetes.io/is-default-class"
    for body in items:
        annotations = body["metadata"].get("annotations") or {}
        if annotations.get(default) == "true" and body["metadata"]["name"] in late:
            late.add("")
    return frozenset(late)
