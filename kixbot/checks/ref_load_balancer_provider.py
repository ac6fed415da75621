"""ref/load-balancer-provider: a Service of type LoadBalancer in a cluster that has nothing to fulfil it."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context, prefix_of
from kixbot.checks.shape import at
from kixbot.model.finding import Severity

ROLE = "loadBalancer"
_FACT = (
    'uses type=LoadBalancer but no load balancer provider is configured (cluster.roles.loadBalancer.binding = "absent"'
    ", no provider instance). Use type=ClusterIP or NodePort, add a provider instance, or configure "
    "cluster.roles.loadBalancer.binding to match your environment."
)


def _find(context: Context) -> Iterator[Hit]:
    binding = context.cluster.roles.get(ROLE)
    if binding is None or binding.kind != "absent":
        return
    for service in context.of_kind("Service"):
        if at(service.manifest, "spec").get("type") == "LoadBalancer":
            yield Hit(
                resource=service,
                path="$.spec.type",
                message=f"{prefix_of(service)} Service '{service.ref.name}' {_FACT}",
                hint='set spec.type to ClusterIP, or cluster.roles.loadBalancer.binding to "builtin", "external" or an '
                "instance",
            )


_EXAMPLE = """\
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop}}
spec:
  type: {type}
  ports: [{{port: 80}}]
"""

CHECK = Check(
    id="ref/load-balancer-provider",
    severity=Severity.ERROR,
    title="a Service of type LoadBalancer in a cluster without a load balancer",
    rationale=(
        "The address of such a Service stays pending for ever, and what waits for it waits too. Whether a cluster has "
        "a load balancer is a fact of its flavor: `cluster.roles.loadBalancer.binding` is `absent` on kind, and the "
        "examples below are judged there."
    ),
    example=Example(good=_EXAMPLE.format(type="NodePort"), bad=_EXAMPLE.format(type="LoadBalancer")),
    find=_find,
)
