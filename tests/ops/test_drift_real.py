"""Drift on a real API server with its controllers: what they default, count and roll out is no drift; people are."""

import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from kixbot.model.plan import Changed
from tests.ops.mutating_webhook import mirror
from tests.ops.worlds import BLUE, World, real
from tests.parts.access import Access
from tests.parts.kube_api import KubeApi

KINDS = """\
---
apiVersion: v1
kind: Service
metadata: {name: outside, namespace: shop}
spec: {type: ExternalName, externalName: example.test, internalTrafficPolicy: Cluster}
---
apiVersion: v1
kind: Service
metadata: {name: headless, namespace: shop}
spec: {clusterIP: None, selector: {app: web}, ports: [{name: http, port: 80}, {name: dns, port: 80, protocol: UDP}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: all, namespace: shop}
spec: {podSelector: {}, ingress: [{ports: [{port: 80}], from: [{podSelector: {}}]}], policyTypes: [Ingress]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  rules:
  - http: {paths: [{path: /, pathType: Prefix, backend: {service: {name: web, port: {number: 80}}}}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  serviceName: headless
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      securityContext: {}
      tolerations: [{key: a, operator: Exists}]
      containers:
      - name: db
        image: 'registry.test/db:1'
        resources: {requests: {cpu: 1000m, memory: 1024Mi}, limits: {memory: 2048Mi}}
        ports: [{containerPort: 80}]
        volumeMounts: [{name: data, mountPath: /data}, {name: token, mountPath: /token}]
      volumes:
      - name: scratch
        emptyDir: {}
      - name: token
        projected: {sources: [{serviceAccountToken: {path: token}}]}
  volumeClaimTemplates:
  - metadata: {name: data}
    spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1024Mi}}}
---
apiVersion: batch/v1
kind: CronJob
metadata: {name: nightly, namespace: shop}
spec:
  schedule: '0 3 * * *'
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: nightly, image: 'registry.test/n:1', env: [{name: A}]}]}
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: db, namespace: shop}
spec:
  maxReplicas: 1
  scaleTargetRef: {apiVersion: apps/v1, kind: StatefulSet, name: db}
  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: db, namespace: shop}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: db}}}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: empty, namespace: shop}
data: {}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: shop-all}
aggregationRule: {clusterRoleSelectors: [{matchLabels: {shop-part: 'true'}}]}
rules: []
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: shop-part, labels: {shop-part: 'true'}}
rules: [{apiGroups: [''], resources: [pods], verbs: [get]}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.shop.test, labels: {team: shop-part}}
spec:
  group: shop.test
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              cpu: {x-kubernetes-int-or-string: true}
              ratio: {type: number}
              weights:
                type: array
                items: {type: object, properties: {name: {type: string}, weight: {type: integer, default: 1}}}
---
apiVersion: shop.test/v1
kind: Widget
metadata: {name: w, namespace: shop}
spec: {cpu: 1000m, ratio: 1.0, weights: [{name: a}]}
"""


@pytest.fixture
def world(control_plane: Access, kube_prefix: str) -> Iterator[World]:
    with real(control_plane, kube_prefix) as found:
        yield found


def kubectl(access: Access, world: World, *words: str) -> str:
    command = [*access.kubectl, "-n", world.name, *words]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def named(world: World, text: str) -> str:
    """Cluster-scoped names of this test alone."""
    return (
        text.replace("shop-all", f"{world.name}-all")
        .replace("shop-part", f"{world.name}-part")
        .replace("shop.test", f"{world.name}.test")
    )


def removed(world: World) -> None:
    for api, kind, name in (
        ("rbac.authorization.k8s.io/v1", "ClusterRole", f"{world.name}-all"),
        ("rbac.authorization.k8s.io/v1", "ClusterRole", f"{world.name}-part"),
        ("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"widgets.{world.name}.test"),
    ):
        found = world.deploys.kind(api, kind)
        live = world.cluster.get(found, name)
        world.cluster.delete(found, name, uid=live["metadata"]["uid"])


def test_no_kind_drifts_by_defaults_normalised_values_status_or_controllers(world: World) -> None:
    text = named(world, BLUE + KINDS)
    world.deploy(text, timeout=120)
    assert world.told() == []
    for one in world.build(text).resources:
        # Every object gets a newer version than the recorded one, so that fields decide.
        patch: dict[str, Any] = {"metadata": {"annotations": {"controller.test/seen": "1"}}}
        world.patch(one.api_version, one.ref.kind, one.ref.name, patch, by="some-controller")
    before = world.cluster.requests.copy()
    assert world.told() == []
    assert (world.cluster.requests - before)["dry-run"] == 0
    assert world.told(world.build(text)) == []
    removed(world)


def test_a_definition_is_judged_by_its_metadata_alone(world: World) -> None:
    text = named(world, BLUE + KINDS)
    world.deploy(text, timeout=120)
    kind, crd = ("apiextensions.k8s.io/v1", "CustomResourceDefinition"), f"widgets.{world.name}.test"
    live = world.cluster.get(world.deploys.kind(*kind), crd)
    versions = live["spec"]["versions"]
    versions[0]["schema"]["openAPIV3Schema"]["properties"]["more"] = {"type": "string"}
    patch: dict[str, Any] = {"metadata": {"labels": {"team": "other"}}, "spec": {"versions": versions}}
    world.patch(*kind, crd, patch)
    before = world.cluster.requests.copy()
    told = world.told()
    assert told[:2] == [
        "Drift: 1 resource changed outside kix",
        "  ! CustomResourceDefinition/widgets.shop.test",
    ]
    assert told[2:] == [
        "      ! $.metadata.labels.team:",
        "          applied: old value not available",
        '          live: "other" (kubectl-edit, TIME)',
        "      ! $.spec.versions:",
        "          applied: old value not available",
        "          live: not read (kubectl-edit, TIME)",
    ]
    assert (world.cluster.requests - before)["get"] == 3
    removed(world)


def test_kubectl_scale_and_rollout_undo_are_told_and_put_back(world: World, control_plane: Access) -> None:
    world.deploy(timeout=60)
    two = BLUE.replace("registry.test/web:1", "registry.test/web:2")
    world.deploy(two, timeout=60)
    kubectl(control_plane, world, "rollout", "undo", "deployment/web")
    kubectl(control_plane, world, "scale", "--replicas=4", "deployment/web")
    drift = world.drift(world.build(two))
    (deployment,) = drift.resources
    told = {field.path: (field.kind, field.manager, field.subresource) for field in deployment.fields}
    assert told == {
        "$.spec.template.spec.containers[web].image": ("changed", "kubectl", None),
        "$.spec.replicas": ("changed", "kubectl", "scale"),
    }
    # The bookkeeping that came back with the old revision is rewritten; what drifted is still told.
    world.deploy(two, timeout=60)
    assert world.drift(world.build(two)).resources[0].fields == deployment.fields
    world.deploy(two, timeout=60, reconcile=True)
    assert world.told(world.build(two)) == []
    live = world.live("apps/v1", "Deployment", "web")
    assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "registry.test/web:2"


def test_a_restart_by_hand_is_an_addition_and_no_drift(world: World, control_plane: Access) -> None:
    world.deploy(timeout=60)
    kubectl(control_plane, world, "rollout", "restart", "deployment/web")
    drift = world.drift(world.build())
    assert drift.resources == ()
    (field,) = drift.additions[0].fields
    assert field.path == '$.spec.template.metadata.annotations."kubectl.kubernetes.io/restartedAt"'


def test_an_autoscaler_that_scales_a_ceded_field_never_drifts_and_does_without_ceding(
    world: World, control_plane: Access
) -> None:
    hpa = (
        "---\napiVersion: autoscaling/v2\nkind: HorizontalPodAutoscaler\nmetadata: {name: web, namespace: shop}\n"
        "spec:\n  minReplicas: 2\n  maxReplicas: 9\n  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}\n"
        "  metrics: [{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 80}}}]\n"
    )
    head = "metadata: {name: web, namespace: shop}\nspec:\n  replicas: 2"
    ceded = BLUE.replace(head, head.replace("shop}", "shop, annotations: {kix.run/cede: spec.replicas}}"))
    for text, quiet in ((ceded, True), (BLUE, False)):
        world.deploy(text + hpa, timeout=60, force_conflicts=True)
        for number in (3, 4):
            patch = f'{{"spec":{{"minReplicas":{number}}}}}'
            kubectl(control_plane, world, "patch", "hpa", "web", "--type=merge", "-p", patch)
            kubectl(control_plane, world, "wait", f"--for=jsonpath={{.spec.replicas}}={number}", "deployment/web",
                    "--timeout=60s")  # fmt: skip
            drifted = {one.ref.kind for one in world.drift().resources}
            assert ("Deployment" not in drifted) is quiet
            assert "HorizontalPodAutoscaler" in drifted
        world.deploy(text + hpa, timeout=60, force_conflicts=True, reconcile=True)


def test_what_a_mutating_webhook_rewrites_is_as_applied(
    world: World, control_plane: Access, kube_api: KubeApi, tmp_path: Path
) -> None:
    image = "registry.test/web:1"
    with mirror(kube_api, tmp_path, world.name):
        time.sleep(1)  # a new webhook configuration takes a moment to be asked
        world.deploy(timeout=60)
        live = world.live("apps/v1", "Deployment", "web")
        assert live["spec"]["template"]["spec"]["containers"][0]["image"] == "mirror.test/web:1"
        world.patch("apps/v1", "Deployment", "web", {"metadata": {"annotations": {"a": "b"}}}, by="controller")
        assert world.told() == []
        assert world.told(world.build()) == []
        world.deploy(BLUE.replace(image, "registry.test/web:2"), timeout=60)
        changed = [change for package in world.deploys.plan.packages for change in package.resources]
        assert [(one.old, one.new) for change in changed for one in change.changes if isinstance(one, Changed)] == [
            ("mirror.test/web:1", "mirror.test/web:2")
        ]
        assert world.told() == []
        kubectl(control_plane, world, "set", "image", "deployment/web", "web=registry.test/web:3")
        (field,) = world.drift().resources[0].fields
        assert (field.path, field.manager) == ("$.spec.template.spec.containers[web].image", "kubectl-set")
