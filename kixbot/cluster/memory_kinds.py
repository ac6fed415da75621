"""What the embedded cluster knows of kinds: which it serves, and how their lists and maps merge.

A short table, not the OpenAPI document: kinds of everyday manifests, list keys and atomic maps as kube-apiserver 1.34
declares them (`x-kubernetes-list-map-keys`, `x-kubernetes-map-type`). Lists that are not here are atomic, maps are
granular, which is also what a custom resource without such marks has.
"""

from collections.abc import Mapping
from typing import Any, Final

from kixbot.cluster.interface import ApiKind

_ADMISSION = "admissionregistration.k8s.io"
_STATUS = ("status",)
_SCALE = ("status", "scale")

# group, version, kind, plural, namespaced, subresources
_BUILTIN: Final = (
    ("", "v1", "ConfigMap", "configmaps", True, ()),
    ("", "v1", "Secret", "secrets", True, ()),
    ("", "v1", "Service", "services", True, _STATUS),
    ("", "v1", "ServiceAccount", "serviceaccounts", True, ()),
    ("", "v1", "Pod", "pods", True, _STATUS),
    ("", "v1", "Event", "events", True, ()),
    ("", "v1", "Endpoints", "endpoints", True, ()),
    ("", "v1", "PersistentVolumeClaim", "persistentvolumeclaims", True, _STATUS),
    ("", "v1", "PersistentVolume", "persistentvolumes", False, _STATUS),
    ("", "v1", "Namespace", "namespaces", False, _STATUS),
    ("", "v1", "LimitRange", "limitranges", True, ()),
    ("", "v1", "ResourceQuota", "resourcequotas", True, _STATUS),
    ("apps", "v1", "Deployment", "deployments", True, _SCALE),
    ("apps", "v1", "StatefulSet", "statefulsets", True, _SCALE),
    ("apps", "v1", "ReplicaSet", "replicasets", True, _SCALE),
    ("apps", "v1", "DaemonSet", "daemonsets", True, _STATUS),
    ("batch", "v1", "Job", "jobs", True, _STATUS),
    ("batch", "v1", "CronJob", "cronjobs", True, _STATUS),
    ("autoscaling", "v2", "HorizontalPodAutoscaler", "horizontalpodautoscalers", True, _STATUS),
    ("policy", "v1", "PodDisruptionBudget", "poddisruptionbudgets", True, _STATUS),
    ("networking.k8s.io", "v1", "Ingress", "ingresses", True, _STATUS),
    ("networking.k8s.io", "v1", "NetworkPolicy", "networkpolicies", True, ()),
    ("networking.k8s.io", "v1", "IngressClass", "ingressclasses", False, ()),
    ("rbac.authorization.k8s.io", "v1", "Role", "roles", True, ()),
    ("rbac.authorization.k8s.io", "v1", "RoleBinding", "rolebindings", True, ()),
    ("rbac.authorization.k8s.io", "v1", "ClusterRole", "clusterroles", False, ()),
    ("rbac.authorization.k8s.io", "v1", "ClusterRoleBinding", "clusterrolebindings", False, ()),
    ("storage.k8s.io", "v1", "StorageClass", "storageclasses", False, ()),
    ("scheduling.k8s.io", "v1", "PriorityClass", "priorityclasses", False, ()),
    ("node.k8s.io", "v1", "RuntimeClass", "runtimeclasses", False, ()),
    ("coordination.k8s.io", "v1", "Lease", "leases", True, ()),
    (_ADMISSION, "v1", "ValidatingWebhookConfiguration", "validatingwebhookconfigurations", False, ()),
    (_ADMISSION, "v1", "MutatingWebhookConfiguration", "mutatingwebhookconfigurations", False, ()),
    ("apiextensions.k8s.io", "v1", "CustomResourceDefinition", "customresourcedefinitions", False, _STATUS),
    ("apiregistration.k8s.io", "v1", "APIService", "apiservices", False, _STATUS),
)  # fmt: skip

BUILTIN_KINDS: Final = tuple(
    ApiKind(group=group, version=version, kind=kind, plural=plural, namespaced=namespaced, subresources=subresources)
    for group, version, kind, plural, namespaced, subresources in _BUILTIN
)

# Kinds whose objects carry no metadata.generation (seen on 1.34).
WITHOUT_GENERATION: Final = frozenset(
    {
        "ConfigMap",
        "Secret",
        "Service",
        "ServiceAccount",
        "Role",
        "RoleBinding",
        "ClusterRole",
        "ClusterRoleBinding",
        "PersistentVolumeClaim",
        "PersistentVolume",
        "Namespace",
        "StorageClass",
        "Event",
        "Endpoints",
        "Lease",
        "HorizontalPodAutoscaler",
        "LimitRange",
        "ResourceQuota",
        "PriorityClass",
        "RuntimeClass",
        "IngressClass",
    }
)

# Field name → keys of its list, wherever the field stands in a built-in kind.
_LIST_KEYS: Final[Mapping[str, tuple[str, ...]]] = {
    "containers": ("name",),
    "initContainers": ("name",),
    "ephemeralContainers": ("name",),
    "env": ("name",),
    "volumes": ("name",),
    "volumeMounts": ("mountPath",),
    "volumeDevices": ("devicePath",),
    "imagePullSecrets": ("name",),
    "secrets": ("name",),
    "hostAliases": ("ip",),
    "topologySpreadConstraints": ("topologyKey", "whenUnsatisfiable"),
    "claims": ("name",),
    "webhooks": ("name",),
    "matchConditions": ("name",),
    "conditions": ("type",),
}
_ATOMIC_MAPS: Final = frozenset(
    {
        "selector",
        "nodeSelector",
        "podSelector",
        "namespaceSelector",
        "objectSelector",
        "labelSelector",
        "secretKeyRef",
        "configMapKeyRef",
        "fieldRef",
        "resourceFieldRef",
        "scaleTargetRef",
        "roleRef",
        "secretRef",
        "claimRef",
    }
)


def list_keys(path: tuple[str, ...], *, custom: bool) -> tuple[str, ...] | None:
    """The keys of the list at `path` (field names from the root), () for a set, None for an atomic list."""
    if path == ("metadata", "finalizers"):
        return ()
    if path == ("metadata", "ownerReferences"):
        return ("uid",)
    if custom or not path:
        return None
    if path[-1] == "ports":
        if path[-2:] == ("spec", "ports"):
            return ("port", "protocol")
        return ("containerPort", "protocol") if "containers" in path or "initContainers" in path else None
    return _LIST_KEYS.get(path[-1])


def is_atomic_map(path: tuple[str, ...], *, custom: bool) -> bool:
    """Whether the map at `path` is one value."""
    return bool(path) and not custom and path[-1] in _ATOMIC_MAPS and path[0] != "metadata"


def kinds_of_crd(body: Mapping[str, Any]) -> tuple[ApiKind, ...]:
    """The kinds a CustomResourceDefinition serves, storage version first."""
    spec = body.get("spec") or {}
    names = spec.get("names") or {}
    versions = [version for version in spec.get("versions") or () if version.get("served")]
    versions.sort(key=lambda version: not version.get("storage"))
    return tuple(
        ApiKind(
            group=str(spec.get("group") or ""),
            version=str(version.get("name")),
            kind=str(names.get("kind")),
            plural=str(names.get("plural")),
            namespaced=spec.get("scope") == "Namespaced",
            subresources=tuple(version.get("subresources") or {}),
        )
        for version in versions
    )
