"""ref/policy-blocks: a NetworkPolicy that stands between a workload and what it talks to."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.dependencies import Dependency, dependencies
from kixbot.checks.pods import Pods
from kixbot.checks.policies import Direction, allows, is_judged_elsewhere, isolating, lets_resolve, policies
from kixbot.model.finding import Related, Severity
from kixbot.model.resource import Ref, Resource


def _find(context: Context) -> Iterator[Hit]:
    if not policies(context) or is_judged_elsewhere(context):
        return
    unresolved: set[Ref] = set()
    for one in dependencies(context):
        leaving = isolating(context, one.client, "egress")
        entering = isolating(context, one.server, "ingress")
        if not allows(context, leaving, "egress", one.server, one.ports, one.server):
            yield _hit(context, one, leaving, "egress")
        elif not allows(context, entering, "ingress", one.client, one.ports, one.server):
            yield _hit(context, one, entering, "ingress")
        elif leaving and not lets_resolve(leaving) and one.client.resource.ref not in unresolved:
            unresolved.add(one.client.resource.ref)
            yield Hit(
                resource=leaving[0],
                path="$.spec.egress",
                message=f"{leaving[0].ref.plain} keeps {one.client.resource.ref.plain} from resolving names: no rule "
                "lets it reach port 53 of another namespace",
                hint="allow egress to UDP and TCP port 53 of the pods k8s-app: kube-dns in kube-system",
                related=(_talks(context, one),),
            )


def _hit(context: Context, one: Dependency, found: tuple[Resource, ...], direction: Direction) -> Hit:
    ports = ", ".join(map(str, sorted(one.ports)))
    who, whom = one.client.resource.ref.plain, _named(one.server, ports)
    way = "reaching" if direction == "egress" else "being reached by"
    first, second = (who, whom) if direction == "egress" else (whom, who)
    hint = f"allow {direction} {'to' if direction == 'egress' else 'from'} its pods"
    return Hit(
        resource=found[0],
        path=f"$.spec.{direction}" if direction in found[0].manifest.get("spec", {}) else "$.spec",
        message=f"{found[0].ref.plain} keeps {first} from {way} {second}, which {one.client.resource.ref.name} talks to"
        if direction == "egress"
        else f"{found[0].ref.plain} keeps {first} from {way} {second}, which talks to it",
        hint=f"{hint}: add a rule with the pod labels of {second.partition(' on port')[0]}",
        related=(_talks(context, one),),
    )


def _named(pods: Pods, ports: str) -> str:
    return f"{pods.resource.ref.plain} on port {ports}" if ports else pods.resource.ref.plain


def _talks(context: Context, one: Dependency) -> Related:
    holder = context.by_ref.get(one.holder)
    return Related(
        ref=one.holder, note=f"names {one.service.plain}", location=holder.place(one.path) if holder else None
    )


_EXAMPLE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers:
        - name: web
          image: ghcr.io/acme/web:1.5.0
          env: [{{name: CACHE_URL, value: "redis://cache.shop.svc:6379"}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: cache, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: cache}}}}
  template:
    metadata: {{labels: {{app: cache}}}}
    spec: {{containers: [{{name: cache, image: "docker.io/valkey/valkey:8.0", ports: [{{containerPort: 6379}}]}}]}}
---
apiVersion: v1
kind: Service
metadata: {{name: cache, namespace: shop}}
spec: {{selector: {{app: cache}}, ports: [{{port: 6379}}]}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: cache, namespace: shop}}
spec:
  podSelector: {{matchLabels: {{app: cache}}}}
  policyTypes: [Ingress]
  ingress: [{{from: [{{podSelector: {{matchLabels: {{app: {client}}}}}}}], ports: [{{port: 6379}}]}}]
"""

CHECK = Check(
    id="ref/policy-blocks",
    severity=Severity.ERROR,
    title="a NetworkPolicy blocks a connection that a workload needs",
    rationale=(
        "The name of a Service in a workload's variables, arguments or ConfigMap says that it talks to it. Where the "
        "policies of the build let that traffic neither out of the one nor into the other, or keep the workload from "
        "resolving names at all, the connection times out. Peers by address count as allowed, and where Cilium's or "
        "Calico's own policies are in the build, nothing is said."
    ),
    example=Example(good=_EXAMPLE.format(client="web"), bad=_EXAMPLE.format(client="api")),
    find=_find,
)
