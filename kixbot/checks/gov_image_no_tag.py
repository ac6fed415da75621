"""gov/image-no-tag: an image that may be another one tomorrow."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import text
from kixbot.model.finding import Severity


def _find(context: Context) -> Iterator[Hit]:
    for pods in context.pods:
        for container in pods.containers:
            image = text(container.body.get("image"))
            if image and (fault := _fault(image)):
                yield Hit(
                    resource=pods.resource,
                    path=f"{container.path}.image",
                    message=f"{pods.resource.ref.plain} container '{container.name}' uses image {image}, {fault}",
                    hint="name a tag, or pin the digest with kix pin",
                )


def _fault(image: str) -> str | None:
    """What leaves the image open. The port of a registry (`registry:5000/team/app`) is no tag."""
    if "@" in image:
        return None
    _, colon, tag = image.rpartition("/")[2].partition(":")
    if not colon or not tag:
        return "which names neither a tag nor a digest"
    return "whose tag moves with every release" if tag == "latest" else None


_EXAMPLE = """\
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  containers: [{{name: web, image: "registry.example:5000/acme/web{tag}"}}]
"""

CHECK = Check(
    id="gov/image-no-tag",
    severity=Severity.WARNING,
    title="an image has no tag, or the tag latest, and no digest",
    rationale=(
        "Without a tag the registry serves `latest`, which moves: two pods of one workload may run different code, a "
        "rollback brings nothing back, and a receipt cannot say what was deployed."
    ),
    example=Example(good=_EXAMPLE.format(tag=":1.5.0"), bad=_EXAMPLE.format(tag="")),
    find=_find,
)
