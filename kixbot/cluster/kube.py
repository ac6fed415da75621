"""A real cluster. Dicts and JSON only, never the client's model classes.

Reads and dry-runs are tried again by our own policy; writes by whoever knows what they mean.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import quote

from kubernetes.client.api_client import ApiClient

from kixbot.cluster import kube_discovery
from kixbot.cluster.faults import RejectedError, StaleError
from kixbot.cluster.interface import ApiKind, Discovery, Listing, Propagation, Watch
from kixbot.cluster.kube_transport import JSON, Call, KubeTransport
from kixbot.cluster.kube_watch import KubeWatch
from kixbot.cluster.kubeconfig import load
from kixbot.errors import ClusterError
from kixbot.retry import Clock

POOL: Final = 32  # at least as many connections as there are threads of readers, writers and watches
APPLY: Final = "application/apply-patch+yaml"
JSON_PATCH: Final = "application/json-patch+json"
MERGE: Final = "application/merge-patch+json"
METADATA_LIST: Final = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json"


def open_kube(
    *, context: str | None, kubeconfig: str | None, environment: Mapping[str, str], clock: Clock | None = None
) -> "KubeCluster":
    """Open the cluster of a kubeconfig context. Makes no request yet. Raises ClusterError."""
    configuration, name = load(context=context, kubeconfig=kubeconfig, environment=environment)
    configuration.connection_pool_maxsize = POOL
    return KubeCluster(ApiClient(configuration), name=name, clock=clock or Clock())


class KubeCluster:
    """See `interface.Cluster`."""

    def __init__(self, client: ApiClient, *, name: str, clock: Clock) -> None:
        self.name = name
        self.requests: Counter[str] = Counter()
        self._transport = KubeTransport(client, name=name, clock=clock)
        self._discovery: Discovery | None = None

    def discover(self, *, refresh: bool = False) -> Discovery:
        """Two requests, then remembered. Raises ClusterError for a server without aggregated discovery."""
        if self._discovery is None or refresh:
            documents = []
            for path in ("/api", "/apis"):
                call = Call(method="GET", path=path, accept=kube_discovery.ACCEPT, what=f"discover {path}")
                body = self._read("discovery", call)
                if body.get("kind") != kube_discovery.KIND:
                    raise ClusterError(
                        f"cluster {self.name}: the API server has no aggregated discovery",
                        hint="kix needs Kubernetes 1.27 or newer",
                    )
                documents.append(body)
            self._discovery = kube_discovery.discovery_from(tuple(documents))
        return self._discovery

    def get(self, kind: ApiKind, name: str, namespace: str = "") -> dict[str, Any]:
        """One object."""
        what = _what("get", kind, namespace, name)
        return _typed(kind, self._read("get", Call(method="GET", path=path_of(kind, namespace, name), what=what)))

    def listing(
        self,
        kind: ApiKind,
        *,
        namespace: str = "",
        label_selector: str = "",
        field_selector: str = "",
        metadata_only: bool = False,
    ) -> Listing:
        """One request for all."""
        call = Call(
            method="GET",
            path=path_of(kind, namespace),
            query={"labelSelector": label_selector, "fieldSelector": field_selector},
            accept=METADATA_LIST if metadata_only else JSON,
            what=_what("list", kind, namespace, ""),
        )
        body = self._read("list", call)
        items = tuple(_typed(kind, item) for item in body.get("items") or ())
        return Listing(items=items, resource_version=str((body.get("metadata") or {}).get("resourceVersion") or ""))

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
        """PATCH with the apply content type; a dry-run is tried again like a read."""
        metadata = body["metadata"]
        namespace, name = str(metadata.get("namespace") or ""), str(metadata["name"])
        verb = "dry-run" if dry_run else "apply"
        call = Call(
            method="PATCH",
            path=path_of(kind, namespace, name, subresource),
            query={"fieldManager": manager, "force": str(force).lower(), "dryRun": "All" if dry_run else ""},
            body=body,
            content_type=APPLY,
            what=_what(verb, kind, namespace, name),
        )
        return _typed(kind, self._read(verb, call) if dry_run else self._write(verb, call))

    def create(self, kind: ApiKind, body: Mapping[str, Any], *, manager: str) -> dict[str, Any]:
        """POST."""
        metadata = body["metadata"]
        namespace = str(metadata.get("namespace") or "")
        call = Call(
            method="POST",
            path=path_of(kind, namespace),
            query={"fieldManager": manager},
            body=body,
            what=_what("create", kind, namespace, str(metadata["name"])),
        )
        return _typed(kind, self._write("create", call))

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
        """PATCH with the merge content type."""
        call = Call(
            method="PATCH",
            path=path_of(kind, namespace, name, subresource),
            query={"fieldManager": manager},
            body=patch,
            content_type=MERGE,
            what=_what("patch", kind, namespace, name),
        )
        return _typed(kind, self._write("patch", call))

    def replace_owners(
        self,
        kind: ApiKind,
        name: str,
        entries: Sequence[Mapping[str, Any]],
        *,
        namespace: str = "",
        resource_version: str,
    ) -> dict[str, Any]:
        """A JSON patch; a failed test of the resourceVersion is answered as 422."""
        operations: list[dict[str, Any]] = [
            {"op": "test", "path": "/metadata/resourceVersion", "value": resource_version},
            {"op": "replace", "path": "/metadata/managedFields", "value": list(entries)},
        ]
        call = Call(
            method="PATCH",
            path=path_of(kind, namespace, name),
            body=operations,
            content_type=JSON_PATCH,
            what=_what("patch", kind, namespace, name),
        )
        try:
            return _typed(kind, self._write("patch", call))
        except RejectedError as error:
            raise StaleError(error.message, status=409) from error

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
        """DELETE with preconditions."""
        guard = {"uid": uid} | ({"resourceVersion": resource_version} if resource_version else {})
        body = {
            "apiVersion": "v1",
            "kind": "DeleteOptions",
            "propagationPolicy": propagation,
            "preconditions": guard,
        }
        what = _what("delete", kind, namespace, name)
        self._write("delete", Call(method="DELETE", path=path_of(kind, namespace, name), body=body, what=what))

    def watch(
        self,
        kind: ApiKind,
        *,
        namespace: str = "",
        label_selector: str = "",
        resource_version: str,
        seconds: int = 60,
    ) -> Watch:
        """A streaming GET; it ends by itself after `seconds`."""
        self.requests["watch"] += 1
        query = {
            "watch": "1",
            "allowWatchBookmarks": "true",
            "resourceVersion": resource_version,
            "labelSelector": label_selector,
            "timeoutSeconds": str(seconds),
        }
        what = _what("watch", kind, namespace, "")
        call = Call(
            method="GET",
            path=path_of(kind, namespace),
            query=query,
            what=what,
            read_seconds=seconds + 10.0,
            stream=True,
        )
        return KubeWatch(self._transport.open(call), kind, what=what, unreachable=self._transport.unreachable)

    def pod_log(self, name: str, *, namespace: str, container: str, lines: int = 1) -> str:
        """The log as text."""
        self.requests["log"] += 1
        path = f"/api/v1/namespaces/{quote(namespace)}/pods/{quote(name)}/log"
        query = {"container": container, "tailLines": str(lines), "limitBytes": "65536"}
        call = Call(method="GET", path=path, query=query, accept="*/*", what=f"log of Pod {namespace}/{name}")
        return self._transport.open(call).data.decode("utf-8", "replace")

    def close(self) -> None:
        """Close the pool."""
        self._transport.close()

    def _read(self, verb: str, call: Call) -> dict[str, Any]:
        def send() -> dict[str, Any]:
            self.requests[verb] += 1
            return self._transport.send(call)

        return self._transport.again(send)

    def _write(self, verb: str, call: Call) -> dict[str, Any]:
        self.requests[verb] += 1
        return self._transport.send(call)


def path_of(kind: ApiKind, namespace: str = "", name: str = "", subresource: str = "") -> str:
    """The URL path of a kind, an object or its subresource."""
    base = f"/apis/{kind.group}/{kind.version}" if kind.group else f"/api/{kind.version}"
    inside = f"/namespaces/{quote(namespace, safe='')}" if kind.namespaced and namespace else ""
    rest = "".join(f"/{quote(part, safe='')}" for part in (name, subresource) if part)
    return f"{base}{inside}/{kind.plural}{rest}"


def _what(verb: str, kind: ApiKind, namespace: str, name: str) -> str:
    where = "/".join(part for part in (namespace, name) if part)
    return f"{verb} {kind.kind} {where}".rstrip()


def _typed(kind: ApiKind, body: dict[str, Any]) -> dict[str, Any]:
    """Items of lists, and metadata-only ones, come without their own apiVersion and kind."""
    return {**body, "apiVersion": kind.api_version, "kind": kind.kind}
