"""The library's packages against a real API server: every field is one it knows, every value one it takes."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kixbot.model.build import Build
from kixbot.model.finding import Severity
from kixbot.ops.check import check
from kixbot.sources.nix import LIBRARY
from tests.nix.shop import EXAMPLE, built
from tests.parts.control_plane import ControlPlane
from tests.parts.kube_api import ApiError, KubeApi
from tests.parts.second_nix import Nix

HERE = Path(__file__).parent
INSTALLED = ("Namespace", "CustomResourceDefinition")


def path_of(api: KubeApi, manifest: dict[str, Any]) -> str:
    group, _, _ = manifest["apiVersion"].rpartition("/")
    root = f"/apis/{manifest['apiVersion']}" if group else f"/api/{manifest['apiVersion']}"
    (plural,) = (
        found["name"]
        for found in api.get(root)["resources"]
        if found["kind"] == manifest["kind"] and "/" not in found["name"]
    )
    namespace = manifest["metadata"].get("namespace")
    inside = f"/namespaces/{namespace}" if namespace else ""
    return f"{root}{inside}/{plural}/{manifest['metadata']['name']}"


def install(api: KubeApi, build: Build) -> None:
    for resource in build.resources:
        if resource.ref.kind in INSTALLED:
            api.apply(path_of(api, dict(resource.manifest)), dict(resource.manifest))
    for resource in build.resources:
        if resource.ref.kind == "CustomResourceDefinition":
            api.wait_for(path_of(api, dict(resource.manifest)), is_established)


def is_established(definition: dict[str, Any]) -> bool:
    conditions = definition.get("status", {}).get("conditions", [])
    return any(c["type"] == "Established" and c["status"] == "True" for c in conditions)


def refusals(api: KubeApi, build: Build) -> dict[str, str]:
    """What a strict dry run says against the resources of a build, by id."""
    found = {}
    for resource in build.resources:
        if resource.ref.kind in (*INSTALLED, "PackageInstance"):
            continue
        query = "?fieldManager=test&dryRun=All&fieldValidation=Strict"
        try:
            path = path_of(api, dict(resource.manifest)) + query
            api.call("PATCH", path, dict(resource.manifest), "application/apply-patch+yaml")
        except ApiError as error:
            found[resource.ref.id] = str(error)
    return found


@pytest.mark.parametrize("definition", ["example", "every package"])
def test_the_api_server_takes_every_object(definition: str, make_control_plane: Callable[..., ControlPlane]) -> None:
    build = built(EXAMPLE) if definition == "example" else built(HERE, "every_package.nix")
    api = make_control_plane(nodes=0).access.api()
    install(api, build)
    assert refusals(api, build) == {}


def test_every_package_is_tried(first_nix: Nix) -> None:
    listed = json.loads(first_nix.evaluate(f"builtins.attrNames (import {LIBRARY}).packages"))
    tried = {package.package for package in built(HERE, "every_package.nix").evaluated.packages}
    assert set(listed) - tried == set()


def test_no_package_breaks_a_rule() -> None:
    build = built(HERE, "every_package.nix")
    report = check(build)
    assert report.eval_messages == ()
    assert [f.message for f in report.findings if f.severity is Severity.ERROR] == []
    # `full` holds the shortcuts of a scope as they come; what its packages leave to choose is chosen otherwise there.
    plain = [f for f in report.findings if f.severity is Severity.WARNING and not (f.package or "").startswith("full/")]
    assert {f.rule for f in plain} == {"gov/image-unpinned"}
