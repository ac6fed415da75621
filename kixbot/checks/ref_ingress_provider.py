"""ref/ingress-provider: an Ingress in a cluster that has nothing to serve it."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context, prefix_of
from kixbot.model.finding import Severity

_FACT = (
    'needs an ingress controller, but none is configured (cluster.roles.ingress.binding = "absent", no IngressClass)'
)


def _find(context: Context) -> Iterator[Hit]:
    binding = context.cluster.roles.get("ingress")
    if binding is None or binding.kind != "absent":
        return
    if context.cluster.ingress_classes or context.of_kind("IngressClass", "networking.k8s.io"):
        return
    for ingress in context.of_kind("Ingress", "networking.k8s.io"):
        yield Hit(
            resource=ingress,
            path="$.spec",
            message=f"{prefix_of(ingress)} Ingress '{ingress.ref.name}' {_FACT}",
            hint="add a controller with its IngressClass, or set cluster.roles.ingress.binding to match the cluster",
        )


_INGRESS = """\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  defaultBackend: {service: {name: web, port: {number: 80}}}
"""
_CLASS = """\
---
apiVersion: networking.k8s.io/v1
kind: IngressClass
metadata: {name: nginx, annotations: {ingressclass.kubernetes.io/is-default-class: "true"}}
spec: {controller: k8s.io/ingress-nginx}
"""

CHECK = Check(
    id="ref/ingress-provider",
    severity=Severity.ERROR,
    title="an Ingress in a cluster without an ingress controller",
    rationale=(
        "The Ingress is stored and nobody reads it: it gets no address and no traffic. Whether a cluster brings a "
        "controller is a fact of its flavor; the examples below are judged where `cluster.roles.ingress.binding` is "
        "`absent`."
    ),
    example=Example(good=_INGRESS + _CLASS, bad=_INGRESS),
    find=_find,
)
