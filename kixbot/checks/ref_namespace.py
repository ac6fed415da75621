"""ref/namespace: resources in a namespace that nothing creates."""

from collections import Counter
from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.dangling import required
from kixbot.model.finding import Severity
from kixbot.model.resource import Ref

KIND = "Namespace"


def _find(context: Context) -> Iterator[Hit]:
    """One hit for a namespace, not one for each of its resources."""
    first: dict[Ref, Ref] = {}
    paths: dict[Ref, str] = {}
    counts: Counter[Ref] = Counter()
    for dangling in required(context, lambda target: target.kind == KIND):
        first.setdefault(dangling.target, dangling.source)
        paths.setdefault(dangling.target, dangling.path)
        counts[dangling.target] += 1
    for target, source in first.items():
        near = context.likeness.nearest(target.name, context.names_of(target))
        many = "1 resource is" if counts[target] == 1 else f"{counts[target]} resources are"
        yield Hit(
            resource=context.by_ref.get(source),
            path=paths[target],
            message=f"{many} in namespace {target.name}, which no resource in this cluster creates",
            hint=f'did you mean "{near}"?'
            if near
            else f"add Namespace {target.name}, or declare it as external with an import or kix.untrackedRef",
        )


_EXAMPLE = """\
apiVersion: v1
kind: Namespace
metadata: {{name: shop}}
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: web, namespace: {namespace}}}
data: {{workers: "4"}}
"""

CHECK = Check(
    id="ref/namespace",
    severity=Severity.ERROR,
    title="resources lie in a namespace that does not exist",
    rationale=(
        "The API server refuses to create an object in a namespace that is not there. A Nix definition makes the "
        "Namespaces it uses; plain manifests must bring them, or name them as external. default, kube-system, "
        "kube-public and kube-node-lease always exist."
    ),
    example=Example(good=_EXAMPLE.format(namespace="shop"), bad=_EXAMPLE.format(namespace="shoop")),
    find=_find,
)
