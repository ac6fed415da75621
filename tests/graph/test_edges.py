"""What the table alone does not show: selectors, order, strings, operators, what is outside, markers."""

from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest
import yaml
from hypothesis import given, strategies as st

from kixbot.graph.edges import find
from kixbot.model.build import Binding, ClusterFacts, Edge, External
from kixbot.model.resource import Ref
from tests.graph.objects import evaluated, resource, resources

WEB = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  template:
    metadata: {labels: {app: web, tier: front}}
    spec:
      containers:
        - name: web
          env:
            - {name: URL, value: "postgres://app@db-rw.shop.svc.cluster.local:5432/app"}
"""


def short(edge: Edge) -> str:
    return f"{edge.source.short} -{edge.kind.value}-> {edge.target.short} {edge.path}"


def edges(text: str, **options: object) -> list[str]:
    found, _ = find(evaluated(resources(text), **options))  # type: ignore[arg-type]
    return [short(edge) for edge in found]


def dangling(text: str, **options: object) -> list[str]:
    _, found = find(evaluated(resources(text), **options))  # type: ignore[arg-type]
    return [f"{one.source.short} {one.path} {one.target.id}{' optional' if one.optional else ''}" for one in found]


def service(name: str, selector: str = "{app: web}", ports: str = "[{port: 80}]", namespace: str = "shop") -> str:
    return f"""
---
apiVersion: v1
kind: Service
metadata: {{name: {name}, namespace: {namespace}}}
spec: {{selector: {selector}, ports: {ports}}}
"""


def data(name: str, key: str, value: str, namespace: str = "shop") -> str:
    return f"""
---
apiVersion: v1
kind: ConfigMap
metadata: {{name: {name}, namespace: {namespace}}}
data: {{{key}: '{value}'}}
"""


def test_a_service_selects_workloads_of_its_namespace_that_have_all_its_labels() -> None:
    text = WEB + service("web") + service("both", "{app: web, tier: front}") + service("no", "{app: web, tier: back}")
    assert edges(text + service("none", "{}") + service("far", namespace="other")) == [
        "Service/both@shop -soft-> Deployment/web@shop $.spec.selector",
        "Service/web@shop -soft-> Deployment/web@shop $.spec.selector",
    ]


@pytest.mark.parametrize(
    ("selector", "selects"),
    [
        ("{matchLabels: {app: web}}", True),
        ("{}", True),
        ("{matchLabels: {app: wbe}}", False),
        ("{matchExpressions: [{key: app, operator: In, values: [web, api]}]}", True),
        ("{matchExpressions: [{key: app, operator: NotIn, values: [web]}]}", False),
        ("{matchExpressions: [{key: tier, operator: Exists}, {key: x, operator: DoesNotExist}]}", True),
        ("{matchExpressions: [{key: app, operator: Near}]}", False),
        ("{matchLabels: {pod-template-hash: abc, app: web}}", True),
    ],
)
def test_a_disruption_budget_selects_by_labels_and_expressions(selector: str, *, selects: bool) -> None:
    text = f"""{WEB}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {{name: web}}
spec: {{selector: {selector}}}
"""
    expected = ["PodDisruptionBudget/web@shop -soft-> Deployment/web@shop $.spec.selector"]
    assert edges(text) == (expected if selects else [])


def test_a_network_policy_points_at_its_pods_and_its_peers() -> None:
    text = f"""{WEB}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {{name: db, namespace: data}}
spec:
  podSelector: {{}}
  ingress:
    - from:
        - namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: shop}}}}
          podSelector: {{matchLabels: {{app: web}}}}
        - podSelector: {{matchLabels: {{app: web}}}}
---
apiVersion: v1
kind: Pod
metadata: {{name: db, namespace: data}}
spec: {{containers: []}}
"""
    assert edges(text) == [
        "NetworkPolicy/db@data -soft-> Deployment/web@shop $.spec.ingress[0].from[0].podSelector",
        "NetworkPolicy/db@data -soft-> Pod/db@data $.spec.podSelector",
    ]


def test_a_service_monitor_points_at_services_and_a_pod_monitor_at_workloads() -> None:
    text = (
        WEB
        + """
---
apiVersion: v1
kind: Service
metadata: {name: web, labels: {app: web}}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: web, namespace: monitoring}
spec: {namespaceSelector: {matchNames: [shop]}, selector: {matchLabels: {app: web}}}
---
apiVersion: monitoring.coreos.com/v1
kind: PodMonitor
metadata: {name: web, namespace: monitoring}
spec: {namespaceSelector: {any: true}, selector: {matchLabels: {app: web}}}
"""
    )
    assert edges(text) == [
        "PodMonitor/web@monitoring -soft-> Deployment/web@shop $.spec.selector",
        "ServiceMonitor/web@monitoring -soft-> Service/web@shop $.spec.selector",
    ]


def test_objects_come_after_their_namespace_and_custom_ones_after_their_crd_and_webhooks() -> None:
    text = """
apiVersion: v1
kind: Namespace
metadata: {name: shop}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: caches.example.org}
spec: {group: example.org, names: {kind: Cache}, scope: Namespaced}
---
apiVersion: example.org/v1
kind: Cache
metadata: {name: a}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: caches}
webhooks:
  - name: a
    clientConfig: {service: {name: hook, namespace: shop}}
    rules: [{apiGroups: [example.org]}]
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: all}
webhooks: [{name: a, rules: [{apiGroups: ["*"]}]}]
---
apiVersion: v1
kind: Service
metadata: {name: hook}
spec: {selector: {app: hook}}
---
apiVersion: v1
kind: Pod
metadata: {name: hook, labels: {app: hook}}
spec: {containers: []}
"""
    assert edges(text) == [
        "Cache/a@shop -order-> CustomResourceDefinition/caches.example.org $.kind",
        "Cache/a@shop -order-> Namespace/shop $.metadata.namespace",
        "Cache/a@shop -order-> ValidatingWebhookConfiguration/caches $.apiVersion",
        "Pod/hook@shop -order-> Namespace/shop $.metadata.namespace",
        "Service/hook@shop -order-> Namespace/shop $.metadata.namespace",
        "Service/hook@shop -soft-> Pod/hook@shop $.spec.selector",
        "ValidatingWebhookConfiguration/caches -order-> Pod/hook@shop $.webhooks[a].clientConfig.service.name",
        "ValidatingWebhookConfiguration/caches -order-> Service/hook@shop $.webhooks[a].clientConfig.service.name",
    ]


def test_what_a_crd_refers_to_never_comes_first() -> None:
    text = """
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: hook}
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: caches.example.org, annotations: {cert-manager.io/inject-ca-from: shop/hook, url: hook.shop.svc}}
spec: {group: example.org, conversion: {webhook: {clientConfig: {service: {name: hook, namespace: shop}}}}}
"""
    open_world = ClusterFacts(name="shop", custom_kinds_external=True, external_kinds=frozenset({"Namespace"}))
    assert edges(text + service("hook", "{}"), facts=open_world) == [
        (
            "CustomResourceDefinition/caches.example.org -soft-> Service/hook@shop "
            "$.spec.conversion.webhook.clientConfig.service.name"
        )
    ]


def test_a_custom_object_comes_after_the_service_that_serves_its_group() -> None:
    text = """
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.metrics.example.org}
spec: {group: metrics.example.org}
---
apiVersion: metrics.example.org/v1
kind: Probe
metadata: {name: a}
"""
    assert edges(text) == ["Probe/a@shop -order-> APIService/v1.metrics.example.org $.apiVersion"]
    assert dangling(text) == []


def test_ca_injection_orders_a_webhook_after_its_certificate() -> None:
    text = """
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: hook}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: hook, annotations: {cert-manager.io/inject-ca-from: shop/hook}}
"""
    open_world = ClusterFacts(name="shop", custom_kinds_external=True, external_kinds=frozenset({"Namespace"}))
    assert edges(text, facts=open_world) == [
        (
            "MutatingWebhookConfiguration/hook -order-> Certificate/hook@shop "
            '$.metadata.annotations."cert-manager.io/inject-ca-from"'
        )
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("text", "http://db.shop.svc:5432/app"),
        ("text", "db.shop.svc.cluster.local"),
        ("text", "first=1;host=db-0.db.shop.svc,last"),
        ("text", "db.shop"),
        ("text", "tcp://db:5432"),
        ("text", "user@db:5432/app"),
        ("text", "a:1,db:5432"),
        ("DB_HOST", "db"),
        ("address", "db"),
    ],
)
def test_a_service_named_in_a_string_comes_first(key: str, value: str) -> None:
    assert edges(data("web", key, value) + service("db", ports="[{port: 5432}]")) == [
        f"ConfigMap/web@shop -order-> Service/db@shop $.data.{key}"
    ]


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("text", "db"),  # any word
        ("text", "registry/db:5432"),  # an image
        ("text", "db:80"),  # not its port
        ("text", "db:5432.1"),
        ("text", "mydb.shop.svc"),
        ("text", "db.other.svc"),
        ("text", "db.shop.example.org"),
        ("text", "x-db:5432"),
        ("text", "db.svc"),
        ("text", "http://svc.db:5432"),
    ],
)
def test_other_strings_name_no_service(key: str, value: str) -> None:
    assert edges(data("web", key, value) + service("db", ports="[{port: 5432}]")) == []


def test_a_service_named_in_an_environment_variable_comes_first() -> None:
    text = WEB.replace("postgres://app@db-rw.shop.svc.cluster.local:5432/app", "db").replace("URL", "DB_HOST")
    assert edges(text + service("db", "{app: db}")) == [
        "Deployment/web@shop -order-> Service/db@shop $.spec.template.spec.containers[web].env[DB_HOST].value"
    ]


def test_names_that_an_operator_creates_lead_to_the_object_behind_them() -> None:
    text = (
        WEB
        + """
---
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata: {name: db}
---
apiVersion: batch/v1
kind: Job
metadata: {name: migrate}
spec:
  template:
    spec:
      containers:
        - name: migrate
          envFrom: [{secretRef: {name: db-app}}, {secretRef: {name: sealed}}, {secretRef: {name: external}}]
      volumes:
        - {name: tls, secret: {secretName: web-tls}}
        - {name: data, persistentVolumeClaim: {claimName: data-cache-1}}
---
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: web}
spec: {secretName: web-tls, issuerRef: {name: ca, kind: ClusterIssuer}}
---
apiVersion: cert-manager.io/v1
kind: ClusterIssuer
metadata: {name: ca}
---
apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata: {name: sealed}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: app}
spec: {target: {name: external}}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: cache}
spec: {replicas: 2, volumeClaimTemplates: [{metadata: {name: data}}]}
"""
    )
    facts = ClusterFacts(name="shop", external_kinds=frozenset({"Namespace", "CustomResourceDefinition"}))
    volumes = "$.spec.template.spec.volumes"
    env = "$.spec.template.spec.containers[migrate].envFrom"
    assert edges(text, facts=facts) == [
        "Certificate/web@shop -hard-> ClusterIssuer/ca $.spec.issuerRef.name",
        "Deployment/web@shop -order-> Cluster/db@shop $.spec.template.spec.containers[web].env[URL].value",
        f"Job/migrate@shop -hard-> Certificate/web@shop {volumes}[tls].secret.secretName",
        f"Job/migrate@shop -hard-> Cluster/db@shop {env}[0].secretRef.name",
        f"Job/migrate@shop -hard-> ExternalSecret/app@shop {env}[2].secretRef.name",
        f"Job/migrate@shop -hard-> SealedSecret/sealed@shop {env}[1].secretRef.name",
        f"Job/migrate@shop -hard-> StatefulSet/cache@shop {volumes}[data].persistentVolumeClaim.claimName",
    ]
    assert dangling(text, facts=facts) == []


def test_an_annotated_ingress_creates_its_own_certificate_and_refers_to_the_issuer() -> None:
    text = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, annotations: {cert-manager.io/issuer: ca}}
spec: {tls: [{secretName: web-tls}]}
---
apiVersion: cert-manager.io/v1
kind: Issuer
metadata: {name: ca}
"""
    facts = ClusterFacts(name="shop", external_kinds=frozenset({"Namespace", "CustomResourceDefinition"}))
    assert edges(text, facts=facts) == [
        'Ingress/web@shop -hard-> Issuer/ca@shop $.metadata.annotations."cert-manager.io/issuer"'
    ]
    assert dangling(text, facts=facts) == []


def test_an_ingress_backend_that_the_load_balancer_reads_from_an_annotation_is_no_service() -> None:
    text = """
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, annotations: {alb.ingress.kubernetes.io/actions.redirect: "{}"}}
spec: {rules: [{http: {paths: [{backend: {service: {name: redirect, port: {name: use-annotation}}}}]}}]}
"""
    assert dangling(text) == []


def test_optional_references_dangle_as_optional() -> None:
    text = WEB.replace(
        '- {name: URL, value: "postgres://app@db-rw.shop.svc.cluster.local:5432/app"}',
        "- {name: A, valueFrom: {secretKeyRef: {name: gone, key: k, optional: true}}}",
    )
    path = "$.spec.template.spec.containers[web].env[A].valueFrom.secretKeyRef.name"
    assert dangling(text) == [f"Deployment/web@shop {path} Secret/gone@shop optional"]


def test_users_groups_and_names_filled_in_later_are_no_references() -> None:
    text = """
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: team}
roleRef: {kind: ClusterRole, name: view, apiGroup: rbac.authorization.k8s.io}
subjects:
  - {kind: User, name: ada}
  - {kind: Group, name: team}
  - {kind: ServiceAccount, name: default, namespace: elsewhere}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [], volumes: [{name: v, configMap: {name: "$(NAME)"}}]}
"""
    assert edges(text) == []
    assert dangling(text) == []


def test_what_every_cluster_has_is_never_missing() -> None:
    text = """
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: kube-system}
spec:
  containers: []
  serviceAccountName: default
  priorityClassName: system-cluster-critical
  volumes: [{name: ca, configMap: {name: kube-root-ca.crt}}]
"""
    assert dangling(text, facts=ClusterFacts(name="shop")) == []


def test_a_closed_cluster_misses_namespaces_kinds_and_classes() -> None:
    text = """
apiVersion: example.org/v1
kind: Cache
metadata: {name: a}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: fast}
"""
    closed = ClusterFacts(name="shop")
    assert dangling(text, facts=closed) == [
        "Cache/a@shop $.kind CustomResourceDefinition/Cache.example.org",
        "Cache/a@shop $.metadata.namespace Namespace/shop",
        "PersistentVolumeClaim/data@shop $.metadata.namespace Namespace/shop",
        "PersistentVolumeClaim/data@shop $.spec.storageClassName StorageClass/fast",
    ]
    known = ClusterFacts(
        name="shop",
        storage_classes=("fast",),
        external_kinds=frozenset({"Namespace"}),
        custom_kinds_external=True,
    )
    assert dangling(text, facts=known) == []
    roles = replace(closed, roles={"storage": Binding(kind="external")}, external_kinds=known.external_kinds)
    assert dangling(text, facts=roles) == ["Cache/a@shop $.kind CustomResourceDefinition/Cache.example.org"]


def test_declared_externals_are_not_missing() -> None:
    text = """
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [], imagePullSecrets: [{name: pull}], priorityClassName: critical}
"""
    assert dangling(text, externals=(External(kind="Secret", name="pull", namespace="shop"),)) == [
        "Pod/a@shop $.spec.priorityClassName PriorityClass/critical"
    ]
    elsewhere = (
        External(kind="Secret", name="pull", namespace="other"),
        External(kind="PriorityClass", name="critical"),
    )
    assert dangling(text, externals=elsewhere) == ["Pod/a@shop $.spec.imagePullSecrets[pull].name Secret/pull@shop"]
    crd = External(kind="CustomResourceDefinition", name="caches.example.org")
    cache = "apiVersion: example.org/v1\nkind: Cache\nmetadata: {name: a}\n"
    assert dangling(cache, externals=(crd,)) == []


def test_a_claim_may_bind_by_the_class_of_a_volume() -> None:
    text = """
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec: {storageClassName: manual}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data}
spec: {storageClassName: manual}
"""
    assert dangling(text) == []


def test_custom_kinds_carry_pods_where_they_look_like_a_workload() -> None:
    text = """
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: web}
spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [{name: a, envFrom: [{secretRef: {name: s}}]}]}}}
---
apiVersion: v1
kind: Secret
metadata: {name: s}
"""
    open_world = ClusterFacts(name="shop", custom_kinds_external=True, external_kinds=frozenset({"Namespace"}))
    assert edges(text + service("web"), facts=open_world) == [
        "Rollout/web@shop -hard-> Secret/s@shop $.spec.template.spec.containers[a].envFrom[0].secretRef.name",
        "Service/web@shop -soft-> Rollout/web@shop $.spec.selector",
    ]


def test_in_a_marked_build_markers_are_the_hard_edges_and_literal_names_only_order() -> None:
    secret = resource({"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "db"}})
    config = resource({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "web"}})
    other = resource({"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "other"}})
    pod = resource(
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": "web", "labels": {"app": "web"}},
            "spec": {
                "containers": [
                    {"name": "a", "envFrom": [{"secretRef": {"name": "db"}}, {"configMapRef": {"name": "web"}}]}
                ]
            },
        },
        hard=(secret.ref, Ref("Secret", "", "shop", "gone")),
        after=(other.ref,),
    )
    service = resource(
        {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "web"}, "spec": {"selector": {"app": "web"}}},
        soft=(pod.ref,),
    )
    found, missing = find(evaluated([secret, config, other, pod, service], marked=True))
    assert [short(edge) for edge in found] == [
        "Pod/web@shop -hard-> ConfigMap/other@shop ",
        "Pod/web@shop -order-> ConfigMap/web@shop $.spec.containers[a].envFrom[1].configMapRef.name",
        "Pod/web@shop -hard-> Secret/db@shop $.spec.containers[a].envFrom[0].secretRef.name",
        "Service/web@shop -soft-> Pod/web@shop $.spec.selector",
    ]
    assert missing == ()


def test_a_body_of_wrong_shapes_has_no_edges_and_breaks_nothing() -> None:
    text = """
apiVersion: v1
kind: Pod
metadata: {name: a, labels: null}
spec: {containers: {}, volumes: [1, {secret: text}, {configMap: [x]}], imagePullSecrets: {name: x}}
---
apiVersion: v1
kind: Service
metadata: {name: a}
spec: text
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: a}
spec: {podSelector: 1, ingress: [2, {from: [3]}], egress: [{to: [{podSelector: {matchLabels: 1}}]}]}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: a}
webhooks: [{clientConfig: {service: 1}, rules: [{apiGroups: 2}]}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: a}
spec: [1]
"""
    assert edges(text) == []
    assert dangling(text) == []


ODD = st.sampled_from([None, 1, True, "text", "a:80", [], {}, ["x", {"name": "y"}], {"name": "db", "x": [1]}])
SAMPLE = list(
    yaml.safe_load_all(
        WEB
        + """
---
apiVersion: v1
kind: Service
metadata: {name: db}
spec: {selector: {app: web}, ports: [{port: 80}]}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: db}
spec: {podSelector: {matchExpressions: [{key: app, operator: In, values: [web]}]}, ingress: [{from: [{podSelector: {}}]}]}
---
apiVersion: monitoring.coreos.com/v1
kind: ServiceMonitor
metadata: {name: db}
spec: {namespaceSelector: {matchNames: [shop]}, selector: {matchLabels: {app: web}}}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: db}
webhooks: [{name: a, clientConfig: {service: {name: db, namespace: shop}}, rules: [{apiGroups: [example.org]}]}]
---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: caches.example.org}
spec: {group: example.org, names: {kind: Cache}, scope: Cluster}
---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.example.org}
spec: {group: example.org, service: {name: db, namespace: shop}}
---
apiVersion: example.org/v1
kind: Cache
metadata: {name: a}
spec: {url: "//db:80"}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: a}
roleRef: {kind: Role, name: a}
subjects: [{kind: ServiceAccount, name: a}]
---
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata: {name: db}
spec: {bootstrap: {initdb: {secret: {name: a}}}, managed: {services: {disabledDefaultServices: [ro]}}}
---
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: a}
spec: {target: {name: b}, data: [{secretKey: k, sourceRef: {storeRef: {name: s}}}]}
---
apiVersion: bitnami.com/v1alpha1
kind: SealedSecret
metadata: {name: a}
spec: {encryptedData: {a: b}, template: {data: {c: d}, metadata: {name: x}}}
"""
    )
)


def places(value: object, at: tuple[str | int, ...] = ()) -> list[tuple[str | int, ...]]:
    """Every place of a value but the root."""
    if isinstance(value, dict):
        return [place for key, entry in value.items() for place in ((*at, key), *places(entry, (*at, key)))]
    if isinstance(value, list):
        return [place for key, entry in enumerate(value) for place in ((*at, key), *places(entry, (*at, key)))]
    return []


@given(st.data())
def test_no_shape_of_a_body_breaks_the_graph(data: st.DataObject) -> None:
    found = deepcopy(SAMPLE)
    for manifest in found:
        inside = [place for place in places(manifest) if place[0] not in ("apiVersion", "kind", "metadata")]
        if inside:
            place = data.draw(st.sampled_from(inside))
            node: Any = manifest
            for step in place[:-1]:
                node = node[step]
            node[place[-1]] = data.draw(ODD)
    find(evaluated([resource(manifest) for manifest in found], facts=ClusterFacts(name="shop")))
