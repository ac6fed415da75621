"""The edges table, row by row: each field is an edge to what it names, and dangles when that is nowhere."""

from collections.abc import Callable
from typing import Any

import pytest

from kixbot.graph.edges import TABLE, find
from kixbot.graph.rows import POD, Row, Scope
from kixbot.graph.walk import _segments
from kixbot.model.build import ClusterFacts, EdgeKind
from kixbot.model.resource import Ref
from tests.graph.objects import CLUSTER_SCOPED, evaluated, resource

OPEN = ClusterFacts(name="shop", external_kinds=frozenset({"Namespace", "CustomResourceDefinition"}))
GROUPS = {
    "APIService": "apiregistration.k8s.io", "ClusterRoleBinding": "rbac.authorization.k8s.io",
    "CustomResourceDefinition": "apiextensions.k8s.io", "EndpointSlice": "discovery.k8s.io",
    "FlowSchema": "flowcontrol.apiserver.k8s.io", "HorizontalPodAutoscaler": "autoscaling",
    "Ingress": "networking.k8s.io", "IngressClass": "networking.k8s.io",
    "MutatingAdmissionPolicyBinding": "admissionregistration.k8s.io",
    "MutatingWebhookConfiguration": "admissionregistration.k8s.io", "ResourceClaim": "resource.k8s.io",
    "ResourceClaimTemplate": "resource.k8s.io", "RoleBinding": "rbac.authorization.k8s.io", "StatefulSet": "apps",
    "ValidatingAdmissionPolicyBinding": "admissionregistration.k8s.io",
    "ValidatingWebhookConfiguration": "admissionregistration.k8s.io",
}  # fmt: skip


def body(row: Row, target: Ref) -> dict[str, Any]:
    """The smallest manifest in which `row` finds `target`."""
    kind, _, group = (row.source if row.source != POD else "Pod").partition(".")
    group = group or GROUPS.get(kind, "")
    path: Any = target.name
    if row.typed:
        path = {"name": target.name}
    elif row.scope is Scope.BESIDE:
        path = {"name": target.name, "namespace": target.namespace}
    segments = list(_segments(row.path))
    if row.scope is Scope.BESIDE and not row.typed:
        assert segments.pop() == "name"
    if row.source == POD:
        segments.insert(0, "spec")
    for segment in reversed(segments):
        path = [path] if segment is None else {segment: path}
    manifest: dict[str, Any] = {"apiVersion": f"{group}/v1" if group else "v1", "kind": kind, **path}
    manifest["metadata"] = {"name": "source", **manifest.get("metadata", {})}
    if row.source == POD:
        manifest["spec"].setdefault("containers", [])
    return manifest


def target_of(row: Row) -> Ref:
    namespace = "" if row.scope is Scope.CLUSTER else "shop"
    return Ref(kind=row.target.name, group=row.target.group, namespace=namespace, name="target")


def manifest_of(ref: Ref) -> dict[str, Any]:
    metadata = {"name": ref.name, "namespace": ref.namespace} if ref.namespace else {"name": ref.name}
    return {"apiVersion": f"{ref.group}/v1" if ref.group else "v1", "kind": ref.kind, "metadata": metadata}


def named(row: Row) -> str:
    return f"{row.source}:{row.path}"


@pytest.mark.parametrize("row", TABLE, ids=named)
def test_a_row_is_an_edge_to_what_it_names(row: Row) -> None:
    target = target_of(row)
    source = resource(body(row, target))
    if source.ref.kind in CLUSTER_SCOPED and row.scope is Scope.BESIDE and row.typed:
        target = Ref(kind=target.kind, group=target.group, namespace="", name="target")
    held = resource(manifest_of(target))
    held = type(held)(ref=target, api_version=held.api_version, manifest=held.manifest)
    edges, dangling = find(evaluated([source, held], facts=OPEN))
    assert [(edge.source, edge.target, edge.kind) for edge in edges] == [(source.ref, target, row.edge)]
    assert dangling == ()


@pytest.mark.parametrize("row", TABLE, ids=named)
def test_a_row_dangles_when_what_it_names_is_nowhere(row: Row) -> None:
    target = target_of(row)
    source = resource(body(row, target))
    edges, dangling = find(evaluated([source], facts=OPEN))
    assert edges == ()
    if row.lenient or row.edge is EdgeKind.SOFT:
        assert dangling == ()
    else:
        assert [(one.target.kind, one.target.name, one.optional) for one in dangling] == [
            (target.kind, "target", False)
        ]


def test_the_table_is_as_written_down(golden: Callable[[str, str], None]) -> None:
    lines = [
        f"{row.source:45} {row.path:80} {row.edge.value:5} {'lenient' if row.lenient else '':7} "
        f"{'any kind, else ' if row.typed else ''}{row.target.name}{'.' + row.target.group if row.target.group else ''}"
        f"{' (cluster)' if row.scope is Scope.CLUSTER else ''}"
        for row in sorted(TABLE, key=lambda row: (row.source, row.path))
    ]
    golden("edges.txt", "\n".join(lines) + "\n")


def test_no_row_stands_twice() -> None:
    places = [(row.source, row.path) for row in TABLE]
    assert len(places) == len(set(places))
