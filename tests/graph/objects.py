"""Short ways to write resources and sources in the tests of the graph."""

from collections.abc import Iterable
from typing import Any

import yaml

from kixbot.model.build import ClusterFacts, Evaluated, External, SourceInfo
from kixbot.model.resource import Ref, Resource, split_api_version

CLUSTER_SCOPED = {
    "APIService", "ClusterIssuer", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition", "FlowSchema",
    "GatewayClass", "IngressClass", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration", "Namespace",
    "PersistentVolume", "PriorityClass", "StorageClass", "ValidatingAdmissionPolicyBinding",
    "ValidatingWebhookConfiguration",
}  # fmt: skip


def resource(manifest: dict[str, Any], **declared: Any) -> Resource:
    """A resource of a manifest; namespaced kinds without a namespace are in `shop`."""
    group, _ = split_api_version(manifest["apiVersion"])
    kind, metadata = manifest["kind"], manifest["metadata"]
    namespace = "" if kind in CLUSTER_SCOPED else metadata.get("namespace", "shop")
    ref = Ref(kind=kind, group=group, namespace=namespace, name=metadata["name"])
    return Resource(ref=ref, api_version=manifest["apiVersion"], manifest=manifest, **declared)


def resources(text: str) -> tuple[Resource, ...]:
    """The resources of a YAML stream."""
    return tuple(resource(document) for document in yaml.safe_load_all(text) if document)


def evaluated(
    found: Iterable[Resource],
    *,
    marked: bool = False,
    externals: tuple[External, ...] = (),
    facts: ClusterFacts | None = None,
) -> Evaluated:
    """A source of these resources; of a closed cluster unless `facts` say otherwise."""
    return Evaluated(
        cluster=facts or ClusterFacts(name="shop", external_kinds=frozenset({"Namespace"})),
        source=SourceInfo(kind="nix" if marked else "manifests", path="shop"),
        resources=tuple(found),
        externals=externals,
        marked=marked,
    )
