"""ref/service-selects-nothing: a Service whose selector no pod satisfies."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.selectors import compact
from kixbot.checks.services import selector_of
from kixbot.model.finding import Confidence, Related, Severity
from kixbot.model.resource import Resource


def _find(context: Context) -> Iterator[Hit]:
    for service in context.of_kind("Service"):
        wanted = selector_of(service)
        if wanted and not context.selected(service.ref.namespace, {"matchLabels": wanted}):
            yield _hit(context, service, wanted)


def _hit(context: Context, service: Resource, wanted: dict[str, str]) -> Hit:
    namespace = service.ref.namespace
    near = context.nearest(namespace, wanted)
    lines = [
        "The Service has no endpoints, so traffic cannot reach the app.",
        f"  service: {namespace}/{service.ref.name}",
        f"  selector: {compact(wanted)}",
    ]
    if near:
        labels = "label" if near.differing == 1 else "labels"
        lines.append(f"  nearest: {near.shown} (differs in {near.differing} {labels})")
        hint = f"set spec.selector to the pod labels of {near.pods.resource.ref.plain}"
    elif elsewhere := context.selected_elsewhere(namespace, {"matchLabels": wanted}):
        hint = f"{elsewhere.resource.ref.plain} has these labels; a Service selects pods of its own namespace only"
    else:
        hint = "set spec.selector to the pod labels of the workload that serves it"
    unsure = context.may_be_elsewhere(namespace, wanted)
    return Hit(
        resource=service,
        path="$.spec.selector",
        message="\n".join(lines),
        hint=hint,
        related=(Related(ref=near.pods.resource.ref, note="nearest", location=near.place),) if near else (),
        severity=Severity.WARNING if unsure else None,
        confidence=Confidence.HINT if unsure else None,
    )


_EXAMPLE = """\
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{app.kubernetes.io/name: {name}}}
  ports: [{{port: 80, targetPort: 8080}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{matchLabels: {{app.kubernetes.io/name: shop-web}}}}
  template:
    metadata: {{labels: {{app.kubernetes.io/name: shop-web}}}}
    spec: {{containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]}}
"""

CHECK = Check(
    id="ref/service-selects-nothing",
    severity=Severity.ERROR,
    title="a Service selects no pod of the build",
    rationale=(
        "Without endpoints every connection to the Service is refused. Services without a selector (their endpoints "
        "are written by hand or by a controller) and of type ExternalName are left alone. Where a custom resource in "
        "the namespace is named in the selector, its operator may make the pods; where a workload is declared "
        "external, they may be there: then this is a warning."
    ),
    example=Example(good=_EXAMPLE.format(name="shop-web"), bad=_EXAMPLE.format(name="shop-wbe")),
    find=_find,
)
