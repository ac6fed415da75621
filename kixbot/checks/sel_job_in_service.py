"""sel/job-in-service: pods of a Job that a Service would send traffic to, beside the pods it is meant for."""

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
        if all(pods.is_batch for pods in selected):
            continue  # sel/service-selects-only-jobs says so
        for pods in (pods for pods in selected if pods.is_batch):
            job = pods.resource
            yield Hit(
                resource=job,
                path=pods.labels_path,
                message=f"{job.ref.plain} pod labels {compact(pods.labels)} satisfy {service.ref.plain} selector "
                f"{compact(wanted)}; the Service would route traffic to the {job.ref.kind} pod",
                hint=f"give the {job.ref.kind} pods labels of their own, for example app.kubernetes.io/component",
                related=(Related(ref=service.ref, note="selector", location=service.place("$.spec.selector")),),
            )


_EXAMPLE = """\
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{app: web}}
  ports: [{{port: 80, targetPort: 8080}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]}}
---
apiVersion: batch/v1
kind: Job
metadata: {{name: migrate, namespace: shop}}
spec:
  template:
    metadata: {{labels: {{app: {app}}}}}
    spec:
      restartPolicy: Never
      containers: [{{name: migrate, image: "ghcr.io/acme/web:1.5.0"}}]
"""

CHECK = Check(
    id="sel/job-in-service",
    severity=Severity.ERROR,
    title="pods of a Job or CronJob satisfy the selector of a Service",
    rationale=(
        "A Service selects every ready pod with its labels, whoever made it. While the Job runs, a share of the "
        "requests goes to a pod that does not serve them. Charts that put their common labels on hook Jobs are the "
        "usual cause."
    ),
    example=Example(good=_EXAMPLE.format(app="web-migrate"), bad=_EXAMPLE.format(app="web")),
    find=_find,
)
