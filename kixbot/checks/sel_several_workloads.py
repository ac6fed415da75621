"""sel/several-workloads: a Service that sends traffic to different programs."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.pods import Pods
from kixbot.checks.selectors import compact
from kixbot.checks.services import selector_of
from kixbot.checks.shape import text
from kixbot.model.finding import Confidence, Related, Severity

# Labels that tell versions of one program apart, not programs.
_RELEASES = frozenset(
    {"app.kubernetes.io/version", "canary", "color", "release-track", "revision", "slot", "track", "version"}
)


def _find(context: Context) -> Iterator[Hit]:
    for service in context.of_kind("Service"):
        wanted = selector_of(service)
        selected = context.selected(service.ref.namespace, {"matchLabels": wanted}) if wanted else ()
        lasting = [pods for pods in selected if not pods.is_batch and not pods.is_opaque]
        if len(lasting) < 2 or _is_one_program(lasting):
            continue
        names = ", ".join(pods.resource.ref.plain for pods in lasting)
        yield Hit(
            resource=service,
            path="$.spec.selector",
            message=f"{service.ref.plain} selector {compact(wanted)} matches {len(lasting)} workloads: {names}; each "
            "gets a share of the traffic",
            hint="add a label that only one of them carries, for example app.kubernetes.io/component",
            related=tuple(
                Related(ref=pods.resource.ref, note="pod labels", location=pods.resource.place(pods.labels_path))
                for pods in lasting
            ),
        )


def _is_one_program(lasting: list[Pods]) -> bool:
    """Whether they run the same image, or differ by a label that names a release."""
    if len({frozenset(_images(pods)) for pods in lasting}) == 1:
        return True
    return any(len({pods.labels.get(key) for pods in lasting}) == len(lasting) for key in _RELEASES)


def _images(pods: Pods) -> Iterator[str]:
    for container in pods.containers:
        if container.role == "containers":
            image = text(container.body.get("image")).partition("@")[0]
            folder, slash, name = image.rpartition("/")
            yield f"{folder}{slash}{name.partition(':')[0]}"


_EXAMPLE = """\
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{team: shop{more}}}
  ports: [{{port: 80, targetPort: 8080}}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web, team: shop}}}}
    spec: {{containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: mailer, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: mailer}}}}
  template:
    metadata: {{labels: {{app: mailer, team: shop}}}}
    spec: {{containers: [{{name: mailer, image: "ghcr.io/acme/mailer:1.5.0"}}]}}
"""

CHECK = Check(
    id="sel/several-workloads",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    title="a Service selects pods of different workloads",
    rationale=(
        "Requests are spread over all of them, whatever each of them serves. Workloads that run the same image, or "
        "that differ by a label such as version, track or color, are taken for releases of one program."
    ),
    example=Example(good=_EXAMPLE.format(more=", app: web"), bad=_EXAMPLE.format(more="")),
    find=_find,
)
