"""The custom resource definitions of kix as data: Activation and PackageInstance, group kix.run, version v1alpha1."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kixbot.cluster.faults import NotFoundError
from kixbot.cluster.interface import ApiKind, Cluster
from kixbot.errors import ClusterError
from kixbot.model.activation import GROUP, VERSION

ACTIVATION: Final = ApiKind(
    group=GROUP, version=VERSION, kind="Activation", plural="activations", namespaced=True, subresources=("status",)
)
PACKAGE_INSTANCE: Final = ApiKind(
    group=GROUP,
    version=VERSION,
    kind="PackageInstance",
    plural="packageinstances",
    namespaced=True,
    subresources=("status",),
)
CRD: Final = ApiKind(
    group="apiextensions.k8s.io",
    version="v1",
    kind="CustomResourceDefinition",
    plural="customresourcedefinitions",
    namespaced=False,
    subresources=("status",),
)
CRD_MANAGER: Final = "kix-crds"

_STRING: Final = {"type": "string"}
_STRINGS: Final = {"type": "array", "items": _STRING}
_OPEN: Final = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_CONDITIONS: Final = {
    "type": "array",
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["type"],
    "items": {
        "type": "object",
        "required": ["type", "status"],
        "properties": {
            "type": _STRING,
            "status": _STRING,
            "reason": _STRING,
            "message": _STRING,
            "observedGeneration": {"type": "integer"},
            "lastTransitionTime": {"type": "string", "format": "date-time"},
        },
    },
}
_ACTIVATION_SPEC: Final = {
    "type": "object",
    "required": ["cluster", "mode", "source"],
    "properties": {
        "cluster": _STRING,
        "mode": {"type": "string", "enum": ["local", "operator"]},
        "clusterUID": _STRING,
        "packages": _STRINGS,
        "source": {
            "type": "object",
            "required": ["path"],
            "properties": {"path": _STRING, "kind": _STRING, "commit": _STRING, "repository": _STRING},
        },
    },
}
_ACTIVATION_STATUS: Final = {
    "type": "object",
    "properties": {
        "phase": {
            "type": "string",
            "enum": ["Pending", "Applying", "Active", "Degraded", "Failed", "Superseded"],
        },
        "message": _STRING,
        "observedGeneration": {"type": "integer"},
        "conditions": _CONDITIONS,
        "progress": _OPEN,
        "receipt": _OPEN,
        "history": {"type": "array", "items": _OPEN},
        "hold": _OPEN,
        "activatedAt": {"type": "string", "format": "date-time"},
    },
}
_PACKAGE_SPEC: Final = {
    "type": "object",
    "properties": {"package": _STRING, "version": _STRING, "provides": _STRINGS, "dependsOn": _STRINGS},
    "x-kubernetes-preserve-unknown-fields": True,
}
_PACKAGE_STATUS: Final = {
    "type": "object",
    "properties": {"ready": {"type": "integer"}, "total": {"type": "integer"}},
}


def _crd(
    kind: ApiKind,
    *,
    short: str,
    spec: Mapping[str, Any],
    status: Mapping[str, Any],
    columns: tuple[tuple[str, str, str], ...],
) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{kind.plural}.{kind.group}"},
        "spec": {
            "group": kind.group,
            "scope": "Namespaced",
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.plural,
                "singular": kind.kind.lower(),
                "shortNames": [short],
            },
            "versions": [
                {
                    "name": kind.version,
                    "served": True,
                    "storage": True,
                    "subresources": {"status": {}},
                    "additionalPrinterColumns": [
                        {"name": name, "type": of, "jsonPath": path} for name, of, path in columns
                    ],
                    "schema": {
                        "openAPIV3Schema": {"type": "object", "properties": {"spec": spec, "status": status}},
                    },
                }
            ],
        },
    }


CRDS: Final = (
    _crd(
        ACTIVATION,
        short="act",
        spec=_ACTIVATION_SPEC,
        status=_ACTIVATION_STATUS,
        columns=(
            ("Cluster", "string", ".spec.cluster"),
            ("Phase", "string", ".status.phase"),
            ("Commit", "string", ".spec.source.commit"),
            ("Age", "date", ".metadata.creationTimestamp"),
        ),
    ),
    _crd(
        PACKAGE_INSTANCE,
        short="pkgi",
        spec=_PACKAGE_SPEC,
        status=_PACKAGE_STATUS,
        columns=(
            ("Package", "string", ".spec.package"),
            ("Version", "string", ".spec.version"),
            ("Ready", "integer", ".status.ready"),
            ("Total", "integer", ".status.total"),
        ),
    ),
)


def missing_crds(cluster: Cluster) -> tuple[str, ...]:
    """Names of kix' CRDs the cluster does not serve."""
    discovery = cluster.discover()
    kinds = (ACTIVATION, PACKAGE_INSTANCE)
    return tuple(f"{kind.plural}.{kind.group}" for kind in kinds if discovery.find(kind.api_version, kind.kind) is None)


def install_crds(cluster: Cluster, *, seconds: float = 30.0) -> tuple[str, ...]:
    """Apply the CRDs and wait until they are served; gives the names that were applied.

    Raises ClusterError when they are not established in time.
    """
    applied = tuple(cluster.apply(CRD, body, manager=CRD_MANAGER, force=True) for body in CRDS)
    for body in applied:
        _await_established(cluster, body, seconds=seconds)
    cluster.discover(refresh=True)
    return tuple(str(body["metadata"]["name"]) for body in applied)


def _await_established(cluster: Cluster, body: Mapping[str, Any], *, seconds: float) -> None:
    name = str(body["metadata"]["name"])
    try:
        if is_established(cluster.get(CRD, name)):
            return
    except NotFoundError as error:
        raise ClusterError(f"CustomResourceDefinition {name}: gone while it was installed") from error
    selector_free = cluster.watch(CRD, resource_version=str(body["metadata"]["resourceVersion"]), seconds=int(seconds))
    for seen in _bodies(selector_free):
        if seen["metadata"]["name"] == name and is_established(seen):
            selector_free.close()
            return
    raise ClusterError(
        f"CustomResourceDefinition {name}: not established after {seconds:.0f} s",
        hint=f"kubectl describe crd {name} says why",
    )


def _bodies(events: Any) -> Iterator[dict[str, Any]]:
    for event in events:
        yield event.body


def is_established(body: Mapping[str, Any]) -> bool:
    """Established and NamesAccepted both True; `conditions` is null right after creation."""
    conditions = {one.get("type"): one.get("status") for one in (body.get("status") or {}).get("conditions") or ()}
    return conditions.get("Established") == "True" and conditions.get("NamesAccepted") == "True"
