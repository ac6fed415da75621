"""Deploying to a real API server with its controllers: waves, readiness, conflicts, records, refusals."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kixbot.cluster.faults import ForbiddenError, RequestError
from kixbot.cluster.interface import Cluster
from kixbot.cluster.opening import open_cluster
from kixbot.errors import ClusterError, DeployFailedError
from kixbot.model.build import Build
from kixbot.ops.events import Applied, Conflicted, Failed
from kixbot.ops.plan import live_plan
from tests.builds import CLOSED, build_of
from tests.ops.deploys import SHOP, Deploys
from tests.parts.access import Access

ROOT = Path(__file__).parent.parent.parent


def open_as(access: Access, kubeconfig: Path | None = None) -> Cluster:
    return open_cluster(
        context="test",
        kubeconfig=str(kubeconfig or access.kubeconfig),
        embedded=None,
        environment=dict(os.environ),
    )


class Real(Deploys):
    """Deploys a cluster of this test's own name, with records in a namespace of its own."""

    def __init__(self, cluster: Cluster, prefix: str) -> None:
        super().__init__(cluster=cluster)
        self.prefix = prefix

    @property
    def records(self) -> str:
        return f"{self.prefix}-records"

    def build(self, text: str) -> Build:
        named = text.replace("namespace: shop", f"namespace: {self.prefix}").replace(
            "metadata: {name: shop}", f"metadata: {{name: {self.prefix}}}"
        )
        return build_of(named, facts=replace(CLOSED, name=self.prefix))

    def deploy(self, text: str, **options: Any) -> list[str]:
        return self.run(self.build(text), record_namespace=self.records, **options)

    def phases_here(self) -> list[str]:
        """Phases of this test's records."""
        listed = self.cluster.listing(self.kind("kix.run/v1alpha1", "Activation"), namespace=self.records)
        return [one["status"]["phase"] for one in listed.items]

    def live(self, api_version: str, kind: str, name: str) -> dict[str, Any]:
        return self.get(api_version, kind, name, self.prefix)


@pytest.fixture
def real(control_plane: Access, kube_prefix: str) -> Iterator[Real]:
    cluster = open_as(control_plane)
    yield Real(cluster, kube_prefix)
    cluster.close()


BLUE = SHOP.replace("COLOUR", "blue")
EVERYTHING = (
    BLUE
    + """
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: shop}
spec:
  serviceName: db
  replicas: 2
  selector: {matchLabels: {app: db}}
  template:
    metadata: {labels: {app: db}}
    spec:
      containers: [{name: db, image: 'registry.test/db:1', volumeMounts: [{name: data, mountPath: /data}]}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
---
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: agent, namespace: shop}
spec:
  selector: {matchLabels: {app: agent}}
  template:
    metadata: {labels: {app: agent}}
    spec: {containers: [{name: agent, image: 'registry.test/agent:1'}]}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: shop}
spec:
  template:
    metadata: {labels: {app: migrate}}
    spec: {restartPolicy: Never, containers: [{name: migrate, image: 'registry.test/migrate:1'}]}
"""
)


def test_every_workload_kind_is_applied_and_waited_for(real: Real) -> None:
    lines = real.deploy(EVERYTHING, timeout=120)
    for name in ("Deployment/web", "StatefulSet/db", "DaemonSet/agent", "Job/migrate"):
        assert f"  {name} ready" in lines
    assert real.live("apps/v1", "StatefulSet", "db")["status"]["readyReplicas"] == 2
    assert real.live("batch/v1", "Job", "migrate")["status"]["succeeded"] == 1
    assert real.finished.phase.value == "Active"


def test_a_second_deploy_of_the_same_build_costs_only_its_plan_and_record(real: Real) -> None:
    real.deploy(EVERYTHING, timeout=120)
    build = real.build(EVERYTHING)
    real.cluster.requests.clear()
    live = live_plan(build, real.cluster, record_namespace=real.records)
    assert not live.has_changes
    kinds = {resource.ref.kind for resource in build.resources}
    # Discovery; Lease, key and namespace; Activations, parts, and one LIST per kind.
    assert dict(real.cluster.requests) == {"discovery": 2, "get": 3, "list": 2 + len(kinds)}
    real.deploy(EVERYTHING)
    assert not [event for event in real.events if isinstance(event, Applied)]


def test_a_plan_of_one_change_dry_runs_that_object_alone(real: Real) -> None:
    real.deploy(BLUE)
    real.cluster.requests.clear()
    live = live_plan(real.build(SHOP.replace("COLOUR", "green")), real.cluster, record_namespace=real.records)
    assert real.cluster.requests["dry-run"] == 1
    changes = [
        (change.ref.kind, change.reason, [field.path for field in change.changes])
        for package in live.plan.packages
        for change in package.resources
    ]
    assert changes == [("ConfigMap", "content", ["$.data.colour"]), ("Deployment", "dependency", [])]


def test_defaults_and_quantities_of_the_server_are_no_change(real: Real) -> None:
    text = BLUE.replace("image: 'registry.test/web:1',",
                        "image: 'registry.test/web:1', resources: {limits: {cpu: 1000m, memory: 1024Mi}},")  # fmt: skip
    real.deploy(text)
    live = live_plan(real.build(text.replace("web:1", "web:2")), real.cluster, record_namespace=real.records)
    (change,) = [change for package in live.plan.packages for change in package.resources]
    assert [field.path for field in change.changes] == ["$.spec.template.spec.containers[web].image"]


def test_scaling_by_hand_is_a_conflict_with_manager_subresource_and_values(real: Real, control_plane: Access) -> None:
    real.deploy(BLUE)
    scale = ["-n", real.prefix, "scale", "deployment/web", "--replicas=5"]
    subprocess.run([*control_plane.kubectl, *scale], check=True, capture_output=True)
    with pytest.raises(DeployFailedError):
        real.deploy(BLUE.replace("web:1", "web:2"))
    (stopped,) = [event for event in real.events if isinstance(event, Conflicted)]
    (row,) = stopped.conflicts
    assert (row.path, row.manager, row.subresource, row.live, row.desired, row.verdict) == (
        "$.spec.replicas", "kubectl", "scale", 5, 2, "conflict",
    )  # fmt: skip
    image = real.live("apps/v1", "Deployment", "web")["spec"]["template"]["spec"]["containers"][0]["image"]
    assert image == "registry.test/web:1"


def test_a_ceded_replica_count_stays_with_who_scaled(real: Real, control_plane: Access) -> None:
    text = BLUE.replace(
        "kind: Deployment\nmetadata: {name: web, namespace: shop}",
        "kind: Deployment\nmetadata: {name: web, namespace: shop, annotations: {kix.run/cede: spec.replicas}}",
    )
    real.deploy(text)
    scale = ["-n", real.prefix, "scale", "deployment/web", "--replicas=3"]
    subprocess.run([*control_plane.kubectl, *scale], check=True, capture_output=True)
    real.deploy(text.replace("web:1", "web:2"))
    live = real.live("apps/v1", "Deployment", "web")
    assert (live["spec"]["replicas"], live["spec"]["template"]["spec"]["containers"][0]["image"]) == (
        3,
        "registry.test/web:2",
    )


def test_a_definition_and_its_first_object_are_deployed_in_one_run(real: Real) -> None:
    group = f"{real.prefix}.example.test"
    text = f"""
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {{name: widgets.{group}}}
spec:
  group: {group}
  scope: Namespaced
  names: {{kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}}
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties: {{spec: {{type: object, properties: {{size: {{type: integer}}}}}}}}
---
apiVersion: {group}/v1
kind: Widget
metadata: {{name: first, namespace: shop}}
spec: {{size: 3}}
---
apiVersion: v1
kind: Namespace
metadata: {{name: shop}}
"""
    lines = real.deploy(text)
    assert "  Widget/first created" in lines
    assert real.live(f"{group}/v1", "Widget", "first")["spec"] == {"size": 3}
    crd = real.get("apiextensions.k8s.io/v1", "CustomResourceDefinition", f"widgets.{group}", "")
    kind = real.kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    real.cluster.delete(kind, f"widgets.{group}", uid=crd["metadata"]["uid"])


def test_a_failing_job_is_reported_with_its_pod_and_what_was_not_started(real: Real) -> None:
    text = """
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: settings, namespace: shop}
data: {k: v}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  progressDeadlineSeconds: 600
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      nodeSelector: {nowhere: "true"}
      containers: [{name: web, image: 'registry.test/web:1', envFrom: [{configMapRef: {name: settings}}]}]
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}
"""
    with pytest.raises(DeployFailedError, match="wave 2 did not become ready"):
        real.deploy(text, timeout=4)
    (failed,) = [event for event in real.events if isinstance(event, Failed)]
    assert failed.ref.short == f"Deployment/web@{real.prefix}"
    assert failed.reason == "0 of 1 replicas available (after 4 s)"
    assert failed.pod.startswith(f"Pod {real.prefix}/web-")
    assert "Unschedulable" in failed.pod
    assert "FailedScheduling" in failed.event
    assert set(real.phases_here()) == {"Failed"}


def test_a_value_no_schema_knows_is_one_clear_error(real: Real) -> None:
    real.deploy(BLUE)
    with pytest.raises(RequestError) as caught:
        real.deploy(BLUE.replace("replicas: 2", "replicas: 2\n  replica: 3"))
    assert f"Deployment {real.prefix}/web" in caught.value.message
    assert ".spec.replica: field not declared in schema" in caught.value.message


def test_an_immutable_field_is_named_with_a_hint(real: Real) -> None:
    real.deploy(BLUE)
    with pytest.raises(RequestError) as caught:
        real.deploy(BLUE.replace("matchLabels: {app: web}", "matchLabels: {app: shop}").replace(
            "metadata: {labels: {app: web}}", "metadata: {labels: {app: shop}}"))  # fmt: skip
    assert "field is immutable" in caught.value.message
    assert caught.value.hint == "the object has to be made anew for this change"


def test_a_config_map_of_two_mebibytes_is_one_clear_error(real: Real) -> None:
    real.deploy(BLUE)
    big = (
        BLUE
        + f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: big, namespace: shop}}\ndata: {{k: {'x' * 2**21}}}\n"
    )
    with pytest.raises(RequestError) as caught:
        real.deploy(big)
    assert "ConfigMap" in caught.value.message
    assert "big" in caught.value.message
    assert len(caught.value.message) < 1000


def test_a_token_without_rights_is_refused_by_name(control_plane: Access, real: Real) -> None:
    nobody = open_as(control_plane, control_plane.kubeconfig_of(f"{real.prefix}-nobody"))
    with pytest.raises(ForbiddenError) as caught:
        Real(nobody, real.prefix).deploy(BLUE)
    assert "forbidden" in caught.value.message
    assert int(caught.value.exit_code) == 4


def test_a_cluster_that_does_not_answer_says_so_at_once(tmp_path: Path, control_plane: Access) -> None:
    file = tmp_path / "config"
    text = control_plane.kubeconfig.read_text(encoding="utf-8").replace(control_plane.server, "https://127.0.0.1:9")
    file.write_text(text, encoding="utf-8")
    started = time.monotonic()
    with pytest.raises(ClusterError, match=r"cluster test: no answer from https://127\.0\.0\.1:9: connection refused"):
        open_as(control_plane, file).discover()
    assert time.monotonic() - started < 5


def test_a_generated_secret_is_made_once_and_survives_rotation(real: Real) -> None:
    build = real.build(BLUE + "---\napiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\n")
    resources = tuple(
        replace(one, generated=("password",)) if one.ref.kind == "Secret" else one for one in build.resources
    )
    build = replace(build, resources=resources)
    real.run(build, record_namespace=real.records)
    first = real.live("v1", "Secret", "db")
    assert list(first["data"]) == ["password"]
    owners = {one["manager"]: one["fieldsV1"] for one in first["metadata"]["managedFields"]}
    assert "f:data" not in owners["kix"]
    assert "f:password" in owners["kix-secret"]["f:data"]
    kind = real.kind("v1", "Secret")
    real.cluster.merge_patch(kind, "db", {"data": {"password": "cm90YXRlZA=="}}, namespace=real.prefix, manager="ann")
    resources = tuple(
        replace(one, generated=("password", "token")) if one.ref.kind == "Secret" else one for one in build.resources
    )
    real.run(replace(build, resources=resources), record_namespace=real.records)
    after = real.live("v1", "Secret", "db")["data"]
    assert sorted(after) == ["password", "token"]
    assert after["password"] == "cm90YXRlZA=="
    real.run(replace(build, resources=resources), record_namespace=real.records)
    assert real.live("v1", "Secret", "db")["data"] == after


def test_a_secret_value_appears_in_nothing_a_deploy_says_or_records(real: Real) -> None:
    canary = "canary-4f1d9c77"
    text = BLUE + (
        "---\napiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\n"
        f"stringData: {{password: {canary}}}\n"
    )
    said = real.deploy(text, allow_plain_secrets=True)
    said += real.deploy(text.replace(canary, f"{canary}-2"), allow_plain_secrets=True)
    changes = [change for package in real.plan.packages for change in package.resources]
    assert [(one.ref.kind, one.changes[0].path) for one in changes if one.changes] == [("Secret", "$.data.password")]
    assert real.plan.same_name_secrets
    records = [
        real.cluster.listing(real.kind(version, kind), namespace=real.records).items
        for version, kind in (
            ("kix.run/v1alpha1", "Activation"),
            ("v1", "ConfigMap"),
            ("coordination.k8s.io/v1", "Lease"),
        )
    ]
    live = real.live("v1", "Secret", "db")["metadata"]
    everything = json.dumps([said, repr(real.events), records, live])
    assert canary not in everything
    assert "Y2FuYXJ5" not in everything


def test_a_deploy_killed_half_way_is_taken_up_by_the_next_one(real: Real, control_plane: Access) -> None:
    program = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from tests.e2e.test_deploy_real import EVERYTHING, Real, open_as\n"
        "from tests.parts.access import Access\n"
        "from kixbot.ops.deploy import DeployOptions, deploy\n"
        "from kixbot.ops.events import Applied\n"
        "from kixbot.ops.receipt import Provenance\n"
        "access = Access.from_json(sys.argv[1])\n"
        "real = Real(open_as(access), sys.argv[2])\n"
        "options = DeployOptions(record_namespace=real.records)\n"
        "for event in deploy(real.build(EVERYTHING), real.cluster, options=options, who=Provenance(), "
        "confirm=lambda _: True):\n"
        "    if isinstance(event, Applied) and event.ref.kind == 'Service':\n"
        "        os._exit(9)\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", program, control_plane.to_json(), real.prefix]
    done = subprocess.run(command, cwd=ROOT, env=environment, check=False, timeout=120)
    assert done.returncode == 9
    assert real.phases_here() == ["Applying"]
    lines = real.deploy(EVERYTHING, lock_wait=60, timeout=120)
    assert "  ConfigMap/web refreshed" in lines or "  ConfigMap/web ready" in lines
    assert real.phases_here() == ["Active"]


WIDGETS = """
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.GROUP}
spec:
  group: GROUP
  scope: Namespaced
  names: {kind: Widget, plural: widgets, singular: widget, listKind: WidgetList}
  versions: [VERSIONS]
"""
OLD = """{name: v1beta1, served: true, storage: STORAGE, schema: {openAPIV3Schema: {type: object, properties:
  {spec: {type: object, properties: {port: {type: integer}}}}}}}"""
NEW = """{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties:
  {spec: {type: object, properties: {port: {type: integer}, access: {type: string, default: open}}}}}}}"""


def test_an_object_moves_to_a_new_version_although_others_wrote_it_at_the_old(real: Real) -> None:
    group = f"{real.prefix}.example.test"
    before = WIDGETS.replace("VERSIONS", OLD.replace("STORAGE", "true")).replace("GROUP", group)
    after = WIDGETS.replace("VERSIONS", f"{OLD.replace('STORAGE', 'false')}, {NEW}").replace("GROUP", group)
    rest = (
        "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
        f"---\napiVersion: {group}/VERSION\nkind: Widget\nmetadata: {{name: w, namespace: shop}}\nspec: {{port: 80}}\n"
    )
    real.deploy(before + rest.replace("VERSION", "v1beta1"))
    real.deploy(after + rest.replace("VERSION", "v1beta1"))
    kind = real.kind(f"{group}/v1beta1", "Widget")
    label = {"metadata": {"labels": {"team": "shop"}}}
    real.cluster.merge_patch(kind, "w", label, namespace=real.prefix, manager="somebody")
    real.deploy(after + rest.replace("VERSION", "v1").replace("port: 80", "port: 81"))
    live = real.live(f"{group}/v1", "Widget", "w")
    assert live["spec"] == {"port": 81, "access": "open"}
    assert live["metadata"]["labels"]["team"] == "shop"
    assert {entry["apiVersion"] for entry in live["metadata"]["managedFields"]} == {f"{group}/v1"}
    crds = real.kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    crd = real.cluster.get(crds, f"widgets.{group}")
    real.cluster.delete(crds, f"widgets.{group}", uid=crd["metadata"]["uid"])


STUCK = """
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {kix.test/waiting: ImagePullBackOff}}
    spec: {containers: [{name: web, image: 'registry.test/web:1'}]}
"""


def test_an_image_that_cannot_be_pulled_is_the_reason_people_read(real: Real) -> None:
    with pytest.raises(DeployFailedError):
        real.deploy(STUCK, timeout=6)
    (failed,) = [event for event in real.events if isinstance(event, Failed)]
    assert failed.reason == "0 of 1 replicas available (after 6 s)"
    assert re.fullmatch(
        rf"Pod {real.prefix}/web-\S+: container web: ImagePullBackOff: ImagePullBackOff: registry.test/web:1",
        failed.pod,
    )
    assert failed.log


def test_a_claim_that_binds_with_its_pod_does_not_hold_up_the_pod(real: Real) -> None:
    text = """
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec:
  storageClassName: wait-for-first-consumer
  accessModes: [ReadWriteOnce]
  resources: {requests: {storage: 1Gi}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: 'registry.test/web:1', volumeMounts: [{name: data, mountPath: /data}]}]
      volumes: [{name: data, persistentVolumeClaim: {claimName: data}}]
"""
    lines = real.deploy(text, timeout=120)
    assert "  PersistentVolumeClaim/data ready (binds when a pod uses it)" in lines
    assert "  Deployment/web ready" in lines
    assert real.live("v1", "PersistentVolumeClaim", "data")["status"]["phase"] == "Bound"


def test_without_the_right_to_patch_a_plan_compares_and_says_so(real: Real, control_plane: Access) -> None:
    real.deploy(BLUE)
    user = f"{real.prefix}-reader"
    grants = ["create", "clusterrolebinding", user, "--clusterrole=cluster-reader-of-kix", f"--user={user}"]
    role = ["create", "clusterrole", "cluster-reader-of-kix", "--verb=get,list,watch", "--resource=*.*"]
    subprocess.run([*control_plane.kubectl, *role], check=False, capture_output=True)
    subprocess.run([*control_plane.kubectl, *grants], check=True, capture_output=True)
    reader = open_as(control_plane, control_plane.kubeconfig_of(user))
    live = live_plan(real.build(BLUE.replace("web:1", "web:2")), reader, record_namespace=real.records)
    (change,) = [change for package in live.plan.packages for change in package.resources]
    assert (change.simulated, change.note) == (False, "not simulated: no right to patch")
    assert [field.path for field in change.changes] == ["$.spec.template.spec.containers[web].image"]
    subprocess.run([*control_plane.kubectl, "delete", "clusterrolebinding", user], check=True, capture_output=True)


def test_many_objects_that_exist_already_cost_one_list_and_a_get_each(real: Real) -> None:
    many = "".join(
        f"---\napiVersion: v1\nkind: ConfigMap\nmetadata: {{name: c{number}, namespace: shop}}\ndata: {{k: v}}\n"
        for number in range(60)
    )
    text = "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
    real.deploy(text)
    real.cluster.requests.clear()
    build = real.build(text + many)
    live_plan(build, real.cluster, record_namespace=real.records)
    # One GET each for the Lease, the key and the namespace; 60 dry-runs, and not 60 GETs of what is not there.
    assert dict(real.cluster.requests) == {"discovery": 2, "get": 3, "list": 2 + 2 + 1, "dry-run": 60}
