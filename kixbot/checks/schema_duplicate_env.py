"""schema/duplicate-env: one name twice among a container's environment variables."""

from collections import Counter
from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context, prefix_of
from kixbot.checks.shape import mappings, text
from kixbot.model.finding import Severity


def _find(context: Context) -> Iterator[Hit]:
    for pods in context.pods:
        for container in pods.containers:
            names = Counter(text(entry.get("name")) for entry in mappings(container.body.get("env")))
            repeated = [name for name, count in names.items() if name and count > 1]
            if repeated:
                yield Hit(
                    resource=pods.resource,
                    path=f"{container.path}.env",
                    message=f"{prefix_of(pods.resource)} Container '{container.name}' has duplicate env var name(s): "
                    f"[{', '.join(repeated)}].",
                    hint=f"keep one entry of {repeated[0]} and remove the other",
                )


_EXAMPLE = """\
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  containers:
    - name: web
      image: ghcr.io/acme/web:1.5.0
      env:
        - {{name: DATABASE_URL, value: "postgresql://db/shop"}}
{more}"""

CHECK = Check(
    id="schema/duplicate-env",
    severity=Severity.ERROR,
    title="an environment variable is set twice in one container",
    rationale=(
        "Environment variables are a list keyed by name. Server-side apply refuses a list that holds a key twice, and "
        "with client-side apply removing one of the two entries later drops both. Which value wins is not visible in "
        "the manifest."
    ),
    example=Example(
        good=_EXAMPLE.format(more='        - {name: LOG_LEVEL, value: "info"}\n'),
        bad=_EXAMPLE.format(more='        - {name: DATABASE_URL, value: "postgresql://other/shop"}\n'),
    ),
    find=_find,
)
