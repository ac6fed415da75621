"""ref/config-map-key: a pod asks for a key that its ConfigMap does not declare."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.keys import missing
from kixbot.model.finding import Severity


def _find(context: Context) -> Iterator[Hit]:
    yield from missing(context, "ConfigMap")


_EXAMPLE = """\
apiVersion: v1
kind: ConfigMap
metadata: {{name: web, namespace: shop}}
data: {{app.ini: "workers = 4"}}
---
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  containers:
    - name: web
      image: ghcr.io/acme/web:1.5.0
      volumeMounts: [{{name: config, mountPath: /etc/web}}]
  volumes:
    - name: config
      configMap: {{name: web, items: [{{key: {key}, path: app.ini}}]}}
"""

CHECK = Check(
    id="ref/config-map-key",
    severity=Severity.ERROR,
    title="a pod asks for a key that the ConfigMap does not declare",
    rationale=(
        "The container stays in CreateContainerConfigError, or its volume cannot be mounted, until the key exists. "
        "`optional: true` is respected."
    ),
    example=Example(good=_EXAMPLE.format(key="app.ini"), bad=_EXAMPLE.format(key="web.ini")),
    find=_find,
)
