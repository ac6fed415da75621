"""ref/secret-key: a pod asks for a key that its Secret does not declare."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.keys import missing
from kixbot.model.finding import Severity


def _find(context: Context) -> Iterator[Hit]:
    yield from missing(context, "Secret")


_EXAMPLE = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {{name: db, namespace: shop}}
spec:
  secretStoreRef: {{name: vault, kind: ClusterSecretStore}}
  data: [{{secretKey: pass, remoteRef: {{key: shop/db}}}}]
---
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  containers:
    - name: web
      image: ghcr.io/acme/web:1.5.0
      env: [{{name: PASSWORD, valueFrom: {{secretKeyRef: {{name: db, key: {key}}}}}}}]
"""

CHECK = Check(
    id="ref/secret-key",
    severity=Severity.ERROR,
    title="a pod asks for a key that the Secret does not declare",
    rationale=(
        "The container stays in CreateContainerConfigError, or its volume cannot be mounted, until the key exists. "
        "kix knows the keys of Secrets in the build, of those it generates, of externals that list theirs, and of "
        "those that cert-manager, External Secrets, Sealed Secrets and CloudNativePG will create. `optional: true` "
        "is respected."
    ),
    example=Example(good=_EXAMPLE.format(key="pass"), bad=_EXAMPLE.format(key="password")),
    find=_find,
)
