"""sec/writable-root: a container that may write to its own root file system."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import at
from kixbot.model.finding import Severity


def _find(context: Context) -> Iterator[Hit]:
    for pods in context.pods:
        if at(pods.spec, "os").get("name") == "windows":
            continue
        for one in pods.containers:
            if at(one.body, "securityContext").get("readOnlyRootFilesystem") is not True:
                yield Hit(
                    resource=pods.resource,
                    path=f"{one.path}.securityContext.readOnlyRootFilesystem",
                    message=f"{pods.resource.ref.plain} container '{one.name}' may write to its root file system",
                    hint="set readOnlyRootFilesystem: true, and mount an emptyDir where it must write",
                )


_EXAMPLE = """\
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  containers:
    - name: web
      image: ghcr.io/acme/web:1.5.0
      securityContext: {{readOnlyRootFilesystem: {value}}}
"""

CHECK = Check(
    id="sec/writable-root",
    severity=Severity.WARNING,
    title="a container may write to its root file system",
    rationale=(
        "Whoever breaks into it can replace its programs and leave others behind. What is written there is lost with "
        "the container, and counts against the node's disk."
    ),
    example=Example(good=_EXAMPLE.format(value="true"), bad=_EXAMPLE.format(value="false")),
    find=_find,
)
