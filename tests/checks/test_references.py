"""Rules about what is missing: objects, keys, ports, pods, and the name that was meant."""

from dataclasses import replace

import pytest

from kixbot.checks.registry import CHECKS
from kixbot.graph.edges import TABLE
from kixbot.model.build import ClusterFacts, DanglingReference, External
from kixbot.model.finding import Confidence, Severity
from kixbot.model.resource import Ref
from tests.builds import CLOSED, OPEN, build_of, lean_run as run

Said = list[tuple[str, str, str | None]]


def said(text: str, group: str = "ref", facts: ClusterFacts = OPEN, externals: tuple[External, ...] = ()) -> Said:
    """Rule, message and hint of every finding of a group."""
    report = run(build_of(text, facts=facts, externals=externals))
    assert report.eval_messages == ()
    return [(one.rule, one.message, one.hint) for one in report.findings if one.rule.startswith(f"{group}/")]


def pod(spec: str = "", container: str = "") -> str:
    return f"""\
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop, labels: {{app: web}}}}
spec:
  automountServiceAccountToken: false
  containers: [{{name: web, image: "web:1", {container}}}]
  {spec}
"""


def plain(kind: str, name: str, namespace: str = "shop", more: str = "", version: str = "v1") -> str:
    return f"---\napiVersion: {version}\nkind: {kind}\nmetadata: {{name: {name}, namespace: {namespace}}}\n{more}\n"


def test_a_missing_secret_names_the_nearest_one_in_its_namespace() -> None:
    text = pod("imagePullSecrets: [{name: registy}]") + plain("Secret", "registry") + plain("Secret", "db")
    assert said(text) == [
        (
            "ref/secret",
            "Pod shop/web refers to Secret shop/registy, which no resource in this cluster creates",
            'did you mean "registry"?',
        )
    ]


def test_a_secret_of_another_namespace_is_not_there() -> None:
    text = pod("imagePullSecrets: [{name: registry}]") + plain("Secret", "registry", "build")
    assert said(text)[0][2] == "Secret registry exists in namespace build; it cannot be used from another one"


def test_a_missing_object_without_a_near_name_says_how_to_declare_it_and_what_there_is() -> None:
    text = pod("imagePullSecrets: [{name: registry}]") + plain("Secret", "db")
    assert said(text)[0][2] == (
        "add Secret registry, or declare it as external with an import or kix.untrackedRef; there are db"
    )


def test_one_missing_object_is_one_finding_however_many_fields_name_it() -> None:
    text = pod(
        "imagePullSecrets: [{name: db}]",
        "env: [{name: A, valueFrom: {secretKeyRef: {name: db, key: a}}}, "
        "{name: B, valueFrom: {secretKeyRef: {name: db, key: b}}}]",
    )
    (finding,) = [one for one in run(build_of(text)).findings if one.rule.startswith("ref/")]
    assert finding.path == "$.spec.containers[web].env[A].valueFrom.secretKeyRef.name"
    assert [related.note for related in finding.related] == [
        "also $.spec.containers[web].env[B].valueFrom.secretKeyRef.name",
        "also $.spec.imagePullSecrets[db].name",
    ]


def test_optional_references_and_externals_are_left_alone() -> None:
    text = pod("", "envFrom: [{secretRef: {name: a, optional: true}}, {secretRef: {name: b}}]")
    assert said(text, externals=(External(kind="Secret", name="b", namespace="shop"),)) == []


def test_an_external_that_nothing_uses_is_reported() -> None:
    externals = (
        External(kind="Secret", name="b", namespace="shop"),
        External(kind="Secret", name="b", namespace="blog"),
        External(kind="Namespace", name="shop"),
        External(kind="Service", name="legacy", namespace="old"),
        External(kind="CustomResourceDefinition", name="pools.example.org"),
        External(kind="ClusterRole", name="reader"),
    )
    text = pod("", 'envFrom: [{secretRef: {name: b}}], env: [{name: DB, value: "legacy.old:5432"}]')
    text += plain("Pool", "p", version="example.org/v1")
    role = "roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}"
    text += plain("RoleBinding", "r", more=role, version="rbac.authorization.k8s.io/v1")
    assert said(text, externals=externals) == [
        (
            "ref/unused-external",
            "external Secret blog/b is declared, and nothing refers to it",
            "remove the declaration, or check the name that was meant",
        )
    ]


def test_an_external_that_only_an_unknown_kind_names_counts_as_used() -> None:
    text = plain("Vault", "main", more="spec: {keyFrom: unseal}", version="example.org/v1")
    assert said(text, externals=(External(kind="Secret", name="unseal", namespace="shop"),)) == []


def test_a_namespace_that_nothing_creates_is_one_finding_for_all_its_resources() -> None:
    text = (
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
        + plain("ConfigMap", "a", "shpo")
        + plain("ConfigMap", "b", "shpo")
    )
    assert said(text, facts=CLOSED) == [
        (
            "ref/namespace",
            "2 resources are in namespace shpo, which no resource in this cluster creates",
            'did you mean "shop"?',
        )
    ]


def test_a_kind_without_a_definition_is_one_finding() -> None:
    text = plain("Pool", "a", "default", version="example.org/v1") + plain(
        "Pool", "b", "default", version="example.org/v1"
    )
    assert said(text, facts=CLOSED) == [
        (
            "ref/custom-resource-definition",
            "Pool default/a is of kind Pool.example.org, which no CustomResourceDefinition in this cluster defines",
            "add the CRD or the package that brings it, or declare the CRD as external",
        )
    ]


@pytest.mark.parametrize(
    ("maker", "key"),
    [
        (
            (
                "kind: ExternalSecret\napiVersion: external-secrets.io/v1\nmetadata: {name: db, namespace: shop}\n"
                "spec: {data: [{secretKey: password}]}"
            ),
            "password",
        ),
        (
            (
                "kind: Certificate\napiVersion: cert-manager.io/v1\nmetadata: {name: c, namespace: shop}\n"
                "spec: {secretName: db}"
            ),
            "tls.crt",
        ),
        (
            (
                "kind: SealedSecret\napiVersion: bitnami.com/v1alpha1\nmetadata: {name: db, namespace: shop}\n"
                "spec: {encryptedData: {password: x}}"
            ),
            "password",
        ),
    ],
)
def test_keys_of_secrets_that_operators_make_are_known(maker: str, key: str) -> None:
    def asks(wanted: str) -> str:
        return f"{maker}\n---\n" + pod(
            "", f"env: [{{name: A, valueFrom: {{secretKeyRef: {{name: db, key: {wanted}}}}}}}]"
        )

    assert said(asks(key)) == []
    assert [rule for rule, *_ in said(asks("other"))] == ["ref/secret-key"]


def test_keys_are_not_judged_where_they_are_not_known() -> None:
    text = pod("", "env: [{name: A, valueFrom: {secretKeyRef: {name: x, key: a}}}]")
    assert said(text, externals=(External(kind="Secret", name="x"),)) == []
    keyed = (External(kind="Secret", name="x", keys=("b",)),)
    assert said(text, externals=keyed)[0][1] == 'secret "x" does not declare key "a"\n  declared keys: b'


def test_keys_in_volumes_and_projected_volumes_are_judged() -> None:
    text = (
        pod(
            "volumes: [{name: a, secret: {secretName: db, items: [{key: one, path: p}]}}, "
            "{name: b, projected: {sources: [{configMap: {name: cm, items: [{key: two, path: p}]}}]}}]"
        )
        + plain("Secret", "db")
        + plain("ConfigMap", "cm")
    )
    assert [(rule, message.partition("\n")[0]) for rule, message, _ in said(text)] == [
        ("ref/config-map-key", 'configmap "cm" does not declare key "two"'),
        ("ref/secret-key", 'secret "db" does not declare key "one"'),
    ]


def test_optional_keys_and_the_root_certificate_are_there() -> None:
    text = pod(
        "volumes: [{name: a, configMap: {name: kube-root-ca.crt, items: [{key: ca.crt, path: p}]}}, "
        "{name: b, secret: {secretName: db, optional: true, items: [{key: one, path: p}]}}]"
    ) + plain("Secret", "db")
    assert said(text) == []


SERVICE = """\
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: %s}]}
"""


def test_a_named_target_port_is_looked_up_in_the_selected_pods() -> None:
    text = pod("", "ports: [{name: http, containerPort: 8080}]") + SERVICE
    assert said(text % "http") == []
    assert said(text % "htpp") == [
        (
            "ref/target-port",
            'Service shop/web targets port "htpp", which no container of its pods declares\n  declared ports: http',
            'did you mean "http"?',
        )
    ]


def test_a_named_target_port_that_only_some_pods_declare_is_a_warning() -> None:
    named = pod("", "ports: [{name: http, containerPort: 8080}]")
    other = pod().replace("name: web, namespace", "name: old, namespace")
    (finding,) = list(run(build_of(named + "---\n" + other + SERVICE % "http")).findings)
    assert (finding.rule, finding.severity) == ("ref/target-port", Severity.WARNING)
    assert "Pod shop/old does not declare" in finding.message


def test_a_target_port_number_is_an_info_and_only_where_ports_are_declared() -> None:
    assert said(pod() + SERVICE % "8080") == []
    text = pod("", "ports: [{containerPort: 9090}]") + SERVICE % "8080"
    (finding,) = run(build_of(text)).findings
    assert (finding.rule, finding.severity, finding.confidence) == (
        "ref/target-port",
        Severity.INFO,
        Confidence.HINT,
    )


def test_ports_of_sidecars_count_and_those_of_other_init_containers_do_not() -> None:
    sidecar = "initContainers: [{name: s, image: 's:1', ports: [{name: http, containerPort: 1}], restartPolicy: %s}]"
    assert said(pod(sidecar % "Always") + SERVICE % "http") == []
    assert [rule for rule, *_ in said(pod(sidecar % "Never") + SERVICE % "http")] == ["ref/target-port"]


def test_hooks_and_probes_look_up_named_ports_in_their_own_container() -> None:
    text = pod(
        "",
        "ports: [{name: http, containerPort: 8080}], startupProbe: {tcpSocket: {port: http}}, "
        "lifecycle: {preStop: {httpGet: {path: /bye, port: admin}}}",
    )
    assert said(text) == [
        (
            "ref/probe-port",
            (
                "Pod shop/web container 'web' has a lifecycle on port \"admin\", which it does not declare\n"
                "  declared ports: http"
            ),
            "name a port of this container admin, or give the number",
        )
    ]


def test_a_service_of_an_operators_pods_selects_something() -> None:
    text = plain("Cluster", "db", more="spec: {instances: 3}", version="postgresql.cnpg.io/v1") + (
        "---\napiVersion: v1\nkind: Service\nmetadata: {name: admin, namespace: shop}\n"
        "spec: {selector: {cnpg.io/cluster: db, role: primary}, ports: [{port: 5432}]}\n"
    )
    assert said(text) == []


def test_pods_of_an_unknown_operator_make_the_finding_a_hint() -> None:
    text = plain("Broker", "mq", version="example.org/v1") + (
        "---\napiVersion: v1\nkind: Service\nmetadata: {name: admin, namespace: shop}\n"
        "spec: {selector: {example.org/broker: mq}, ports: [{port: 5672}]}\n"
        "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: mq, namespace: shop}\n"
        "spec: {maxUnavailable: 1, selector: {matchLabels: {example.org/broker: mq}}}\n"
    )
    found = [(one.rule, one.severity, one.confidence) for one in run(build_of(text)).findings]
    assert found == [
        ("ref/pdb-selects-nothing", Severity.WARNING, Confidence.HINT),
        ("ref/service-selects-nothing", Severity.WARNING, Confidence.HINT),
    ]


@pytest.mark.parametrize(
    "spec",
    [
        "{ports: [{port: 80}]}",
        "{type: ExternalName, externalName: example.org, selector: {app: nothing}}",
        "{selector: {}, ports: [{port: 80}]}",
        "{selector: {statefulset.kubernetes.io/pod-name: db-0, app: web}, ports: [{port: 80}]}",
    ],
)
def test_services_that_select_nothing_by_design_are_left_alone(spec: str) -> None:
    text = (
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, namespace: shop}\n"
        "spec: {template: {metadata: {labels: {app: web}}, spec: {containers: [{name: db, image: 'db:1'}]}}}\n"
        f"---\napiVersion: v1\nkind: Service\nmetadata: {{name: web, namespace: shop}}\nspec: {spec}\n"
    )
    assert said(text) == []


@pytest.mark.parametrize(
    ("selector", "shown"),
    [
        ("{}", None),
        ("{matchExpressions: [{key: app, operator: Exists}]}", None),
        (
            "{matchExpressions: [{key: app, operator: In, values: [api]}]}",
            '{"matchExpressions":[{"key":"app","operator":"In","values":["api"]}]}',
        ),
        ("{matchLabels: {app: web, tier: front}}", '{"app":"web","tier":"front"}'),
    ],
)
def test_a_disruption_budget_is_judged_by_its_whole_selector(selector: str, shown: str | None) -> None:
    text = pod() + (
        "---\napiVersion: policy/v1\nkind: PodDisruptionBudget\nmetadata: {name: web, namespace: shop}\n"
        f"spec: {{maxUnavailable: 1, selector: {selector}}}\n"
    )
    messages = [message for _, message, _ in said(text)]
    if shown is None:
        assert messages == []
    else:
        assert messages[0].startswith(f"PodDisruptionBudget shop/web selector {shown} matches no workload")


def test_two_jobs_of_a_service_are_one_finding_of_its_own() -> None:
    job = "---\napiVersion: batch/v1\nkind: Job\nmetadata: {name: %s, namespace: shop}\nspec:\n"
    job += "  template: {metadata: {labels: {app: web}}, spec: {containers: [{name: m, image: 'm:1'}]}}\n"
    assert said(SERVICE % "80" + job % "a" + job % "b", "sel") == [
        (
            "sel/service-selects-only-jobs",
            (
                'Service shop/web selector {"app":"web"} matches only pods that run to an end: Job shop/a, Job shop/b; '
                "the Service has no lasting endpoint"
            ),
            "select the pods of a workload that keeps running, or remove the Service",
        )
    ]


def test_a_workload_that_exists_outside_may_be_the_one_that_is_selected() -> None:
    text = SERVICE % "80"
    external = (External(kind="Deployment", name="legacy", namespace="shop"),)
    (finding,) = [
        one for one in run(build_of(text, externals=external)).findings if one.rule == "ref/service-selects-nothing"
    ]
    assert (finding.severity, finding.confidence) == (Severity.WARNING, Confidence.HINT)


@pytest.mark.parametrize("kind", sorted({row.target.name for row in TABLE}))
def test_a_missing_object_of_every_kind_that_can_be_referred_to_is_one_finding(kind: str) -> None:
    build = build_of(pod())
    source = build.resources[0].ref
    missing = DanglingReference(source=source, target=Ref(kind, "example.org", "shop", "missing"), path="$.spec.name")
    (finding,) = run(replace(build, dangling=(missing,))).findings
    assert (finding.severity, finding.ref) == (Severity.ERROR, source)
    assert finding.rule in {check.id for check in CHECKS}
    optional = replace(missing, optional=True)
    assert run(replace(build, dangling=(optional,))).findings == ()


def test_a_claim_template_takes_the_place_of_the_volume_of_its_name() -> None:
    text = (
        "apiVersion: apps/v1\nkind: StatefulSet\nmetadata: {name: db, namespace: shop}\nspec:\n"
        "  volumeClaimTemplates: [{metadata: {name: %s}}]\n"
        "  template:\n    spec:\n      containers: [{name: db, image: 'db:1'}]\n"
        "      volumes: [{name: data, persistentVolumeClaim: {claimName: any}}]\n"
    )
    assert said(text % "data") == []
    assert [rule for rule, *_ in said(text % "other")] == ["ref/persistent-volume-claim"]
