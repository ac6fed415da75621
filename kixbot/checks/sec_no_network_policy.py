"""sec/no-network-policy: pods that anybody in the cluster can reach."""

from collections import defaultdict
from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.pods import Pods
from kixbot.checks.policies import isolating, policies
from kixbot.model.finding import Confidence, Severity


def _find(context: Context) -> Iterator[Hit]:
    governed = {policy.ref.namespace for policy in policies(context)}
    open_pods: defaultdict[str, list[Pods]] = defaultdict(list)
    for pods in context.pods:
        namespace = pods.resource.ref.namespace
        if namespace not in governed:
            open_pods[namespace].append(pods)
        elif (
            not pods.is_opaque and pods.spec.get("hostNetwork") is not True and not isolating(context, pods, "ingress")
        ):
            yield Hit(
                resource=pods.resource,
                path=pods.labels_path,
                message=f"no NetworkPolicy of namespace {namespace} isolates the pods of {pods.resource.ref.plain}",
                hint="select them in a policy with policyTypes: [Ingress], or deny all of the namespace first",
            )
    for namespace, found in sorted(open_pods.items()):
        yield Hit(
            resource=context.find("Namespace", namespace),
            location=found[0].resource.place(),
            message=f"namespace {namespace} has pods and no NetworkPolicy",
            hint="start with a policy whose podSelector is empty and whose policyTypes are [Ingress]",
            severity=Severity.INFO,
        )


_EXAMPLE = """\
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: web, namespace: shop}}
spec: {{podSelector: {selector}, policyTypes: [Ingress]}}
---
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop, labels: {{app: web}}}}
spec: {{containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]}}
"""

CHECK = Check(
    id="sec/no-network-policy",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    title="pods that no NetworkPolicy isolates",
    rationale=(
        "Without a policy every pod of the cluster may connect to every port of the pod. Pods that the policies of "
        "their namespace leave out are a warning; a namespace without any policy is an info."
    ),
    example=Example(good=_EXAMPLE.format(selector="{}"), bad=_EXAMPLE.format(selector="{matchLabels: {app: db}}")),
    find=_find,
)
