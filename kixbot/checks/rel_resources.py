"""rel/resources: a container that does not say what it needs."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import at
from kixbot.model.finding import Severity

_WANTED = (("requests", "cpu"), ("requests", "memory"), ("limits", "memory"))


def _find(context: Context) -> Iterator[Hit]:
    for pods in context.pods:
        shared = at(pods.spec, "resources")
        for one in pods.containers:
            if one.role == "ephemeralContainers":
                continue  # they can have none
            own = at(one.body, "resources")
            lacking = [
                f"{field}.{unit}"
                for field, unit in _WANTED
                # A limit is a request too, where none is set.
                if not any(unit in at(body, name) for body in (own, shared) for name in {field, "limits"})
            ]
            if lacking:
                yield Hit(
                    resource=pods.resource,
                    path=f"{one.path}.resources",
                    message=f"{pods.resource.ref.plain} container '{one.name}' does not set {', '.join(lacking)}",
                    hint="set requests of cpu and memory, and a limit of memory",
                )


_EXAMPLE = """\
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  containers:
    - name: web
      image: ghcr.io/acme/web:1.5.0
      resources: {{requests: {{cpu: 100m, memory: 128Mi}}{limits}}}
"""

CHECK = Check(
    id="rel/resources",
    severity=Severity.WARNING,
    title="a container does not say how much cpu and memory it needs",
    rationale=(
        "Without requests the scheduler puts any number of such pods on a node, and they are the first to be evicted. "
        "Without a limit of memory one leak takes the node's other pods with it. A limit of cpu is not asked for: it "
        "slows programs down while the node is idle."
    ),
    example=Example(good=_EXAMPLE.format(limits=", limits: {memory: 256Mi}"), bad=_EXAMPLE.format(limits="")),
    find=_find,
)
