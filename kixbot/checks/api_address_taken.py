"""api/address-taken: a node port, a cluster IP or a port of a node that two ask for."""

from collections import defaultdict
from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.services import ports_of
from kixbot.checks.shape import at, keyed, text
from kixbot.model.finding import Related, Severity
from kixbot.model.resource import Resource

_Claim = tuple[Resource, str]


def _find(context: Context) -> Iterator[Hit]:
    claims: defaultdict[str, list[_Claim]] = defaultdict(list)
    for service in context.of_kind("Service"):
        spec = at(service.manifest, "spec")
        for path, port in ports_of(service):
            if node_port := port.get("nodePort"):
                claims[f"node port {node_port}/{port.get('protocol', 'TCP')}"].append((service, f"{path}.nodePort"))
        address = text(spec.get("clusterIP"))
        if address not in {"", "None"}:
            claims[f"cluster IP {address}"].append((service, "$.spec.clusterIP"))
    for pods in context.pods:
        # One such pod runs on every node that it fits; others can go elsewhere.
        if (
            pods.resource.ref.kind == "DaemonSet"
            and not pods.spec.get("nodeSelector")
            and not pods.spec.get("affinity")
        ):
            for container in pods.containers:
                for path, port in keyed(container.path, container.body, "ports"):
                    if port.get("hostPort"):
                        shown = f"{port['hostPort']}/{port.get('protocol', 'TCP')} {text(port.get('hostIP'))}".strip()
                        claims[f"port {shown} of every node"].append((pods.resource, f"{path}.hostPort"))
    for what, found in claims.items():
        (first, where), *others = found
        for other, path in others:
            yield Hit(
                resource=other,
                path=path,
                message=f"{other.ref.plain} asks for {what}, which {first.ref.plain} has",
                hint="give one of the two another one, or leave the choice to the cluster",
                related=(Related(ref=first.ref, note="has it", location=first.place(where)),),
            )


_EXAMPLE = """\
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop}}
spec: {{type: NodePort, ports: [{{port: 80, nodePort: 30080}}]}}
---
apiVersion: v1
kind: Service
metadata: {{name: api, namespace: shop}}
spec: {{type: NodePort, ports: [{{port: 80, nodePort: {port}}}]}}
"""

CHECK = Check(
    id="api/address-taken",
    severity=Severity.ERROR,
    title="two objects ask for the same node port, cluster IP or port of every node",
    rationale=(
        "Node ports and cluster IPs exist once: the API server refuses the second Service. Of two DaemonSets that take "
        "the same port of their nodes one stays pending everywhere."
    ),
    example=Example(good=_EXAMPLE.format(port=30081), bad=_EXAMPLE.format(port=30080)),
    find=_find,
)
