"""Objects that Argo CD or Flux keep are recognised, and a deploy refuses until they are let go."""

from typing import Any

import pytest

from kixbot.cluster.interface import ApiKind
from kixbot.errors import RefusedError
from kixbot.ops.trackers import Owner, owner_of
from kixbot.output.deploy_text import plan_text
from tests.ops.test_drift import CONFIG_MAP
from tests.ops.worlds import World, embedded

FLUX = "kustomize.toolkit.fluxcd.io"


def kind_of(world: World, group: str, kind: str, version: str = "v1") -> ApiKind:
    """The kind, by a CRD that takes anything; it is made once for all tests of the control plane."""
    plural = f"{kind.lower()}s"
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    body = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "listKind": f"{kind}List"},
            "versions": [
                {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}},
            ],
        },
    }
    crd = world.deploys.kind("apiextensions.k8s.io/v1", "CustomResourceDefinition")
    world.cluster.apply(crd, body, manager="admin", force=True)
    for _ in range(50):
        found = world.cluster.discover(refresh=True).find(f"{group}/{version}", kind)
        if found is not None:
            return found
        import time  # noqa: PLC0415  a CRD takes a moment to be served

        time.sleep(0.1)
    raise AssertionError(f"{kind} is not served")


def kept_by(world: World, mark: dict[str, Any]) -> None:
    world.deploy()
    world.patch(*CONFIG_MAP, {"metadata": mark}, by="argocd-controller")


def test_an_application_that_heals_itself_refuses_with_the_command_and_lets_go_by_it(world: World) -> None:
    kind = kind_of(world, "argoproj.io", "Application", "v1alpha1")
    name = f"{world.name}-app"
    body = {
        "apiVersion": "argoproj.io/v1alpha1",
        "kind": "Application",
        "metadata": {"name": name, "namespace": world.name},
        "spec": {"syncPolicy": {"automated": {"selfHeal": True, "prune": True}}},
    }
    mark = f"{name}:/ConfigMap:{world.name}/web"
    kept_by(world, {"annotations": {"argocd.argoproj.io/tracking-id": mark}})
    world.deploy()  # the mark alone was left behind: no such Application
    world.cluster.create(kind, body, manager="admin")
    with pytest.raises(RefusedError) as refused:
        world.deploy()
    assert refused.value.message == (
        f"ConfigMap {world.name}/web: kept by Argo CD (Application {world.name}/{name}), "
        "which syncs by itself and heals itself and prunes"
    )
    assert refused.value.hint == (
        f"kubectl -n {world.name} patch applications.argoproj.io {name} --type merge -p "
        '\'{"metadata":{"finalizers":null},"spec":{"syncPolicy":{"automated":null}}}\''
    )
    shown = plan_text(world.deploys.plan)
    assert "Kept by other tools: a deploy refuses until they let go:\n  Argo CD, Application" in shown
    released = {"metadata": {"finalizers": None}, "spec": {"syncPolicy": {"automated": None}}}
    world.cluster.merge_patch(kind, name, released, namespace=world.name, manager="admin")
    world.deploy()


def test_a_kustomization_refuses_until_it_is_suspended(world: World) -> None:
    kind = kind_of(world, FLUX, "Kustomization")
    body = {
        "apiVersion": f"{FLUX}/v1",
        "kind": "Kustomization",
        "metadata": {"name": "apps", "namespace": world.name},
        "spec": {"prune": True},
    }
    kept_by(world, {"labels": {f"{FLUX}/name": "apps", f"{FLUX}/namespace": world.name}})
    world.cluster.create(kind, body, manager="admin")
    with pytest.raises(RefusedError) as refused:
        world.deploy()
    assert refused.value.message == (
        f"ConfigMap {world.name}/web: kept by Flux (Kustomization {world.name}/apps), which reconciles them and prunes"
    )
    assert refused.value.hint == f"flux suspend kustomization apps -n {world.name}"
    suspended = {"spec": {"suspend": True}}
    world.cluster.merge_patch(kind, "apps", suspended, namespace=world.name, manager="admin")
    world.deploy()


def test_without_marks_nobody_is_asked() -> None:
    world = embedded()
    kind_of(world, "argoproj.io", "Application", "v1alpha1")
    world.deploy()
    before = world.cluster.requests.copy()
    world.drift()
    plain = (world.cluster.requests - before)["list"]
    before = world.cluster.requests.copy()
    with pytest.raises(RefusedError):
        world.deploy(confirm=lambda _: False)
    assert (world.cluster.requests - before)["list"] == plain


def marked(labels: dict[str, str] | None = None, annotations: dict[str, str] | None = None, manager: str = "x") -> Any:
    return {
        "metadata": {
            "namespace": "shop",
            "labels": labels or {},
            "annotations": annotations or {},
            "managedFields": [{"manager": manager, "operation": "Update"}],
        }
    }


@pytest.mark.parametrize(
    ("live", "owner"),
    [
        (marked(), None),
        (marked({"app.kubernetes.io/instance": "web"}), None),
        (
            marked({"app.kubernetes.io/instance": "web"}, manager="argocd-controller"),
            Owner("Argo CD", "Application", "argoproj.io", "", "web"),
        ),
        (
            marked(annotations={"argocd.argoproj.io/tracking-id": "team_web:apps/Deployment:shop/web"}),
            Owner("Argo CD", "Application", "argoproj.io", "team", "web"),
        ),
        (
            marked({"helm.toolkit.fluxcd.io/name": "web"}),
            Owner("Flux", "HelmRelease", "helm.toolkit.fluxcd.io", "shop", "web"),
        ),
    ],
)
def test_marks_are_read_as_the_tools_write_them(live: Any, owner: Owner | None) -> None:
    assert owner_of(live) == owner
