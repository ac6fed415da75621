import pytest

from kixbot.bot.blast import cluster_risks, find_shrink
from kixbot.graph.waves import waves
from kixbot.model.build import External, Suppression
from kixbot.model.plan import PackageChange, Plan, ResourceChange
from kixbot.output.review_values import Risk
from tests.builds import build_of

DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
      - {name: web, image: "ghcr.io/acme/web:1.4.2"}
"""
CLAIM = """
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
"""
ROLE = """
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: web, namespace: shop}
rules:
- {apiGroups: [""], resources: [pods], verbs: [get]}
"""


def risks(old: str, new: str, **more: object) -> list[str]:
    """The blast radius of replacing one text by another, each risk as one line."""
    base, head = build_of(old), build_of(new, **more)  # type: ignore[arg-type]
    before = {resource.ref: resource.manifest for resource in base.resources}
    after = {resource.ref: resource.manifest for resource in head.resources}
    changes = [ResourceChange(ref=ref, action="removed") for ref in before if ref not in after]
    changes += [ResourceChange(ref=ref, action="added") for ref in after if ref not in before]
    changes += [
        ResourceChange(ref=ref, action="changed") for ref in after if ref in before and before[ref] != after[ref]
    ]
    package = PackageChange(id="shop/x", namespace="shop", name="x", action="changed", resources=tuple(changes))
    plan = Plan(cluster="shop", old_activation=None, new_activation=None, packages=(package,), waves=waves(head))
    return [line(risk) for risk in cluster_risks(base, head, plan)]


def line(risk: Risk) -> str:
    values = ": " + " -> ".join(risk.values) if risk.values else ""
    return f"{risk.verb} {risk.subject}{values}".strip()


def test_a_moved_image_shows_only_what_moved() -> None:
    assert risks(DEPLOYMENT, DEPLOYMENT.replace("1.4.2", "1.5.0")) == [
        "moves image ghcr.io/acme/web: 1.4.2 -> 1.5.0",
        "lands in wave 1 of 1",
    ]


def test_a_new_registry_and_another_repository_are_named() -> None:
    assert risks(DEPLOYMENT, DEPLOYMENT.replace("ghcr.io/acme/web:1.4.2", "evil.example/web:1")) == [
        "new registry evil.example",
        "replaces the image of Deployment/web@shop: ghcr.io/acme/web:1.4.2 -> evil.example/web:1",
        "lands in wave 1 of 1",
    ]


def test_what_is_removed_comes_first_and_data_before_the_rest() -> None:
    assert risks(CLAIM + ROLE + "---" + DEPLOYMENT, DEPLOYMENT) == [
        "removes PersistentVolumeClaim/data@shop",
        "removes Role/web@shop",
    ]


def test_new_rights_are_listed_and_old_ones_are_not() -> None:
    wider = ROLE.replace("verbs: [get]", 'verbs: [get, "*"]')
    assert risks(ROLE, wider) == ["changes rights in Role/web@shop: *:pods", "lands in wave 1 of 1"]
    binding = """
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: all}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}
subjects: [{kind: User, name: mallory, apiGroup: rbac.authorization.k8s.io}]
"""
    assert risks(DEPLOYMENT, DEPLOYMENT + "---" + binding)[0] == (
        "adds rights in ClusterRoleBinding/all: ClusterRole/cluster-admin to User/mallory"
    )


@pytest.mark.parametrize(
    ("field", "where", "said"),
    [
        ("hostNetwork: true", "pod", "gives the node's network to Deployment/web@shop"),
        ("hostPID: true", "pod", "gives the node's processes to Deployment/web@shop"),
        ("volumes: [{name: v, hostPath: {path: /}}]", "pod", "gives the node's files to Deployment/web@shop"),
        ("securityContext: {privileged: true}", "container", "gives full privileges to Deployment/web@shop"),
        (
            "securityContext: {capabilities: {add: [SYS_ADMIN]}}",
            "container",
            "gives extra capabilities to Deployment/web@shop",
        ),
    ],
)
def test_what_reaches_beyond_the_container_is_named(field: str, where: str, said: str) -> None:
    new = DEPLOYMENT + f"      {field}\n" if where == "pod" else DEPLOYMENT.replace('1.4.2"}', f'1.4.2", {field}}}')
    assert said in risks(DEPLOYMENT, new)


def test_admission_webhooks_are_named() -> None:
    hook = """
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: hook}
webhooks: []
"""
    assert risks(DEPLOYMENT, DEPLOYMENT + "---" + hook)[0] == (
        "adds admission webhooks in ValidatingWebhookConfiguration/hook"
    )


def test_new_suppressions_and_externals_are_named() -> None:
    ignore = (Suppression(rule="sec/root-image", resource="*", reason="later"),)
    external = External(kind="Secret", name="db", namespace="shop")
    assert risks(DEPLOYMENT, DEPLOYMENT, ignore=ignore, externals=(external,)) == [
        "declares as external Secret/db",
        "ignores sec/root-image: * -> later",
    ]


def test_a_cluster_that_shrinks_past_its_threshold_or_to_nothing_is_named() -> None:
    many = "---".join(DEPLOYMENT.replace("name: web,", f"name: web{index},") for index in range(10))
    few = "---".join(DEPLOYMENT.replace("name: web,", f"name: web{index},") for index in range(4))
    shrunk = find_shrink(build_of(many), build_of(few), 50)
    assert shrunk is not None
    assert line(shrunk) == "shrinks past the threshold: 6 of 10 resources are gone, more than 50 %"
    assert find_shrink(build_of(many), build_of(few), 60) is None
    assert find_shrink(build_of(few), build_of(many), 0) is None
