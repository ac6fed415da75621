"""ref/cycle and ref/cycle-softened: resources that wait for each other."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.model.finding import Confidence, Related, Severity
from kixbot.model.resource import Ref

_NIX = """\
build = config: rec {{
  peers = scope.mkResource {{ kind = "ConfigMap"; name = "peers"; data.host = {reference}; }};
  ss = scope.mkResource {{ kind = "StatefulSet"; name = "ss"; after = [ peers ]; spec = {{ … }}; }};
}};
"""


def _find(context: Context) -> Iterator[Hit]:
    for cycle in context.build.cycles:
        refs = cycle if cycle[0] == cycle[-1] and len(cycle) > 1 else (*cycle, cycle[0])
        resource = context.by_ref.get(refs[0])
        yield Hit(
            resource=resource,
            message=f"reference cycle: {' -> '.join(ref.id for ref in refs)}",
            hint="put kix.weak around the reference that need not come first",
            related=tuple(_related(context, ref) for ref in refs[1:-1]),
        )


def _related(context: Context, ref: Ref) -> Related:
    resource = context.by_ref.get(ref)
    return Related(ref=ref, note="in the cycle", location=resource.place() if resource else None)


def _find_softened(context: Context) -> Iterator[Hit]:
    for edge in context.build.softened:
        resource = context.by_ref.get(edge.source)
        if resource is not None:
            yield Hit(
                resource=resource,
                path=edge.path,
                message=f"{edge.source.plain} and {edge.target.plain} refer to each other, so this reference orders "
                "nothing",
                hint="none needed: both are applied in one wave",
                related=(_related(context, edge.target),),
            )


CHECK = Check(
    id="ref/cycle",
    severity=Severity.ERROR,
    title="references of a definition run in a circle",
    rationale=(
        "A reference says what comes first and what an identity is made of; in a circle nothing is first. "
        "`kix.weak value` keeps the value and drops the reference."
    ),
    example=Example(
        good=_NIX.format(reference="kix.weak ss.out.fqdn"), bad=_NIX.format(reference="ss.out.fqdn"), language="nix"
    ),
    find=_find,
    stage="eval",
)

_PLAIN = """\
apiVersion: v1
kind: ServiceAccount
metadata: {{name: web, namespace: shop}}
{secrets}---
apiVersion: v1
kind: Secret
metadata:
  name: web-token
  namespace: shop
  annotations: {{kubernetes.io/service-account.name: web}}
type: kubernetes.io/service-account-token
"""

SOFTENED = Check(
    id="ref/cycle-softened",
    severity=Severity.INFO,
    confidence=Confidence.PROVEN,
    title="plain manifests refer to each other",
    rationale=(
        "Plain manifests cannot say which reference comes first, and Kubernetes does not ask: references inside a "
        "circle order nothing, and count in no identity."
    ),
    example=Example(good=_PLAIN.format(secrets=""), bad=_PLAIN.format(secrets="secrets: [{name: web-token}]\n")),
    find=_find_softened,
)
