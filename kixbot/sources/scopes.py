"""Which kinds have no namespace: the API server's own, well-known custom ones, and those whose CRD is at hand."""

from collections.abc import Iterable, Mapping
from typing import Any

from kixbot.model.resource import BUILTIN_GROUPS, Body, split_api_version

# Group and kind of every cluster-scoped kind that kube-apiserver 1.28 to 1.37 serves (its discovery documents).
_BUILTIN = frozenset(
    {
        ("", "ComponentStatus"),
        ("", "Namespace"),
        ("", "Node"),
        ("", "PersistentVolume"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "MutatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "MutatingWebhookConfiguration"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicy"),
        ("admissionregistration.k8s.io", "ValidatingAdmissionPolicyBinding"),
        ("admissionregistration.k8s.io", "ValidatingWebhookConfiguration"),
        ("apiextensions.k8s.io", "CustomResourceDefinition"),
        ("apiregistration.k8s.io", "APIService"),
        ("authentication.k8s.io", "SelfSubjectReview"),
        ("authentication.k8s.io", "TokenReview"),
        ("authorization.k8s.io", "SelfSubjectAccessReview"),
        ("authorization.k8s.io", "SelfSubjectRulesReview"),
        ("authorization.k8s.io", "SubjectAccessReview"),
        ("certificates.k8s.io", "CertificateSigningRequest"),
        ("certificates.k8s.io", "ClusterTrustBundle"),
        ("flowcontrol.apiserver.k8s.io", "FlowSchema"),
        ("flowcontrol.apiserver.k8s.io", "PriorityLevelConfiguration"),
        ("internal.apiserver.k8s.io", "StorageVersion"),
        ("networking.k8s.io", "IPAddress"),
        ("networking.k8s.io", "IngressClass"),
        ("networking.k8s.io", "ServiceCIDR"),
        ("node.k8s.io", "RuntimeClass"),
        ("rbac.authorization.k8s.io", "ClusterRole"),
        ("rbac.authorization.k8s.io", "ClusterRoleBinding"),
        ("resource.k8s.io", "DeviceClass"),
        ("resource.k8s.io", "DeviceTaintRule"),
        ("resource.k8s.io", "ResourceSlice"),
        ("scheduling.k8s.io", "PriorityClass"),
        ("storage.k8s.io", "CSIDriver"),
        ("storage.k8s.io", "CSINode"),
        ("storage.k8s.io", "StorageClass"),
        ("storage.k8s.io", "VolumeAttachment"),
        ("storage.k8s.io", "VolumeAttributesClass"),
        ("storagemigration.k8s.io", "StorageVersionMigration"),
    }
)

# Custom kinds that their projects' CRDs declare cluster-scoped, for builds that do not hold the CRD.
_CUSTOM = frozenset(
    {
        ("cert-manager.io", "ClusterIssuer"),
        ("cilium.io", "CiliumClusterwideNetworkPolicy"),
        ("external-secrets.io", "ClusterExternalSecret"),
        ("external-secrets.io", "ClusterSecretStore"),
        ("gateway.networking.k8s.io", "GatewayClass"),
        ("karpenter.sh", "NodePool"),
        ("kyverno.io", "ClusterPolicy"),
        ("postgresql.cnpg.io", "ClusterImageCatalog"),
        ("snapshot.storage.k8s.io", "VolumeSnapshotClass"),
        ("snapshot.storage.k8s.io", "VolumeSnapshotContent"),
    }
)


def scopes_of(manifests: Iterable[Body]) -> dict[tuple[str, str], bool]:
    """Group and kind to "is cluster-scoped", as the CustomResourceDefinitions among the manifests declare it."""
    found: dict[tuple[str, str], bool] = {}
    for manifest in manifests:
        if manifest.get("kind") != "CustomResourceDefinition":
            continue
        spec: Any = manifest.get("spec")
        names = spec.get("names") if isinstance(spec, Mapping) else None
        kind = names.get("kind") if isinstance(names, Mapping) else None
        if isinstance(kind, str) and isinstance(spec.get("group"), str):
            found[spec["group"], kind] = spec.get("scope") == "Cluster"
    return found


def is_cluster_scoped(api_version: str, kind: str, declared: Mapping[tuple[str, str], bool]) -> bool:
    """Whether objects of that kind have no namespace. Unknown custom kinds count as namespaced."""
    key = (split_api_version(api_version)[0], kind)
    if key[0] in BUILTIN_GROUPS:
        return key in _BUILTIN
    return declared.get(key, key in _CUSTOM)
