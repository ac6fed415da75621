"""rel/shared-claim: replicas on several nodes that mount a volume which one node may hold."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.scaling import replicas_of
from kixbot.checks.shape import at, keyed, text
from kixbot.model.finding import Confidence, Related, Severity

_ONE_NODE = frozenset({"ReadWriteOnce", "ReadWriteOncePod"})
_KINDS = frozenset({"Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "Rollout"})


def _find(context: Context) -> Iterator[Hit]:
    for pods in context.pods:
        workload = pods.resource
        most = max([replicas_of(workload) or 0, *(one.most or 0 for one in context.scalers.get(workload.ref, ()))])
        if workload.ref.kind not in _KINDS or most < 2:
            continue
        for path, volume in keyed(pods.spec_path, pods.spec, "volumes"):
            name = text(at(volume, "persistentVolumeClaim").get("claimName"))
            claim = context.find("PersistentVolumeClaim", name, workload.ref.namespace) if name else None
            modes = at(claim.manifest, "spec").get("accessModes") if claim else None
            if claim is not None and isinstance(modes, list) and modes and _ONE_NODE.issuperset(map(str, modes)):
                yield Hit(
                    resource=workload,
                    path=f"{path}.persistentVolumeClaim.claimName",
                    message=f"{workload.ref.plain} runs up to {most} replicas that all mount {claim.ref.plain}, which "
                    f"is {', '.join(map(str, modes))}",
                    hint="use a StatefulSet with volumeClaimTemplates, a ReadWriteMany claim, or one replica",
                    related=(Related(ref=claim.ref, note="access modes", location=claim.place("$.spec.accessModes")),),
                )


_EXAMPLE = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {{name: data, namespace: shop}}
spec:
  accessModes: [{mode}]
  storageClassName: fast
  resources: {{requests: {{storage: 1Gi}}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]
      volumes: [{{name: data, persistentVolumeClaim: {{claimName: data}}}}]
"""

CHECK = Check(
    id="rel/shared-claim",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    title="several replicas share a claim that one node may mount",
    rationale=(
        "A ReadWriteOnce volume can be mounted by the pods of one node only. Replicas that the scheduler puts on "
        "another node wait for ever in ContainerCreating, and so does a rolling update."
    ),
    example=Example(good=_EXAMPLE.format(mode="ReadWriteMany"), bad=_EXAMPLE.format(mode="ReadWriteOnce")),
    find=_find,
    on=("Deployment", "StatefulSet"),
)
