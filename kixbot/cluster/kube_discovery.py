"""Aggregated discovery documents as kinds. Pure."""

from collections.abc import Iterator, Mapping
from typing import Any, Final

from kixbot.cluster.interface import ApiKind, Discovery, discovery_of

ACCEPT: Final = ",".join(
    f"application/json;g=apidiscovery.k8s.io;v={version};as=APIGroupDiscoveryList" for version in ("v2", "v2beta1")
)
KIND: Final = "APIGroupDiscoveryList"


def discovery_from(documents: tuple[Mapping[str, Any], ...]) -> Discovery:
    """The kinds of `/api` and `/apis`, in the server's order: a group's preferred version first."""
    return discovery_of(tuple(kind for document in documents for kind in _kinds(document)))


def _kinds(document: Mapping[str, Any]) -> Iterator[ApiKind]:
    for group in document.get("items") or ():
        name = str((group.get("metadata") or {}).get("name") or "")
        for version in group.get("versions") or ():
            # A version whose server does not answer ("Stale") is listed without resources; it must not fail the rest.
            for resource in version.get("resources") or ():
                kind = (resource.get("responseKind") or {}).get("kind")
                if kind:
                    yield ApiKind(
                        group=name,
                        version=str(version.get("version")),
                        kind=str(kind),
                        plural=str(resource.get("resource")),
                        namespaced=resource.get("scope") == "Namespaced",
                        subresources=tuple(str(one.get("subresource")) for one in resource.get("subresources") or ()),
                    )
