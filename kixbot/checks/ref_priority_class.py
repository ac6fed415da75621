"""ref/priority-class: pods of a priority class that nothing creates."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.model.finding import Severity


def _find(context: Context) -> Iterator[Hit]:
    for dangling in context.build.dangling:
        workload = context.by_ref.get(dangling.source)
        if dangling.target.kind != "PriorityClass" or dangling.optional or workload is None:
            continue
        name = dangling.target.name
        near = context.likeness.nearest(name, (*context.names_of(dangling.target), *context.cluster.priority_classes))
        yield Hit(
            resource=workload,
            path=dangling.path,
            message=f"{workload.ref.plain} sets priorityClassName '{name}', which no resource in this cluster creates. "
            "Every pod of this workload would be rejected at admission. Add the PriorityClass, or declare it as "
            "externally managed with an import or kix.untrackedRef",
            hint=f'did you mean "{near}"?' if near else f"add a PriorityClass named {name}",
            cause=f"missing {dangling.target.id}",
        )


_EXAMPLE = """\
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {{name: critical}}
value: 1000
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      priorityClassName: {name}
      containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]
"""

CHECK = Check(
    id="ref/priority-class",
    severity=Severity.ERROR,
    title="a workload names a PriorityClass that does not exist",
    rationale=(
        "The admission plugin Priority refuses every pod that names an unknown class, so the workload has none. The "
        "classes system-cluster-critical and system-node-critical always exist."
    ),
    example=Example(good=_EXAMPLE.format(name="critical"), bad=_EXAMPLE.format(name="urgent")),
    find=_find,
)
