"""Rules about several objects at once: where each speaks, and where it is silent."""

import pytest

from kixbot.checks.report import run
from kixbot.model.build import ClusterFacts
from kixbot.model.finding import Finding, Severity
from tests.builds import CLOSED, OPEN, build_of


def of_rule(text: str, rule: str, facts: ClusterFacts = OPEN) -> list[Finding]:
    """The findings of one rule."""
    return [finding for finding in run(build_of(text, facts=facts)).findings if finding.rule == rule]


def workload(name: str = "web", *, spec: str = "", labels: str = "", container: str = "", pod: str = "") -> str:
    """A Deployment whose pods are labelled `app: NAME`."""
    return f"""\
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: {name}, namespace: shop}}
spec:
  {spec or "revisionHistoryLimit: 3"}
  selector: {{matchLabels: {{app: {name}}}}}
  template:
    metadata: {{labels: {{app: {name}{labels}}}}}
    spec:
      {pod or "hostname: web"}
      containers: [{{name: web, image: "ghcr.io/acme/{name}:1.5.0"{container}}}]
"""


def scaler(spec: str, target: str = "web", name: str = "web") -> str:
    return f"""\
---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {{name: {name}, namespace: shop}}
spec: {{scaleTargetRef: {{apiVersion: apps/v1, kind: Deployment, name: {target}}}, {spec}}}
"""


def budget(rule: str, name: str = "web") -> str:
    return f"""\
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: {name}, namespace: shop}}
spec: {{{rule}, selector: {{matchLabels: {{app: web}}}}}}
"""


@pytest.mark.parametrize(
    ("rule", "spec", "extra", "verdict"),
    [
        ("minAvailable: 1", "replicas: 2", "", None),
        ("minAvailable: 2", "replicas: 2", "", Severity.WARNING),
        ("minAvailable: 3", "replicas: 2", "", Severity.ERROR),
        ("maxUnavailable: 0", "replicas: 5", "", Severity.WARNING),
        ("maxUnavailable: 0%", "replicas: 5", "", Severity.WARNING),
        ("maxUnavailable: 1%", "replicas: 5", "", None),
        ("minAvailable: 100%", "replicas: 5", "", Severity.WARNING),
        ("minAvailable: 50%", "replicas: 5", "", None),
        # 51 % of three are rounded up to two.
        ("minAvailable: 51%", "replicas: 3", "", None),
        ("minAvailable: 67%", "replicas: 3", "", Severity.WARNING),
        # The least of the autoscaler counts, not the replicas.
        ("minAvailable: 2", "replicas: 5", scaler("minReplicas: 2, maxReplicas: 9"), Severity.WARNING),
        ("minAvailable: 2", "replicas: 1", scaler("minReplicas: 3, maxReplicas: 9"), None),
        ("minAvailable: 1", "replicas: 0", "", None),
    ],
)
def test_what_a_budget_allows(rule: str, spec: str, extra: str, verdict: Severity | None) -> None:
    found = of_rule(workload(spec=spec) + budget(rule) + extra, "rel/budget-blocks")
    assert [one.severity for one in found] == ([verdict] if verdict else [])


def test_a_budget_that_blocks_in_words() -> None:
    (found,) = of_rule(workload(spec="replicas: 2") + budget("minAvailable: 3"), "rel/budget-blocks")
    assert found.message == "PodDisruptionBudget shop/web has minAvailable 3 for 2 pods: it can never be met"
    (found,) = of_rule(workload(spec="replicas: 1") + budget("minAvailable: 1"), "rel/budget-blocks")
    assert found.message == "PodDisruptionBudget shop/web has minAvailable 1 for 1 pod: it lets none of them be evicted"
    assert found.path == "$.spec.minAvailable"


def test_a_budget_of_pods_whose_number_nobody_knows_is_left_alone() -> None:
    rollout = workload().replace("apps/v1", "example.org/v1").replace("Deployment", "Fleet")
    assert of_rule(rollout + budget("maxUnavailable: 0"), "rel/budget-blocks") == []


def test_replicas_without_a_budget_weigh_less_when_they_are_spread() -> None:
    spread = (
        "topologySpreadConstraints: [{maxSkew: 1, topologyKey: kubernetes.io/hostname, "
        "whenUnsatisfiable: ScheduleAnyway, labelSelector: {matchLabels: {app: web}}}]"
    )
    rule = "rel/no-budget"
    assert [one.severity for one in of_rule(workload(spec="replicas: 3"), rule)] == [Severity.WARNING]
    assert [one.severity for one in of_rule(workload(spec="replicas: 3", pod=spread), rule)] == [Severity.INFO]
    assert of_rule(workload(spec="replicas: 1"), rule) == []
    assert of_rule(workload(spec="replicas: 3") + budget("maxUnavailable: 1"), rule) == []


UTILIZATION = "metrics: [{type: Resource, resource: {name: %s, target: {type: %s}}}], maxReplicas: 5"


@pytest.mark.parametrize(
    ("resources", "metric", "kind", "count"),
    [
        ("{}", "cpu", "Utilization", 1),
        ("{requests: {cpu: 100m}}", "cpu", "Utilization", 0),
        ("{limits: {cpu: 100m}}", "cpu", "Utilization", 0),
        ("{requests: {cpu: 100m}}", "memory", "Utilization", 1),
        ("{}", "cpu", "AverageValue", 0),
    ],
)
def test_utilization_is_a_share_of_requests(resources: str, metric: str, kind: str, count: int) -> None:
    text = workload(container=f", resources: {resources}") + scaler(UTILIZATION % (metric, kind))
    assert len(of_rule(text, "ref/hpa-request")) == count


def test_a_container_without_a_request_in_words() -> None:
    (found,) = of_rule(workload() + scaler(UTILIZATION % ("cpu", "Utilization")), "ref/hpa-request")
    assert found.message == (
        "HorizontalPodAutoscaler shop/web scales Deployment shop/web by utilization of cpu, but its container 'web' "
        "requests no cpu"
    )
    assert found.path == "$.spec.metrics[0].resource"


def test_keda_counts_as_an_autoscaler() -> None:
    keda = """\
---
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {name: web, namespace: shop}
spec:
  minReplicaCount: 2
  maxReplicaCount: 2
  scaleTargetRef: {name: web}
  triggers: [{type: cpu, metricType: Utilization, metadata: {value: "60"}}]
"""
    text = workload(spec="replicas: 2") + keda + scaler("maxReplicas: 3")
    found = {one.rule for one in run(build_of(text)).findings}
    assert found >= {"ref/hpa-request", "rel/hpa-replicas", "rel/hpa-range", "sel/two-autoscalers"}


def test_replicas_beside_an_autoscaler() -> None:
    text = workload(spec="replicas: 2") + scaler("maxReplicas: 3")
    assert len(of_rule(text, "rel/hpa-replicas")) == 1
    assert of_rule(workload() + scaler("maxReplicas: 3"), "rel/hpa-replicas") == []


def test_a_vertical_autoscaler_beside_a_horizontal_one_by_cpu() -> None:
    vertical = """\
---
apiVersion: autoscaling.k8s.io/v1
kind: VerticalPodAutoscaler
metadata: {name: web, namespace: shop}
spec: {targetRef: {apiVersion: apps/v1, kind: Deployment, name: web}, updatePolicy: {updateMode: %s}}
"""
    horizontal = workload() + scaler(UTILIZATION % ("cpu", "AverageValue"))
    found = of_rule(horizontal + vertical % "Auto", "sel/two-autoscalers")
    assert [one.severity for one in found] == [Severity.WARNING]
    assert of_rule(horizontal + vertical % '"Off"', "sel/two-autoscalers") == []


SERVICE = """\
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {%sports: [{name: http, port: 80, targetPort: 8080}]}
"""
INGRESS = """\
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop%s}
spec: {defaultBackend: {service: {name: web, port: {%s}}}}
"""


@pytest.mark.parametrize(
    ("port", "message"),
    [
        ("number: 80", None),
        ("name: http", None),
        (
            "number: 8080",
            (
                "Ingress shop/web sends traffic to port 8080 of Service shop/web, which has no such port\n"
                "  declared ports: 80 (http)"
            ),
        ),
        (
            "name: htpp",
            (
                'Ingress shop/web sends traffic to port "htpp" of Service shop/web, which has no such port\n'
                "  declared ports: 80 (http)"
            ),
        ),
    ],
)
def test_an_ingress_names_a_port_of_the_service(port: str, message: str | None) -> None:
    found = of_rule(SERVICE % "" + INGRESS % ("", port), "ref/backend-port")
    assert [one.message for one in found] == ([message] if message else [])
    if port == "name: htpp":
        assert found[0].hint == 'did you mean "http"?'


def test_ports_of_an_external_name_are_not_known() -> None:
    assert of_rule(SERVICE % "type: ExternalName, " + INGRESS % ("", "number: 1"), "ref/backend-port") == []


def test_a_webhook_calls_port_443_unless_it_says_otherwise() -> None:
    webhook = """\
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: web}
webhooks:
  - name: web.example.org
    admissionReviewVersions: [v1]
    sideEffects: None
    clientConfig: {service: {name: web, namespace: shop%s}}
"""
    (found,) = of_rule(SERVICE % "" + webhook % "", "ref/backend-port")
    assert found.message.startswith("ValidatingWebhookConfiguration web sends traffic to port 443 of Service shop/web")
    assert of_rule(SERVICE % "" + webhook % ", port: 80", "ref/backend-port") == []


GATEWAY = """\
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: network}
spec:
  gatewayClassName: envoy
  listeners: [{name: web, port: 80, protocol: HTTP%s}]
"""
ROUTE = """\
---
apiVersion: gateway.networking.k8s.io/v1
kind: %s
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{name: edge, namespace: network%s}], rules: [{backendRefs: [{name: web, port: 80}]}]}
"""
SHOP = "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {team: shop}}\n"
SELECTED = ", allowedRoutes: {namespaces: {from: Selector, selector: {matchLabels: {%s}}}}"


@pytest.mark.parametrize(
    ("listener", "parent", "kind", "words"),
    [
        (", allowedRoutes: {namespaces: {from: All}}", "", "HTTPRoute", None),
        (", allowedRoutes: {namespaces: {from: All}}", ", sectionName: web", "GRPCRoute", None),
        (
            ", allowedRoutes: {namespaces: {from: All}}",
            ", sectionName: wbe",
            "HTTPRoute",
            'which has no listener "wbe"',
        ),
        (", allowedRoutes: {namespaces: {from: All}}", ", port: 81", "HTTPRoute", "which has no listener on port 81"),
        ("", "", "HTTPRoute", "whose listeners take no route from namespace shop"),
        (SELECTED % "team: shop", "", "HTTPRoute", None),
        (SELECTED % "team: data", "", "HTTPRoute", "whose listeners take no route from namespace shop"),
        (SELECTED % "kubernetes.io/metadata.name: shop", "", "HTTPRoute", None),
        (", allowedRoutes: {namespaces: {from: All}}", "", "TCPRoute", "whose listeners take no TCPRoute"),
        (
            ", allowedRoutes: {namespaces: {from: All}, kinds: [{kind: GRPCRoute}]}",
            "",
            "HTTPRoute",
            "whose listeners take no HTTPRoute",
        ),
    ],
)
def test_a_route_needs_a_listener_that_takes_it(listener: str, parent: str, kind: str, words: str | None) -> None:
    found = of_rule(SHOP + GATEWAY % listener + ROUTE % (kind, parent), "ref/listener")
    assert [one.message.partition(", ")[2].partition("\n")[0] for one in found] == ([words] if words else [])


def test_a_gateway_reads_a_certificate_of_another_namespace_only_by_grant() -> None:
    gateway = GATEWAY % ", tls: {certificateRefs: [{name: web-tls, namespace: shop}]}"
    grant = """\
---
apiVersion: gateway.networking.k8s.io/v1beta1
kind: ReferenceGrant
metadata: {name: edge, namespace: shop}
spec:
  from: [{group: gateway.networking.k8s.io, kind: Gateway, namespace: network}]
  to: [{group: "", kind: Secret, name: %s}]
"""
    (found,) = of_rule(gateway, "ref/reference-grant")
    assert found.message == (
        "Gateway network/edge refers to Secret shop/web-tls, and no ReferenceGrant in namespace shop lets it"
    )
    assert of_rule(gateway + grant % "web-tls", "ref/reference-grant") == []
    assert len(of_rule(gateway + grant % "other", "ref/reference-grant")) == 1


def test_a_wildcard_covers_one_label() -> None:
    ingress = """\
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  tls: [{hosts: ["*.example.org"], secretName: tls}]
  rules: [{host: %s}]
"""
    assert of_rule(ingress % "shop.example.org", "ref/ingress-tls-host") == []
    assert len(of_rule(ingress % "a.shop.example.org", "ref/ingress-tls-host")) == 1
    assert len(of_rule(ingress % "example.org", "ref/ingress-tls-host")) == 1


def test_providers_are_asked_for_only_where_the_cluster_says_it_has_none() -> None:
    claim = "apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: a, namespace: shop}\nspec: {%s}\n"
    assert len(of_rule(claim % "", "ref/storage-provider", CLOSED)) == 1
    assert of_rule(claim % "", "ref/storage-provider", OPEN) == []
    assert of_rule(claim % 'storageClassName: ""', "ref/storage-provider", CLOSED) == []
    assert len(of_rule(INGRESS % ("", "number: 80"), "ref/ingress-provider", CLOSED)) == 1
    assert of_rule(INGRESS % ("", "number: 80"), "ref/ingress-provider", OPEN) == []


def test_a_selector_that_takes_only_the_others_pods_is_a_warning() -> None:
    one = workload("web", labels=", team: shop")
    other = workload("api", labels=", team: shop").replace(
        "selector: {matchLabels: {app: api}}", "selector: {matchLabels: {team: shop}}"
    )
    (found,) = of_rule(one + other, "sel/overlapping-selectors")
    assert (found.severity, found.ref and found.ref.name) == (Severity.WARNING, "api")
    assert of_rule(workload("web") + workload("api"), "sel/overlapping-selectors") == []


@pytest.mark.parametrize(("image", "label", "count"), [("mailer", "", 1), ("web", "", 0), ("mailer", "track", 0)])
def test_releases_of_one_program_may_share_a_service(image: str, label: str, count: int) -> None:
    service = SERVICE % "selector: {team: shop}, "
    first = workload("web", labels=", team: shop" + (f", {label}: stable" if label else ""))
    second = workload("web-2", labels=", team: shop" + (f", {label}: canary" if label else ""))
    text = service + first + second.replace("acme/web-2:1.5.0", f"acme/{image}:1.6.0")
    assert len(of_rule(text, "sel/several-workloads")) == count
