"""ref/storage-provider: a claim that relies on a default StorageClass which no cluster of this kind has."""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import at, keyed
from kixbot.model.finding import Severity
from kixbot.model.resource import Resource

_FACT = (
    "names no StorageClass, and this cluster has no default one "
    '(cluster.roles.storage.binding = "absent", no StorageClass is marked as default); it stays pending'
)


def _find(context: Context) -> Iterator[Hit]:
    binding = context.cluster.roles.get("storage")
    if binding is None or binding.kind != "absent" or context.cluster.storage_classes or _has_default(context):
        return
    for resource, path, spec in _claims(context):
        if "storageClassName" not in spec and not spec.get("volumeName") and not context.of_kind("PersistentVolume"):
            yield Hit(
                resource=resource,
                path=path,
                message=f"a claim of {resource.ref.plain} {_FACT}",
                hint="name a storageClassName, add a StorageClass marked as default, or bind the role",
            )


def _has_default(context: Context) -> bool:
    mark = "storageclass.kubernetes.io/is-default-class"
    return any(one.annotations.get(mark) == "true" for one in context.of_kind("StorageClass", "storage.k8s.io"))


def _claims(context: Context) -> Iterator[tuple[Resource, str, Mapping[str, Any]]]:
    for claim in context.of_kind("PersistentVolumeClaim"):
        yield claim, "$.spec", at(claim.manifest, "spec")
    for workload in context.of_kind("StatefulSet", "apps"):
        for path, template in keyed("$.spec", at(workload.manifest, "spec"), "volumeClaimTemplates"):
            yield workload, f"{path}.spec", at(template, "spec")
    for pods in context.pods:
        for path, volume in keyed(pods.spec_path, pods.spec, "volumes"):
            if spec := at(volume, "ephemeral", "volumeClaimTemplate", "spec"):
                yield pods.resource, f"{path}.ephemeral.volumeClaimTemplate.spec", spec


_CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec:
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
"""
_CLASS = """\
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: fast, annotations: {storageclass.kubernetes.io/is-default-class: "true"}}
provisioner: ebs.csi.aws.com
"""

CHECK = Check(
    id="ref/storage-provider",
    severity=Severity.ERROR,
    title="a claim relies on a default StorageClass that the cluster does not have",
    rationale=(
        "Without a class and without a default one nothing provisions a volume: the claim and the pods that mount it "
        "stay pending. The examples below are judged where `cluster.roles.storage.binding` is `absent`."
    ),
    example=Example(good=_CLAIM + _CLASS, bad=_CLAIM),
    find=_find,
)
