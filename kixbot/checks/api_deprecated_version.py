"""api/deprecated-version: an API version that a later Kubernetes does not serve any more."""

from collections.abc import Iterator
from functools import cache

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.schema import tables
from kixbot.model.finding import Severity

# What is served by all versions known here, and still deprecated: since which minor version, and what to use.
_DEPRECATED = {
    ("v1", "Endpoints"): (33, "discovery.k8s.io/v1 EndpointSlice"),
    ("v1", "ComponentStatus"): (19, "the health endpoints of the components"),
}


def _find(context: Context) -> Iterator[Hit]:
    target = tables.nearest(context.cluster.kubernetes_version)
    for resource in context.resources:
        api_version, kind = resource.api_version, resource.ref.kind
        if removed := _removed(api_version, kind, target):
            others = tables.api_versions_of(kind, tables.versions()[-1])
            group = [one for one in others if one.rpartition("/")[0] == resource.ref.group]
            yield Hit(
                resource=resource,
                path="$.apiVersion",
                message=f"{resource.ref.plain} is written in {api_version}, which Kubernetes {removed} does not serve "
                "any more",
                hint=f"write it in {(group or [*others, 'another kind'])[0]}",
            )
        elif (api_version, kind) in _DEPRECATED and _minor(target) >= _DEPRECATED[api_version, kind][0]:
            since, instead = _DEPRECATED[api_version, kind]
            yield Hit(
                resource=resource,
                path="$.apiVersion",
                message=f"{resource.ref.plain} is of a kind that is deprecated since Kubernetes 1.{since}",
                hint=f"use {instead}",
            )


@cache
def _removed(api_version: str, kind: str, target: str) -> str | None:
    """The first version of Kubernetes without that kind, where the target still serves it."""
    served = tables.find_served(api_version, kind)
    known = tables.versions()
    if served is None or served.last == known[-1]:
        return None
    last = known.index(served.last)
    return known[last + 1] if known.index(served.first) <= known.index(target) <= last else None


def _minor(version: str) -> int:
    return int(version.partition(".")[2])


_EXAMPLE = """\
apiVersion: discovery.k8s.io/v1
kind: EndpointSlice
metadata: {name: web, namespace: shop}
addressType: IPv4
endpoints: [{addresses: [192.0.2.7]}]
"""
_BAD = """\
apiVersion: v1
kind: Endpoints
metadata: {name: web, namespace: shop}
subsets: [{addresses: [{ip: 192.0.2.7}]}]
"""

CHECK = Check(
    id="api/deprecated-version",
    severity=Severity.WARNING,
    title="an API version or kind that a later Kubernetes does not serve",
    rationale=(
        "Kubernetes takes old API versions away, some years after it deprecated them. Objects that exist stay, but "
        "their manifests are refused from then on. Which version serves what is known for each minor version; "
        "`kix check --kubernetes-version 1.36 --also 1.37` says what an upgrade changes."
    ),
    example=Example(good=_EXAMPLE, bad=_BAD),
    find=_find,
)
