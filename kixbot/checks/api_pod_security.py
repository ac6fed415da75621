"""api/pod-security: pods that the Pod Security level of their own namespace refuses."""

from collections.abc import Iterator
from typing import cast

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.pod_security import Level, minor_of, violations
from kixbot.checks.shape import labels
from kixbot.model.finding import Related, Severity

_LABEL = "pod-security.kubernetes.io/enforce"


def _find(context: Context) -> Iterator[Hit]:
    for namespace in context.of_kind("Namespace"):
        marks = labels(namespace.labels)
        level = marks.get(_LABEL)
        if level not in {"baseline", "restricted"}:
            continue
        version = marks.get(f"{_LABEL}-version", "latest")
        minor = minor_of(context.cluster.kubernetes_version if version == "latest" else version)
        for pods in context.pods_in(namespace.ref.name):
            found = [] if pods.is_opaque else list(violations(pods, cast("Level", level), minor))
            if found:
                facts = "\n".join(f"  {fact}" for fact in dict.fromkeys(one.fact for one in found))
                yield Hit(
                    resource=pods.resource,
                    path=found[0].path,
                    message=f"namespace {namespace.ref.name} enforces the level {level}, which refuses the pods of "
                    f"{pods.resource.ref.plain}\n{facts}",
                    hint=f"mend the pods, or lower the label {_LABEL}",
                    related=(
                        Related(
                            ref=namespace.ref,
                            note=f"enforces {level}",
                            location=namespace.place(f'$.metadata.labels."{_LABEL}"'),
                        ),
                    ),
                )


_EXAMPLE = """\
apiVersion: v1
kind: Namespace
metadata: {{name: shop, labels: {{pod-security.kubernetes.io/enforce: baseline}}}}
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {{name: agent, namespace: shop}}
spec:
  selector: {{matchLabels: {{app: agent}}}}
  template:
    metadata: {{labels: {{app: agent}}}}
    spec:
      hostNetwork: {host}
      containers: [{{name: agent, image: "ghcr.io/acme/agent:1.5.0"}}]
"""

CHECK = Check(
    id="api/pod-security",
    severity=Severity.ERROR,
    title="the Pod Security level of a namespace refuses pods of the build",
    rationale=(
        "The API server takes the workload and refuses each of its pods, so the rollout never begins. The level is "
        "judged as the version in the label says, else as the cluster's version does."
    ),
    example=Example(good=_EXAMPLE.format(host="false"), bad=_EXAMPLE.format(host="true")),
    find=_find,
)
