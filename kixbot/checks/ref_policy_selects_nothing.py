"""ref/policy-selects-nothing: a NetworkPolicy, or one of its peers, that speaks of no pod."""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.policies import NAME_LABEL, is_system, namespaces_of, peers, policies, selector_of
from kixbot.checks.selectors import compact, shown
from kixbot.checks.shape import labels, mapping
from kixbot.model.finding import Confidence, Related, Severity
from kixbot.model.resource import Resource


def _find(context: Context) -> Iterator[Hit]:
    for policy in policies(context):
        selector = selector_of(policy)
        # An empty selector is a rule for all pods to come.
        if selector and not context.selected(policy.ref.namespace, selector):
            yield _hit(context, policy, "$.spec.podSelector", selector, policy.ref.namespace)
        for path, peer in peers(policy):
            yield from _peer(context, policy, path, peer)


def _peer(context: Context, policy: Resource, path: str, peer: Mapping[str, Any]) -> Iterator[Hit]:
    if "ipBlock" in peer or not _are_known(context, peer):
        return
    namespaces = namespaces_of(context, policy, peer)
    if not namespaces:
        yield Hit(
            resource=policy,
            path=f"{path}.namespaceSelector",
            message=f"{policy.ref.plain} names namespaces {shown(peer['namespaceSelector'])}, and no namespace of this "
            "cluster has these labels",
            hint=f"label the Namespace, or select it by {NAME_LABEL}",
        )
        return
    selector = peer.get("podSelector")
    if not selector or any(is_system(one) for one in namespaces):
        return
    if not any(context.selected(namespace, selector) for namespace in namespaces):
        where = namespaces[0] if len(namespaces) == 1 else policy.ref.namespace
        yield _hit(context, policy, f"{path}.podSelector", selector, where, peer=True)


def _are_known(context: Context, peer: Mapping[str, Any]) -> bool:
    """Whether the build can tell which namespaces a peer means; some may be outside it, with labels of their own."""
    selector = mapping(peer.get("namespaceSelector"))
    if "Namespace" not in context.cluster.external_kinds:
        return True
    return "namespaceSelector" not in peer or not selector


def _hit(context: Context, policy: Resource, path: str, selector: object, namespace: str, *, peer: bool = False) -> Hit:
    wanted = labels(mapping(selector).get("matchLabels"))
    near = context.nearest(namespace, wanted) if wanted else None
    unsure = context.may_be_elsewhere(namespace, wanted)
    what = "a peer" if peer else "pods"
    return Hit(
        resource=policy,
        path=path,
        message=f"{policy.ref.plain} selects {what} {shown(selector)}, and no workload in namespace {namespace} has "
        "such pods",
        hint=f"{near.pods.resource.ref.plain} {compact(near.pods.labels)} comes nearest"
        if near
        else "use the pod labels of the workload that is meant",
        related=(Related(ref=near.pods.resource.ref, note="nearest", location=near.place),) if near else (),
        severity=Severity.INFO if unsure else None,
        confidence=Confidence.HINT if unsure else None,
    )


_EXAMPLE = """\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: web, namespace: shop}}
spec:
  podSelector: {{matchLabels: {{app: {app}}}}}
  policyTypes: [Ingress]
  ingress: [{{ports: [{{port: 8080}}]}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]}}
"""

CHECK = Check(
    id="ref/policy-selects-nothing",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    title="a NetworkPolicy, or a peer of it, selects no pod",
    rationale=(
        "A policy that selects nothing protects nothing, and a peer that selects nothing lets nobody in: both are "
        "mostly a slip in a label. An empty selector selects every pod of its namespace, and is left alone."
    ),
    example=Example(good=_EXAMPLE.format(app="web"), bad=_EXAMPLE.format(app="wbe")),
    find=_find,
)
