"""sec/exposed-service: a Service that is open on every node, or on an address that it claims."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import at
from kixbot.model.finding import Severity


def _find(context: Context) -> Iterator[Hit]:
    for service in context.of_kind("Service"):
        spec = at(service.manifest, "spec")
        if spec.get("type") == "NodePort":
            yield Hit(
                resource=service,
                path="$.spec.type",
                message=f"{service.ref.plain} is of type NodePort: it is open on every node of the cluster",
                hint="use type: ClusterIP behind an Ingress or a Gateway, or type: LoadBalancer",
            )
        addresses = spec.get("externalIPs")
        if isinstance(addresses, list) and addresses:
            yield Hit(
                resource=service,
                path="$.spec.externalIPs",
                message=f"{service.ref.plain} claims traffic to {', '.join(map(str, addresses))} by externalIPs",
                hint="remove externalIPs; a load balancer or a Gateway gives an address that is its own",
            )


_EXAMPLE = """\
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop}}
spec: {{type: {type}, ports: [{{port: 80}}]}}
"""

CHECK = Check(
    id="sec/exposed-service",
    severity=Severity.WARNING,
    title="a Service is open on every node, or takes addresses that it names itself",
    rationale=(
        "A node port is reachable wherever a node is, past the rules of the load balancer. externalIPs catch traffic "
        "of the whole cluster to any address, also to one that is not theirs (CVE-2020-8554)."
    ),
    example=Example(good=_EXAMPLE.format(type="ClusterIP"), bad=_EXAMPLE.format(type="NodePort")),
    find=_find,
    on=("Service",),
)
