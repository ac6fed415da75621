"""sel/service-selects-only-jobs: a Service whose only pods run to an end."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.selectors import compact
from kixbot.checks.services import selector_of
from kixbot.model.finding import Related, Severity


def _find(context: Context) -> Iterator[Hit]:
    for service in context.of_kind("Service"):
        wanted = selector_of(service)
        selected = context.selected(service.ref.namespace, {"matchLabels": wanted}) if wanted else ()
        if not selected or not all(pods.is_batch for pods in selected):
            continue
        names = ", ".join(pods.resource.ref.plain for pods in selected)
        yield Hit(
            resource=service,
            path="$.spec.selector",
            message=f"{service.ref.plain} selector {compact(wanted)} matches only pods that run to an end: {names}; "
            "the Service has no lasting endpoint",
            hint="select the pods of a workload that keeps running, or remove the Service",
            related=tuple(
                Related(ref=pods.resource.ref, note="pod labels", location=pods.resource.place(pods.labels_path))
                for pods in selected
            ),
        )


_EXAMPLE = """\
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{app: web}}
  ports: [{{port: 80, targetPort: 8080}}]
---
{workload}
metadata: {{name: web, namespace: shop}}
spec:
{selector}  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      restartPolicy: {restart}
      containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]
"""

CHECK = Check(
    id="sel/service-selects-only-jobs",
    severity=Severity.ERROR,
    title="a Service selects pods of Jobs and CronJobs only",
    rationale=(
        "Pods of a Job end. Once they have, the Service has no endpoint, and before that it sends traffic to a pod "
        "that was not made to serve it."
    ),
    example=Example(
        good=_EXAMPLE.format(
            workload="apiVersion: apps/v1\nkind: Deployment",
            selector="  selector: {matchLabels: {app: web}}\n",
            restart="Always",
        ),
        bad=_EXAMPLE.format(workload="apiVersion: batch/v1\nkind: Job", selector="", restart="Never"),
    ),
    find=_find,
)
