"""The everyday mistakes, word for word."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from kixbot.checks.report import run
from kixbot.model.build import ClusterFacts, CollectedFault, Evaluated
from kixbot.model.finding import Finding, Severity
from kixbot.model.resource import Ref
from kixbot.ops.build import assemble
from tests.builds import CLOSED, OPEN, build_of

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web, app.kubernetes.io/instance: web, app.kubernetes.io/name: web}
    spec:
      automountServiceAccountToken: false
      containers: [{name: web, image: "ghcr.io/acme/web:1.5.0"}]
"""


def pod(container: str) -> str:
    """A pod with one container."""
    return f"""\
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  automountServiceAccountToken: false
  containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0", {container}}}]
"""


def found(text: str, rule: str, facts: ClusterFacts = OPEN) -> list[Finding]:
    """The findings of one rule on a build."""
    return [finding for finding in run(build_of(text, facts=facts)).findings if finding.rule == rule]


def only(text: str, rule: str, facts: ClusterFacts = OPEN) -> Finding:
    """The one finding of a rule."""
    (finding,) = found(text, rule, facts)
    assert finding.severity is Severity.ERROR
    assert finding.hint
    return finding


def test_a_duplicate_environment_variable() -> None:
    env = "env: [{name: DATABASE_URL, value: a}, {name: LOG, value: x}, {name: DATABASE_URL, value: b}]"
    finding = only(pod(env), "schema/duplicate-env")
    assert finding.message == "[web] Container 'web' has duplicate env var name(s): [DATABASE_URL]."
    assert finding.path == "$.spec.containers[web].env"


def test_the_prefix_is_the_instance_label_where_there_is_one() -> None:
    text = pod("env: [{name: A, value: a}, {name: A, value: b}]").replace(
        "name: web, namespace: shop", "name: web-7, namespace: shop, labels: {app.kubernetes.io/instance: front}"
    )
    finding = only(text, "schema/duplicate-env")
    assert finding.message == "[front] Container 'web' has duplicate env var name(s): [A]."
    assert finding.package == "shop/front"


SECRET = "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: shop}\ndata: {pass: eA==}\n---\n"


def test_a_secret_key_that_is_not_declared() -> None:
    text = SECRET + pod("env: [{name: P, valueFrom: {secretKeyRef: {name: db, key: password}}}]")
    finding = only(text, "ref/secret-key")
    assert finding.message == 'secret "db" does not declare key "password"\n  declared keys: pass'
    assert finding.hint == 'did you mean "pass"?'
    assert [(one.ref, one.location and one.location.line) for one in finding.related] == [
        (Ref("Secret", "", "shop", "db"), 4)
    ]


def test_a_config_map_key_that_is_not_declared() -> None:
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x, namespace: shop}\n---\n"
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: z, namespace: shop}\ndata: {b: '', a: ''}\n---\n"
    ) + pod(
        "env: [{name: X, valueFrom: {configMapKeyRef: {name: x, key: 'y'}}}, "
        "{name: Z, valueFrom: {configMapKeyRef: {name: z, key: 'y'}}}]"
    )
    assert [finding.message for finding in found(text, "ref/config-map-key")] == [
        'configmap "x" does not declare key "y"\n  declared keys: (none)',
        'configmap "z" does not declare key "y"\n  declared keys: a, b',
    ]


SERVICE = """\
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  selector: {app.kubernetes.io/instance: web, app.kubernetes.io/name: web}
  ports: [{port: 80, targetPort: 8080}]
---
"""
JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: migrate, namespace: shop}
spec:
  template:
    metadata: {labels: {app.kubernetes.io/name: web, app.kubernetes.io/instance: web}}
    spec: {restartPolicy: Never, containers: [{name: m, image: "ghcr.io/acme/web:1.5.0"}]}
"""
CRON_JOB = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: report, namespace: shop}
spec:
  schedule: "0 3 * * *"
  jobTemplate:
    spec:
      template:
        metadata: {labels: {app.kubernetes.io/name: web, app.kubernetes.io/instance: web}}
        spec: {restartPolicy: Never, containers: [{name: m, image: "ghcr.io/acme/web:1.5.0"}]}
"""
LABELS = '{"app.kubernetes.io/instance":"web","app.kubernetes.io/name":"web"}'


def test_a_job_that_a_service_would_send_traffic_to() -> None:
    finding = only(WEB + SERVICE + JOB, "sel/job-in-service")
    assert finding.message == (
        f"Job shop/migrate pod labels {LABELS} satisfy Service shop/web selector {LABELS}; "
        "the Service would route traffic to the Job pod"
    )
    assert finding.ref == Ref("Job", "batch", "shop", "migrate")


def test_a_cron_job_that_a_service_would_send_traffic_to() -> None:
    finding = only(WEB + SERVICE + CRON_JOB, "sel/job-in-service")
    assert finding.message == (
        f"CronJob shop/report pod labels {LABELS} satisfy Service shop/web selector {LABELS}; "
        "the Service would route traffic to the CronJob pod"
    )
    assert finding.path == "$.spec.jobTemplate.spec.template.metadata.labels"


def test_a_priority_class_that_nothing_creates() -> None:
    text = WEB.replace("      automount", "      priorityClassName: critical\n      automount")
    assert only(text, "ref/priority-class").message == (
        "Deployment shop/web sets priorityClassName 'critical', which no resource in this cluster creates. Every pod of "
        "this workload would be rejected at admission. Add the PriorityClass, or declare it as externally managed with "
        "an import or kix.untrackedRef"
    )


def test_a_disruption_budget_that_selects_nothing() -> None:
    text = WEB + (
        "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: shop}\n"
        "spec: {minAvailable: 1, selector: {matchLabels: {app: wbe}}}\n"
    )
    assert only(text, "ref/pdb-selects-nothing").message == (
        'PodDisruptionBudget shop/web selector {"app":"wbe"} matches no workload pod template in namespace shop. Check '
        "the selector against the intended workload's pod labels"
    )


LOAD_BALANCER = """\
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {type: LoadBalancer, ports: [{port: 80}]}
"""


def test_a_load_balancer_that_nobody_provides() -> None:
    assert only(LOAD_BALANCER, "ref/load-balancer-provider", CLOSED).message == (
        "[web] Service 'web' uses type=LoadBalancer but no load balancer provider is configured "
        '(cluster.roles.loadBalancer.binding = "absent", no provider instance). Use type=ClusterIP or NodePort, add a '
        "provider instance, or configure cluster.roles.loadBalancer.binding to match your environment."
    )


def test_a_load_balancer_is_fine_where_the_cluster_has_one() -> None:
    assert found(LOAD_BALANCER, "ref/load-balancer-provider", OPEN) == []


def selecting(labels: str, pods: str) -> str:
    """A Service that selects `labels`, and a Deployment whose pods carry `pods`."""
    return f"""\
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop}}
spec: {{selector: {labels}, ports: [{{port: 80}}]}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  template:
    metadata: {{labels: {pods}}}
    spec: {{containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]}}
"""


def test_a_service_that_selects_nothing_names_the_nearest_pods() -> None:
    text = selecting("{app.kubernetes.io/name: shop-wbe}", "{app.kubernetes.io/name: shop-web}")
    assert only(text, "ref/service-selects-nothing").message == (
        "The Service has no endpoints, so traffic cannot reach the app.\n"
        "  service: shop/web\n"
        '  selector: {"app.kubernetes.io/name":"shop-wbe"}\n'
        '  nearest: Deployment shop/web {"app.kubernetes.io/name":"shop-web"} (differs in 1 label)'
    )


@pytest.mark.parametrize(
    ("selector", "pods", "nearest"),
    [
        # Half of the labels match, however different the other is.
        ("{a: x, b: front}", "{a: x, b: zzz}", 'Deployment shop/web {"a":"x","b":"zzz"} (differs in 1 label)'),
        # Every differing value is a slip.
        ("{a: shop-wbe, b: frnt}", "{a: shop-web, b: front}", '{"a":"shop-web","b":"front"} (differs in 2 labels)'),
        # A missing label is no slip, and fewer than half match.
        ("{a: x, b: front, c: z}", "{a: x}", None),
        ("{app: web}", "{app: database}", None),
    ],
)
def test_nearest_pods_are_named_only_where_they_are_near(selector: str, pods: str, nearest: str | None) -> None:
    message = only(selecting(selector, pods), "ref/service-selects-nothing").message
    if nearest is None:
        assert "nearest" not in message
    else:
        assert message.splitlines()[-1].endswith(nearest)


def test_pods_of_another_namespace_are_named_in_the_hint() -> None:
    text = selecting("{app: web}", "{app: web}").replace(
        "kind: Deployment\nmetadata: {name: web, namespace: shop}",
        "kind: Deployment\nmetadata: {name: web, namespace: web}",
    )
    assert only(text, "ref/service-selects-nothing").hint == (
        "Deployment web/web has these labels; a Service selects pods of its own namespace only"
    )


def test_a_cycle_is_named_with_its_members() -> None:
    peers, member = Ref("ConfigMap", "", "a", "peers"), Ref("StatefulSet", "apps", "a", "ss")
    text = (
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: peers, namespace: a}\n---\n"
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: ss, namespace: a}\n"
    )
    links: Mapping[Ref, tuple[Ref, ...]] = {peers: (member,), member: (peers,)}
    report = run(assemble(marked(text, links)))
    (message,) = report.eval_messages
    assert message.message == "reference cycle: ConfigMap/peers@a -> StatefulSet/ss@a -> ConfigMap/peers@a"
    assert "kix.weak" in str(message.hint)
    assert report.activation is None


def marked(text: str, links: Mapping[Ref, tuple[Ref, ...]]) -> Evaluated:
    """An evaluated definition whose markers are `links`."""
    evaluated = build_of(text, facts=OPEN).evaluated
    resources = tuple(replace(one, hard=links.get(one.ref, ())) for one in evaluated.resources)
    return replace(evaluated, resources=resources, marked=True)


def test_a_fault_of_the_definition_is_a_finding_with_its_rule() -> None:
    build = build_of(WEB)
    ref = Ref("Deployment", "apps", "shop", "web")
    fault = CollectedFault(
        rule="ref/secret-key",
        message='secret "db" does not declare key "password"\n  declared keys: pass',
        ref=ref,
        package="shop/web",
        hint="name a declared key",
        path="$.spec.template.spec.containers[web].image",
    )
    report = run(replace(build, evaluated=replace(build.evaluated, faults=(fault,))))
    (finding,) = [one for one in report.findings if one.rule == "ref/secret-key"]
    assert (finding.message, finding.ref, finding.package) == (fault.message, ref, "shop/web")
    assert finding.location is not None
    assert finding.location.line == 11
