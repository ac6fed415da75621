"""ref/custom-resource-definition: custom resources of a kind that nothing defines."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.dangling import required
from kixbot.model.finding import Related, Severity
from kixbot.model.resource import Ref, Resource

KIND = "CustomResourceDefinition"


def _find(context: Context) -> Iterator[Hit]:
    """One hit for a kind: at its first resource, the others related."""
    users: dict[Ref, list[Resource]] = {}
    for dangling in required(context, lambda target: target.kind == KIND):
        if resource := context.by_ref.get(dangling.source):
            users.setdefault(dangling.target, []).append(resource)
    for resources in users.values():
        first, *further = resources
        yield Hit(
            resource=first,
            path="$.kind",
            message=f"{first.ref.plain} is of kind {first.ref.kind_group}, which no CustomResourceDefinition in this "
            "cluster defines",
            hint="add the CRD or the package that brings it, or declare the CRD as external",
            related=tuple(Related(ref=one.ref, note="of this kind too", location=one.place()) for one in further),
        )


_RESOURCE = """\
apiVersion: example.org/v1
kind: Pool
metadata: {name: main, namespace: shop}
spec: {size: 3}
"""

CHECK = Check(
    id="ref/custom-resource-definition",
    severity=Severity.ERROR,
    title="a custom resource has no CRD",
    rationale=(
        "The API server does not know the kind and answers 404. Where manifests are checked without any settings, "
        "CRDs count as external."
    ),
    example=Example(
        good=_RESOURCE
        + """\
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pools.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Pool, plural: pools}
  versions:
    - name: v1
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
""",
        bad=_RESOURCE,
    ),
    find=_find,
)
