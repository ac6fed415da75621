"""What users of other checkers reported as wrong verdicts, each with the right one."""

import pytest

from kixbot.checks.report import run
from kixbot.model.finding import Severity
from tests.builds import CLOSED, build_of

POD_SPEC = "{containers: [{name: web, image: 'ghcr.io/acme/web:1.5.0'%s}]}"


def workload(
    kind: str = "Deployment", api: str = "apps/v1", labels: str = "app: web", spec: str = "", pod: str = ""
) -> str:
    selector = "" if kind == "Job" else f"  selector: {{matchLabels: {{{labels}}}}}\n"
    return f"""\
---
apiVersion: {api}
kind: {kind}
metadata: {{name: web, namespace: shop}}
spec:
  {spec or "revisionHistoryLimit: 3"}
{selector}  template:
    metadata: {{labels: {{{labels}}}}}
    spec: {POD_SPEC % pod}
"""


def other(api: str, kind: str, spec: str, name: str = "web", namespace: str = "shop") -> str:
    return f"---\napiVersion: {api}\nkind: {kind}\nmetadata: {{name: {name}, namespace: {namespace}}}\nspec: {spec}\n"


def verdicts(text: str, *rules: str) -> list[str]:
    """The rules, among those named, that speak; each as often as it does."""
    return [one.rule for one in run(build_of(text)).findings if one.rule in rules]


SERVICE = "{selector: {%s}, ports: [{port: 80, targetPort: 8080}]}"


def test_labels_that_match_only_partly_are_no_match() -> None:
    text = workload() + other("v1", "Service", SERVICE % "app: web, tier: front")
    assert verdicts(text, "ref/service-selects-nothing") == ["ref/service-selects-nothing"]


@pytest.mark.parametrize("selector", ["{}", "{matchLabels: {}}"])
@pytest.mark.parametrize(
    ("api", "kind", "field", "rule"),
    [
        ("networking.k8s.io/v1", "NetworkPolicy", "podSelector", "ref/policy-selects-nothing"),
        ("policy/v1", "PodDisruptionBudget", "maxUnavailable: 1, selector", "ref/pdb-selects-nothing"),
    ],
)
def test_an_empty_selector_selects_everything(api: str, kind: str, field: str, rule: str, selector: str) -> None:
    assert verdicts(workload() + other(api, kind, f"{{{field}: {selector}}}"), rule) == []


def test_an_empty_namespace_selector_is_every_namespace() -> None:
    peer = "{podSelector: {}, ingress: [{from: [{namespaceSelector: {}, podSelector: {matchLabels: {app: web}}}]}]}"
    text = workload() + other("networking.k8s.io/v1", "NetworkPolicy", peer)
    assert verdicts(text, "ref/policy-selects-nothing") == []


@pytest.mark.parametrize(
    ("kind", "api"), [("Rollout", "argoproj.io/v1alpha1"), ("Fleet", "example.org/v1"), ("StatefulSet", "apps/v1")]
)
def test_any_kind_with_a_pod_template_carries_pods(kind: str, api: str) -> None:
    text = workload(kind, api) + other("v1", "Service", SERVICE % "app: web")
    assert verdicts(text, "ref/service-selects-nothing") == []


@pytest.mark.parametrize(
    "label",
    ["statefulset.kubernetes.io/pod-name: web-0", 'apps.kubernetes.io/pod-index: "0"', "pod-template-hash: abc"],
)
def test_labels_that_controllers_add_exclude_nothing(label: str) -> None:
    text = workload("StatefulSet", spec="serviceName: web") + other("v1", "Service", SERVICE % f"app: web, {label}")
    assert verdicts(text, "ref/service-selects-nothing") == []


def test_the_minimum_of_an_autoscaler_counts_for_a_budget() -> None:
    target = "scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: web}"
    text = (
        workload()
        + other("policy/v1", "PodDisruptionBudget", "{minAvailable: 1, selector: {matchLabels: {app: web}}}")
        + other("autoscaling/v2", "HorizontalPodAutoscaler", f"{{minReplicas: 2, maxReplicas: 4, {target}}}")
    )
    assert verdicts(text, "rel/budget-blocks") == []


def test_a_budget_needs_every_label() -> None:
    budget = "{maxUnavailable: 1, selector: {matchLabels: {app: web, tier: back}}}"
    text = workload(labels="app: web, tier: front", spec="replicas: 3") + other(
        "policy/v1", "PodDisruptionBudget", budget
    )
    assert verdicts(text, "ref/pdb-selects-nothing", "rel/no-budget") == ["ref/pdb-selects-nothing", "rel/no-budget"]


@pytest.mark.parametrize(
    ("expression", "count"),
    [
        ("{key: app, operator: In, values: [web, api]}", 0),
        ("{key: app, operator: NotIn, values: [web]}", 1),
        ("{key: app, operator: Exists}", 0),
        ("{key: app, operator: DoesNotExist}", 1),
    ],
)
def test_a_budget_may_select_by_expressions(expression: str, count: int) -> None:
    budget = f"{{maxUnavailable: 1, selector: {{matchExpressions: [{expression}]}}}}"
    text = workload(spec="replicas: 3") + other("policy/v1", "PodDisruptionBudget", budget)
    assert len(verdicts(text, "ref/pdb-selects-nothing")) == count
    assert len(verdicts(text, "rel/no-budget")) == count


@pytest.mark.parametrize(
    ("policy", "isolated"),
    [
        ("{podSelector: {}, policyTypes: [Ingress, Egress]}", True),
        ("{podSelector: {}}", True),
        ("{podSelector: {}, policyTypes: [Egress]}", False),
    ],
)
def test_a_policy_without_rules_isolates_what_its_types_say(policy: str, isolated: bool) -> None:  # noqa: FBT001
    text = workload() + other("networking.k8s.io/v1", "NetworkPolicy", policy)
    assert (verdicts(text, "sec/no-network-policy") == []) is isolated


def test_init_containers_need_no_probe_and_sidecars_may_have_one() -> None:
    probe = "readinessProbe: {httpGet: {path: /, port: 8080}}, livenessProbe: {tcpSocket: {port: 8080}}"
    text = workload(pod=f", ports: [{{containerPort: 8080}}], {probe}") + other("v1", "Service", SERVICE % "app: web")
    text = text.replace("{containers:", "{initContainers: [{name: wait, image: 'busybox:1.36'}], containers:")
    assert verdicts(text, "rel/readiness-probe", "rel/liveness-probe") == []


def test_each_serving_container_needs_its_own_readiness_probe() -> None:
    probe = "readinessProbe: {httpGet: {path: /, port: 8080}}"
    text = workload(pod=f", ports: [{{containerPort: 8080}}], {probe}") + other("v1", "Service", SERVICE % "app: web")
    second = "containers: [{name: proxy, image: 'envoy:1.36', ports: [{containerPort: 9000}]}, "
    assert verdicts(text, "rel/readiness-probe") == []
    assert verdicts(text.replace("containers: [", second), "rel/readiness-probe") == ["rel/readiness-probe"]


def test_a_grpc_probe_is_asked_for_no_port_name() -> None:
    text = workload(pod=", ports: [{name: grpc, containerPort: 9000}], readinessProbe: {grpc: {port: 9000}}")
    assert verdicts(text, "ref/probe-port") == []


def test_probes_of_two_named_ports_are_not_the_same() -> None:
    ports = "ports: [{name: http, containerPort: 8080}, {name: admin, containerPort: 9000}]"
    probes = "livenessProbe: {httpGet: {path: /, port: %s}}, readinessProbe: {httpGet: {path: /, port: http}}"
    assert verdicts(workload(pod=f", {ports}, {probes % 'admin'}"), "rel/same-probes") == []
    assert verdicts(workload(pod=f", {ports}, {probes % 'http'}"), "rel/same-probes") == ["rel/same-probes"]


def test_the_pods_own_setting_of_its_token_goes_before_its_accounts() -> None:
    account = "---\napiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web, namespace: shop}\n"
    account += "automountServiceAccountToken: false\n"
    pod = workload().replace(
        "{containers:", "{serviceAccountName: web, automountServiceAccountToken: true, containers:"
    )
    assert verdicts(pod + account, "sec/automount-token") == ["sec/automount-token"]


def test_a_field_on_the_wrong_level_is_one_error_that_says_where_it_belongs() -> None:
    text = workload().replace("{containers:", "{securityContext: {allowPrivilegeEscalation: false}, containers:")
    report = run(build_of(text))
    (found,) = (one for one in report.findings if one.severity is Severity.ERROR)
    assert found.rule == "schema/unknown-field"
    assert found.path.endswith("securityContext.allowPrivilegeEscalation")
    assert [one.rule for one in report.followers] == ["sec/privilege-escalation"]


def test_a_port_may_serve_tcp_and_udp_under_one_number() -> None:
    text = workload(pod=", ports: [{containerPort: 53, protocol: UDP}, {containerPort: 53, protocol: TCP}]")
    assert verdicts(text, "schema/duplicate-map-key") == []


@pytest.mark.parametrize("image", ["registry.example:5000/team/app", "registry.example:5000/app"])
def test_the_port_of_a_registry_is_no_tag(image: str) -> None:
    assert verdicts(workload().replace("ghcr.io/acme/web:1.5.0", image), "gov/image-no-tag") == ["gov/image-no-tag"]


def test_a_namespace_that_is_not_written_is_the_default_one_for_both_sides() -> None:
    text = (workload() + other("v1", "Service", SERVICE % "app: web", namespace="default")).replace(
        "metadata: {name: web, namespace: shop}", "metadata: {name: web}"
    )
    assert verdicts(text, "ref/service-selects-nothing") == []


def test_a_broken_workload_does_not_make_its_service_empty() -> None:
    text = workload(pod=", resources: {limits: {memory: 128mb}}") + other("v1", "Service", SERVICE % "app: web")
    errors = [one.rule for one in run(build_of(text)).findings if one.severity is Severity.ERROR]
    assert errors == ["schema/quantity"]


def test_a_pod_of_a_hook_job_is_no_endpoint() -> None:
    job = workload("Job", "batch/v1", spec="backoffLimit: 1").replace("name: web, n", "name: migrate, n")
    job = job.replace("{containers:", "{restartPolicy: Never, containers:")
    text = workload() + job + other("v1", "Service", SERVICE % "app: web")
    assert verdicts(text, "sel/job-in-service", "sel/service-selects-only-jobs") == ["sel/job-in-service"]


def test_an_account_of_a_binding_outside_of_a_closed_cluster_is_missing() -> None:
    binding = (
        "apiVersion: rbac.authorization.k8s.io/v1\nkind: RoleBinding\nmetadata: {name: web, namespace: default}\n"
        "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: view}\n"
        "subjects: [{kind: ServiceAccount, name: gone, namespace: default}, {kind: Group, name: ops, "
        "apiGroup: rbac.authorization.k8s.io}]\n"
    )
    found = [one.rule for one in run(build_of(binding, facts=CLOSED)).findings]
    assert found == ["ref/service-account"]
