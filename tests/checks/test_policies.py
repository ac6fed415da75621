"""What policies let through, what names in strings lead to, and what limits and levels of a namespace refuse."""

import pytest

from kixbot.checks.pod_security import minor_of, violations
from kixbot.checks.pods import find_pods
from kixbot.checks.report import run
from kixbot.model.build import ClusterFacts
from kixbot.model.finding import Finding, Severity
from tests.builds import CLOSED, OPEN, build_of


def of_rule(text: str, rule: str, facts: ClusterFacts = OPEN) -> list[Finding]:
    return [finding for finding in run(build_of(text, facts=facts)).findings if finding.rule == rule]


WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers: [{name: web, image: "web:1", env: [{name: CACHE_URL, value: "redis://cache.data.svc:6379"}]}]
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: cache, namespace: data}
spec:
  selector: {matchLabels: {app: cache}}
  template:
    metadata: {labels: {app: cache}}
    spec: {containers: [{name: cache, image: "cache:1", ports: [{name: redis, containerPort: 6379}]}]}
---
apiVersion: v1
kind: Service
metadata: {name: cache, namespace: data}
spec: {selector: {app: cache}, ports: [{port: 6379, targetPort: redis}]}
"""
NAMESPACES = """\
---
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {team: shop}}
---
apiVersion: v1
kind: Namespace
metadata: {name: data}
"""


def policy(namespace: str, spec: str) -> str:
    return (
        "---\napiVersion: networking.k8s.io/v1\nkind: NetworkPolicy\n"
        f"metadata: {{name: rules, namespace: {namespace}}}\nspec: {spec}\n"
    )


DNS = "{to: [{namespaceSelector: {}}], ports: [{port: 53, protocol: UDP}, {port: 53}]}"
FROM_SHOP = "{namespaceSelector: {matchLabels: {team: shop}}, podSelector: {matchLabels: {app: %s}}}"


@pytest.mark.parametrize(
    ("namespace", "spec", "message"),
    [
        ("data", "{podSelector: {}, policyTypes: [Ingress]}", "being reached"),
        (
            "data",
            "{podSelector: {}, ingress: [{from: [" + FROM_SHOP % "web" + "], ports: [{port: 6379}]}]}",
            None,
        ),
        ("data", "{podSelector: {}, ingress: [{from: [" + FROM_SHOP % "web" + "], ports: [{port: redis}]}]}", None),
        (
            "data",
            "{podSelector: {}, ingress: [{from: [" + FROM_SHOP % "web" + "], ports: [{port: 6000, endPort: 7000}]}]}",
            None,
        ),
        ("data", "{podSelector: {}, ingress: [{from: [" + FROM_SHOP % "api" + "]}]}", "being reached"),
        (
            "data",
            "{podSelector: {}, ingress: [{from: [" + FROM_SHOP % "web" + "], ports: [{port: 80}]}]}",
            "being reached",
        ),
        # A peer without namespaceSelector is one of the policy's own namespace.
        ("data", "{podSelector: {}, ingress: [{from: [{podSelector: {matchLabels: {app: web}}}]}]}", "being reached"),
        ("data", "{podSelector: {}, ingress: [{}]}", None),
        ("data", "{podSelector: {}, ingress: [{from: [{ipBlock: {cidr: 10.0.0.0/8}}]}]}", None),
        ("data", "{podSelector: {matchLabels: {app: other}}, policyTypes: [Ingress]}", None),
        ("shop", "{podSelector: {}, policyTypes: [Egress]}", "from reaching"),
        ("shop", "{podSelector: {}, policyTypes: [Egress], egress: [" + DNS + "]}", "from reaching"),
        (
            "shop",
            "{podSelector: {}, policyTypes: [Egress], egress: [" + DNS + ", {to: [{namespaceSelector: {}}]}]}",
            None,
        ),
        (
            "shop",
            "{podSelector: {}, policyTypes: [Egress], egress: [{to: [{namespaceSelector: {}}], ports: [{port: 6379}]}]}",
            "from resolving names",
        ),
    ],
)
def test_what_a_policy_lets_through(namespace: str, spec: str, message: str | None) -> None:
    found = of_rule(WEB + NAMESPACES + policy(namespace, spec), "ref/policy-blocks", CLOSED)
    assert len(found) == (1 if message else 0)
    assert message is None or message in found[0].message
    assert all(one.severity is Severity.ERROR for one in found)


def test_a_blocked_connection_in_words() -> None:
    (found,) = of_rule(
        WEB + NAMESPACES + policy("data", "{podSelector: {}, policyTypes: [Ingress]}"), "ref/policy-blocks"
    )
    assert found.message == (
        "NetworkPolicy data/rules keeps Deployment data/cache on port 6379 from being reached by Deployment shop/web, "
        "which talks to it"
    )
    assert [(one.note, one.ref and one.ref.name) for one in found.related] == [("names Service data/cache", "web")]


def test_labels_that_an_operator_adds_may_be_those_of_a_peer() -> None:
    text = variable("DB_HOST", "pg-rw").replace("metadata: {name: web,", "metadata: {labels: {app: web}, name: web,")
    allowed = "{to: [{podSelector: {matchLabels: {cnpg.io/cluster: pg, role: %s}}}]}"
    rules = "{podSelector: {matchLabels: {app: web}}, policyTypes: [Egress], egress: [" + DNS + ", " + allowed + "]}"
    assert of_rule(text + policy("shop", rules % "primary"), "ref/policy-blocks") == []
    denied = rules.replace("cluster: pg", "cluster: other") % "primary"
    assert len(of_rule(text + policy("shop", denied), "ref/policy-blocks")) == 1


def test_the_network_of_a_node_is_not_isolated() -> None:
    text = WEB.replace("      containers:", "      hostNetwork: true\n      containers:", 1) + NAMESPACES
    assert of_rule(text + policy("shop", "{podSelector: {}, policyTypes: [Egress]}"), "ref/policy-blocks") == []
    assert of_rule(text + policy("data", "{podSelector: {}, policyTypes: [Ingress]}"), "ref/policy-blocks") == []


def test_other_kinds_of_policies_may_allow_what_these_do_not() -> None:
    cilium = (
        "---\napiVersion: cilium.io/v2\nkind: CiliumNetworkPolicy\nmetadata: {name: a, namespace: data}\n"
        "spec: {endpointSelector: {}}\n"
    )
    text = WEB + NAMESPACES + policy("data", "{podSelector: {}, policyTypes: [Ingress]}")
    assert of_rule(text + cilium, "ref/policy-blocks") == []


@pytest.mark.parametrize(
    ("peer", "facts", "count"),
    [
        ("{namespaceSelector: {matchLabels: {team: shop}}}", CLOSED, 0),
        ("{namespaceSelector: {matchLabels: {team: shp}}}", CLOSED, 1),
        # Where namespaces are outside, their labels are not known.
        ("{namespaceSelector: {matchLabels: {team: shp}}}", OPEN, 0),
        ("{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kube-system}}}", CLOSED, 0),
        ("{podSelector: {matchLabels: {app: cache}}}", CLOSED, 0),
        ("{podSelector: {matchLabels: {app: cach}}}", CLOSED, 1),
        ("{ipBlock: {cidr: 10.0.0.0/8}}", CLOSED, 0),
    ],
)
def test_a_peer_that_nobody_is(peer: str, facts: ClusterFacts, count: int) -> None:
    text = WEB + NAMESPACES + policy("data", f"{{podSelector: {{}}, ingress: [{{from: [{peer}]}}]}}")
    assert len(of_rule(text, "ref/policy-selects-nothing", facts)) == count


def variable(name: str, value: str) -> str:
    return f"""\
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec: {{containers: [{{name: web, image: "web:1", env: [{{name: {name}, value: "{value}"}}]}}]}}
---
apiVersion: v1
kind: Service
metadata: {{name: db, namespace: shop}}
spec: {{selector: {{app: db}}, ports: [{{port: 5432}}]}}
---
apiVersion: v1
kind: Service
metadata: {{name: peers, namespace: shop}}
spec: {{clusterIP: None, selector: {{app: db}}, ports: [{{port: 5432}}]}}
---
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata: {{name: pg, namespace: shop}}
spec: {{instances: 1, storage: {{size: 1Gi}}}}
"""


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("URL", "postgres://db.shop.svc.cluster.local:5432/app", None),
        ("URL", "postgres://db.shop.svc:5432/app", None),
        ("URL", "http://dbs.shop.svc/", "names Service shop/dbs, which no resource in this cluster creates"),
        ("URL", "db.shop.svc:5433", "names port 5433 of Service shop/db, which has no such port"),
        # The pods behind a headless Service may listen on any port.
        ("URL", "web-0.peers.shop.svc.cluster.local:7000", None),
        # What an operator makes is known; what begins with the name of a custom resource may be.
        ("URL", "pg-rw.shop.svc:5432", None),
        ("URL", "pg-metrics.shop.svc", None),
        # A namespace that the build does not hold is somebody else's.
        ("URL", "http://api.elsewhere.svc", None),
        ("URL", "http://$(NAME).shop.svc", None),
        ("DB_HOST", "db", None),
        ("DB_HOST", "dbb", "sets DB_HOST to dbb, and no Service of namespace shop is called so"),
        ("DB_HOST", "localhost", None),
        ("DB_HOST", "example", None),
        ("DB_NAME", "dbb", None),
    ],
)
def test_a_service_named_in_a_string(name: str, value: str, words: str | None) -> None:
    found = of_rule(variable(name, value), "ref/service-name")
    assert [one.message.partition("\n")[0] for one in found] == ([f"Pod shop/web {words}"] if words else [])


def test_a_service_named_in_a_config_map() -> None:
    text = variable("A", "b") + (
        "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\n"
        "data: {app.ini: 'db = gone.shop.svc'}\n"
    )
    (found,) = of_rule(text, "ref/service-name")
    assert (found.message, found.path) == (
        "ConfigMap shop/web names Service shop/gone, which no resource in this cluster creates",
        '$.data."app.ini"',
    )


def limited(kind: str, spec: str, resources: str, replicas: int = 2) -> str:
    return f"""\
apiVersion: v1
kind: {kind}
metadata: {{name: limits, namespace: shop}}
spec: {spec}
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  replicas: {replicas}
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec: {{containers: [{{name: web, image: "web:1", resources: {resources}}}]}}
"""


@pytest.mark.parametrize(
    ("hard", "resources", "message"),
    [
        ("{limits.memory: 4Gi}", "{limits: {memory: 2Gi}}", None),
        (
            "{limits.memory: 4Gi}",
            "{limits: {memory: 3Gi}}",
            "the workloads of namespace shop ask for 6Gi of limits.memory, and ResourceQuota shop/limits allows 4Gi",
        ),
        (
            "{limits.memory: 4Gi}",
            "{requests: {memory: 1Gi}}",
            ("Deployment shop/web container 'web' does not set limits.memory, which ResourceQuota shop/limits counts; its "
            "pods are refused"),
        ),
        # A limit is a request where there is none; `cpu` is short for requests.cpu.
        ("{cpu: '1'}", "{limits: {cpu: 500m}}", None),
        ("{cpu: 900m}", "{limits: {cpu: 500m}}", ("the workloads of namespace shop ask for 1 of cpu, and ResourceQuota "
         "shop/limits allows 900m")),
        ("{pods: '1'}", "{}", "the workloads of namespace shop ask for 2 of pods, and ResourceQuota shop/limits allows 1"),
        ("{services: '0'}", "{}", None),
    ],
)  # fmt: skip
def test_what_a_quota_allows(hard: str, resources: str, message: str | None) -> None:
    found = of_rule(limited("ResourceQuota", f"{{hard: {hard}}}", resources), "api/quota")
    assert [one.message for one in found] == ([message] if message else [])


def test_the_defaults_of_a_limit_range_count_for_a_quota() -> None:
    text = limited("ResourceQuota", "{hard: {limits.memory: 4Gi}}", "{}") + (
        "---\napiVersion: v1\nkind: LimitRange\nmetadata: {name: defaults, namespace: shop}\n"
        "spec: {limits: [{type: Container, default: {memory: 1Gi}}]}\n"
    )
    assert of_rule(text, "api/quota") == []


@pytest.mark.parametrize(
    ("entry", "resources", "fact"),
    [
        ("max: {memory: 1Gi}", "{limits: {memory: 1024Mi}}", None),
        ("max: {memory: 1Gi}", "{limits: {memory: 2Gi}}", "has limits.memory 2Gi, above the most"),
        ("min: {cpu: 100m}", "{requests: {cpu: 0.05}}", "has requests.cpu 0.05, below the least"),
        ("min: {cpu: 100m}", "{}", None),
    ],
)
def test_what_a_limit_range_allows(entry: str, resources: str, fact: str | None) -> None:
    text = limited("LimitRange", f"{{limits: [{{type: Container, {entry}}}]}}", resources)
    messages = [f"Deployment shop/web container 'web' {fact} of LimitRange shop/limits"] if fact else []
    assert [one.message for one in of_rule(text, "api/limit-range")] == messages


def pod(spec: str, container: str = "", metadata: str = "") -> str:
    return (
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: web, namespace: shop{metadata}}}\n"
        f"spec: {{{spec} containers: [{{name: web, image: 'web:1'{container}}}]}}\n"
    )


SOUND = (
    ", securityContext: {allowPrivilegeEscalation: false, runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}, "
    "capabilities: {drop: [ALL]%s}}"
)
SYSCTL = "securityContext: {sysctls: [{name: %s, value: '1'}]},"


@pytest.mark.parametrize(
    ("text", "minor", "baseline", "restricted"),
    [
        (pod("", SOUND % ""), 34, set(), set()),
        (pod("", SOUND % ", add: [NET_BIND_SERVICE]"), 34, set(), set()),
        (pod("", SOUND % ", add: [CHOWN]"), 34, set(), {"capabilities"}),
        (pod("", SOUND % ", add: [NET_RAW]"), 34, {"capabilities"}, {"capabilities"}),
        (pod(""), 34, set(), {"capabilities", "privilege-escalation", "run-as-root", "seccomp"}),
        (pod("hostNetwork: true, hostPID: true,", SOUND % ""), 34, {"host-namespaces"}, {"host-namespaces"}),
        (pod("volumes: [{name: a, hostPath: {path: /}}],", SOUND % ""), 34, {"host-path"}, {"host-path"}),
        (pod("volumes: [{name: a, nfs: {server: a, path: /}}],", SOUND % ""), 34, set(), {"volumes"}),
        (pod("", SOUND % "" + ", ports: [{containerPort: 1, hostPort: 1}]"), 34, {"host-port"}, {"host-port"}),
        # Safe kernel parameters grow with the versions.
        (pod(SYSCTL % "net.ipv4.tcp_rmem", SOUND % ""), 31, {"sysctls"}, {"sysctls"}),
        (pod(SYSCTL % "net.ipv4.tcp_rmem", SOUND % ""), 32, set(), set()),
        # Probes that call other hosts are forbidden from 1.34 on.
        (pod("", SOUND % "" + ", livenessProbe: {tcpSocket: {port: 1, host: a}}"), 33, set(), set()),
        (pod("", SOUND % "" + ", livenessProbe: {tcpSocket: {port: 1, host: a}}"), 34, {"probe-host"}, {"probe-host"}),
        # One type of SELinux came in 1.31.
        (
            pod("securityContext: {seLinuxOptions: {type: container_engine_t}},", SOUND % ""),
            30,
            {"selinux"},
            {"selinux"},
        ),
        (pod("securityContext: {seLinuxOptions: {type: container_engine_t}},", SOUND % ""), 31, set(), set()),
        # In a user namespace root is nobody, from 1.35 on; an unmasked /proc then passes the baseline.
        (pod("hostUsers: false, securityContext: {runAsUser: 0},", SOUND % ""), 34, set(), {"run-as-root"}),
        (pod("hostUsers: false, securityContext: {runAsUser: 0},", SOUND % ""), 35, set(), set()),
        (
            pod("hostUsers: false,", (SOUND % "").replace("{allow", "{procMount: Unmasked, allow")),
            35,
            set(),
            {"proc-mount"},
        ),
        (pod("", (SOUND % "").replace("{allow", "{procMount: Unmasked, allow")), 35, {"proc-mount"}, {"proc-mount"}),
        # Windows has neither capabilities nor seccomp.
        (pod("os: {name: windows}, securityContext: {runAsNonRoot: true},"), 34, set(), set()),
        (
            pod("", SOUND % "", ", annotations: {container.apparmor.security.beta.kubernetes.io/web: unconfined}"),
            34,
            {"apparmor"},
            {"apparmor"},
        ),
    ],
)
def test_the_pod_security_standards_by_version(text: str, minor: int, baseline: set[str], restricted: set[str]) -> None:
    (resource,) = build_of(text).resources
    pods = find_pods(resource)
    assert pods is not None
    assert {one.control for one in violations(pods, "baseline", minor)} == baseline
    assert {one.control for one in violations(pods, "restricted", minor)} == restricted


def test_a_label_may_hold_a_version_of_its_own() -> None:
    assert (minor_of("1.34"), minor_of("v1.30.2"), minor_of("latest")) == (34, 30, 99)
    namespace = (
        "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop, labels: {pod-security.kubernetes.io/enforce: "
        "baseline, pod-security.kubernetes.io/enforce-version: %s}}\n"
    )
    text = pod("", ", livenessProbe: {tcpSocket: {port: 1, host: a}}")
    assert of_rule(text + namespace % "v1.33", "api/pod-security") == []
    assert len(of_rule(text + namespace % "v1.34", "api/pod-security")) == 1


@pytest.mark.parametrize(
    ("name", "value", "count"),
    [
        ("DB_PASSWORD", "hunter2", 1),
        ("API_KEY", "abc", 1),
        ("DB_PASSWORD", "$(FROM_SECRET)", 0),
        ("DB_PASSWORD_FILE", "/run/secrets/db", 0),
        ("DB_PASSWORD", "/run/secrets/db", 0),
        ("DB_PASSWORD", "", 0),
        ("PASSWORD_LENGTH", "12", 0),
        ("DATABASE_URL", "postgres://app:hunter2@db/app", 1),
        ("DATABASE_URL", "postgres://app:$(PASSWORD)@db/app", 0),
        ("KEY", "AKIAIOSFODNN7EXAMPLE", 1),
        ("MESSAGE", "the password is wrong", 0),
    ],
)
def test_what_looks_like_a_secret(name: str, value: str, count: int) -> None:
    found = of_rule(pod("", f", env: [{{name: {name}, value: '{value}'}}]"), "sec/secret-in-env")
    assert len(found) == count
    assert not value or all(value not in str(one) for one in found)


ROLE = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: web}
rules: [{apiGroups: ["%s"], resources: [%s], verbs: [%s]%s}]
"""


@pytest.mark.parametrize(
    ("group", "resources", "verbs", "more", "rules"),
    [
        ("", "secrets", "get", "", {"sec/read-secrets"}),
        ("", "secrets", "get", ", resourceNames: [db]", set()),
        ("apps", "secrets", "get", "", set()),
        ("", "pods", "create", "", {"sec/create-pods"}),
        ("", "pods/exec", "create", "", {"sec/exec-pods"}),
        ("*", "'*'", "'*'", "", {"sec/wildcard-rights"}),
        ("", "configmaps", "'*'", "", {"sec/wildcard-rights"}),
        ("rbac.authorization.k8s.io", "roles", "escalate", "", {"sec/escalation-rights"}),
        ("", "users", "impersonate", "", {"sec/escalation-rights"}),
        ("", "nodes/proxy", "get", "", {"sec/escalation-rights"}),
        ("", "pods, pods/log", "get, list", "", set()),
    ],
)
def test_what_a_role_gives(group: str, resources: str, verbs: str, more: str, rules: set[str]) -> None:
    found = run(build_of(ROLE % (group, resources, verbs, more))).findings
    assert {one.rule for one in found if one.rule.startswith("sec/")} == rules


def test_an_operators_role_is_an_info() -> None:
    crd = """\
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
"""
    rule = ", {apiGroups: [example.org], resources: [pools, pools/status], verbs: [get, update]}]"
    role = (ROLE % ("", "secrets", "get", "")).replace("}]\n", f"}}{rule}\n")
    assert [one.severity for one in of_rule(role, "sec/read-secrets")] == [Severity.WARNING]
    assert [one.severity for one in of_rule(role + crd, "sec/read-secrets")] == [Severity.INFO]
