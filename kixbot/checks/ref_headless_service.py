"""ref/headless-service: a StatefulSet whose Service gives its pods no names."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import at, text
from kixbot.model.finding import Related, Severity


def _find(context: Context) -> Iterator[Hit]:
    for workload in context.of_kind("StatefulSet", "apps"):
        name = text(at(workload.manifest, "spec").get("serviceName"))
        service = context.find("Service", name, workload.ref.namespace) if name else None
        if service is not None and at(service.manifest, "spec").get("clusterIP") != "None":
            yield Hit(
                resource=workload,
                path="$.spec.serviceName",
                message=f"{workload.ref.plain} is governed by {service.ref.plain}, which is not headless; its pods get "
                "no DNS names",
                hint=f"set clusterIP: None in {service.ref.plain}, or name a headless Service",
                related=(Related(ref=service.ref, note="has a cluster IP", location=service.place("$.spec")),),
            )


_EXAMPLE = """\
apiVersion: v1
kind: Service
metadata: {{name: db, namespace: shop}}
spec: {{{ip}selector: {{app: db}}, ports: [{{port: 5432}}]}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {{name: db, namespace: shop}}
spec:
  serviceName: db
  selector: {{matchLabels: {{app: db}}}}
  template:
    metadata: {{labels: {{app: db}}}}
    spec: {{containers: [{{name: db, image: "ghcr.io/acme/db:1.5.0"}}]}}
"""

CHECK = Check(
    id="ref/headless-service",
    severity=Severity.ERROR,
    title="a StatefulSet is governed by a Service that is not headless",
    rationale=(
        "Names such as `db-0.db.shop.svc` come from the governing Service, and only a headless one (clusterIP: None) "
        "has them. Members of a cluster that look for each other by name find nobody."
    ),
    example=Example(good=_EXAMPLE.format(ip="clusterIP: None, "), bad=_EXAMPLE.format(ip="")),
    find=_find,
)
