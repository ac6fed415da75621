"""The document of a definition, decoded and believed no more than any other input."""

from pathlib import Path
from typing import Any

import pytest

from kixbot.errors import SourceError
from kixbot.model.build import (
    Assertion,
    Binding,
    ClusterFacts,
    CollectedFault,
    Evaluated,
    External,
    Package,
    PinUse,
    ScorecardSettings,
    SourceInfo,
    Suppression,
)
from kixbot.model.resource import Location, Ref, Resource
from kixbot.sources import document
from kixbot.sources.tree import Tree

TREE_NAME = "0123456789abcdfghijklmnpqrsvwxyz-tree"
STORE = f"/tmp/kix-nix-x/private/nix/store/{TREE_NAME}"
SOURCE = SourceInfo(kind="nix", path="clusters/shop.nix")
CLUSTER = {"name": "shop", "flavor": "kind", "kubernetesVersion": "1.34"}


def origin(file: str, line: int) -> dict[str, Any]:
    return {"file": f"{STORE}/{file}", "line": line}


def config_map(name: str, **rest: Any) -> dict[str, Any]:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": name, "namespace": "shop"}, **rest}
    return {"id": f"ConfigMap/{name}@shop", "package": None, "manifest": manifest, "origin": origin("web.nix", 3)}


def decoded(root: Path, files: tuple[str, ...] = (), **parts: Any) -> Evaluated:
    value = {"schema": 1, "cluster": CLUSTER, **parts}
    return document.decode(value, tree=Tree(root=root, files=files), tree_name=TREE_NAME, source=SOURCE)


def refusal(root: Path, **parts: Any) -> SourceError:
    with pytest.raises(SourceError) as caught:
        decoded(root, **parts)
    assert "/nix/store" not in caught.value.message
    return caught.value


def test_the_whole_document_is_decoded(tmp_path: Path) -> None:
    web = {
        "id": "Deployment/web@shop",
        "package": "shop/web",
        "manifest": {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "shop"},
            "spec": None,
        },
        "hard": ["ConfigMap/a@shop"],
        "soft": ["ConfigMap/b@shop"],
        "after": ["ConfigMap/b@shop"],
        "cede": ["spec.replicas"],
        "ready": "Available",
        "generated": ["pass"],
        "origin": {"file": "/nix/store/0123456789abcdfghijklmnpqrsvwxyz-kix/packages/web/default.nix", "line": 7},
    }
    found = decoded(
        tmp_path,
        cluster={
            **CLUSTER,
            "availability": "zone",
            "zones": ["a"],
            "nodes": 3,
            "roles": {"storage": {"kind": "provider", "provider": "shop/db"}, "dns": {"kind": "builtin", "provider": None}},
            "storageClasses": ["standard"],
        },
        packages=[
            {"id": "shop/web", "namespace": "shop", "name": "web", "package": "web", "version": "1.5.0", "provides": ["http"],
             "dependsOn": ["shop/db"], "added": True, "bringsCrds": True, "origin": origin("clusters/shop.nix", 8)},
        ],
        resources=[config_map("a"), config_map("b"), web],
        assertions=[{"message": "no", "package": "shop/web", "resource": "ConfigMap/a@shop", "hint": "yes", "origin": origin("x.nix", 1)}],
        externals=[{"kind": "Secret", "group": "", "name": "s", "namespace": "shop", "keys": ["k"], "verify": True, "origin": None}],
        scorecard={"fail": ["rel/*"], "ignore": [{"rule": "rel/a", "resource": "x", "reason": "because", "until": "2027-01-01"}]},
        pins=[{"key": "web", "reference": "web:1@sha256:0", "pinned": True}],
    )  # fmt: skip
    a, b = Ref("ConfigMap", "", "shop", "a"), Ref("ConfigMap", "", "shop", "b")
    assert found.resources[2] == Resource(
        ref=Ref("Deployment", "apps", "shop", "web"),
        api_version="apps/v1",
        manifest={"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "shop"}},
        package="shop/web",
        origin=Location(file="clusters/shop.nix", line=8),
        hard=(a,),
        soft=(b,),
        after=(b,),
        cede=("spec.replicas",),
        ready="Available",
        generated=("pass",),
    )
    assert found.cluster == ClusterFacts(
        name="shop",
        flavor="kind",
        availability="zone",
        zones=("a",),
        nodes=3,
        roles={"storage": Binding(kind="provider", provider="shop/db"), "dns": Binding(kind="builtin")},
        storage_classes=("standard",),
    )
    assert found.packages == (
        Package(
            id="shop/web", namespace="shop", name="web", package="web", version="1.5.0", provides=("http",),
            depends_on=("shop/db",), added=True, brings_crds=True, origin=Location(file="clusters/shop.nix", line=8),
        ),
    )  # fmt: skip
    assert found.assertions == (
        Assertion(message="no", package="shop/web", ref=a, hint="yes", origin=Location(file="x.nix", line=1)),
    )
    assert found.externals == (External(kind="Secret", group="", name="s", namespace="shop", keys=("k",), verify=True),)
    assert found.scorecard == ScorecardSettings(
        fail=("rel/*",), ignore=(Suppression(rule="rel/a", resource="x", reason="because", until="2027-01-01"),)
    )
    assert found.pins_used == (PinUse(key="web", reference="web:1@sha256:0", pinned=True),)
    assert (found.marked, found.source) == (True, SOURCE)


def test_numbers_that_nix_cannot_write_are_read_from_text(tmp_path: Path) -> None:
    data = {"a": {"__kix_number__": "0.1"}, "b": [{"__kix_number__": "3.0"}]}
    (found,) = decoded(tmp_path, resources=[config_map("a", x=data)]).resources
    assert found.manifest["x"] == {"a": 0.1, "b": [3]}
    assert type(found.manifest["x"]["b"][0]) is int


def test_a_collected_fault_becomes_a_finding_on_the_resource_that_holds_it(tmp_path: Path) -> None:
    fault = '__kix_fault__{"rule":"ref/secret-key","message":"secret \\"db\\" does not declare key \\"password\\"\\n  declared keys: pass","hint":null,"resource":"Secret/db@shop"}__kix_end__'
    found = decoded(tmp_path, resources=[config_map("a", data={"url": f"x:{fault}/{fault}"})])
    assert found.resources[0].manifest["data"] == {"url": "x:/"}
    expected = CollectedFault(
        rule="ref/secret-key",
        message='secret "db" does not declare key "password"\n  declared keys: pass',
        ref=Ref("ConfigMap", "", "shop", "a"),
        path="$.data.url",
    )
    assert found.faults == (expected, expected)


def test_a_manifest_that_is_nested_too_deeply_is_refused(tmp_path: Path) -> None:
    value: object = "x"
    for _ in range(900):
        value = {"a": value}
    with pytest.raises(SourceError, match=r"nested deeper than 200 levels"):
        decoded(tmp_path, resources=[config_map("a", x=value)])


@pytest.mark.parametrize("text", ["__kix_fault__" * 100_000, "__kix_fault__" + "[" * 100_000 + "__kix_end__"])
def test_a_forged_fault_is_text_or_a_finding_and_never_takes_long(tmp_path: Path, text: str) -> None:
    found = decoded(tmp_path, resources=[config_map("a", data={"k": text})])
    kept = found.resources[0].manifest["data"]["k"]
    assert (kept, [fault.message for fault in found.faults]) in [(text, []), ("", ["[" * 100_000])]


def test_manifests_are_read_from_the_tree(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    for name in ("known", "ignored"):
        (tmp_path / "plain" / f"{name}.yaml").write_text(
            f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\n"
        )
    found = decoded(
        tmp_path,
        files=("plain/known.yaml",),
        manifests=[{"path": f"{STORE}/plain", "origin": None}],
        resources=[config_map("a")],
    )
    assert [(one.ref.id, one.origin) for one in found.resources] == [
        ("ConfigMap/a@shop", Location(file="web.nix", line=3)),
        ("ConfigMap/known@default", Location(file="plain/known.yaml", line=1)),
    ]


@pytest.mark.parametrize("path", ["/etc/passwd", f"{STORE}/../../../../etc/passwd", f"{STORE}/ignored.yaml", STORE])
def test_manifests_outside_the_tree_are_refused(tmp_path: Path, path: str) -> None:
    (tmp_path / "ignored.yaml").write_text("x")
    error = refusal(tmp_path, manifests=[{"path": path, "origin": origin("clusters/shop.nix", 4)}])
    assert "root:" not in error.message
    assert error.message.endswith(("is no file of the tree", "leads outside the tree"))


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        ({"data": {"x": f"{STORE}/web.nix"}}, "ConfigMap/a@shop at $.data.x: holds the path of the source folder, which differs from machine to machine"),
        ({"metadata": {"name": "a", "namespace": "shop", "labels": {"kix.run/x": "v"}}}, 'ConfigMap/a@shop at $.metadata.labels."kix.run/x": kix.run/x belongs to kix'),
        ({"apiVersion": "kix.run/v1alpha1"}, "ConfigMap.kix.run/a@shop at $.apiVersion: objects of group kix.run are made by kix alone"),
        ({"metadata": {"name": "a b", "namespace": "shop"}}, "ConfigMap/a b@shop at $.metadata.name: 'a b' is no name"),
        ({"kind": "Config/Map"}, "Config/Map/a@shop at $.kind: 'Config/Map' is no name"),
        ({"data": {"x": True}}, "ConfigMap/a@shop: $.data.x is the boolean true, where text belongs"),
    ],
)  # fmt: skip
def test_what_a_definition_may_not_say_does_not_build(tmp_path: Path, manifest: dict[str, Any], message: str) -> None:
    error = refusal(tmp_path, resources=[config_map("a", **manifest)])
    assert (error.message, error.file, error.line) == (message, "web.nix", 3)


def test_a_package_instance_is_the_library_s_only_for_a_package_there_is(tmp_path: Path) -> None:
    manifest = {
        "apiVersion": "kix.run/v1alpha1",
        "kind": "PackageInstance",
        "metadata": {"name": "web", "namespace": "shop"},
    }
    instance = {"id": "PackageInstance.kix.run/web@shop", "package": "shop/web", "manifest": manifest, "origin": None}
    package = {"id": "shop/web", "namespace": "shop", "name": "web", "package": "web", "version": None}
    assert len(decoded(tmp_path, resources=[instance], packages=[package]).resources) == 1
    assert "made by kix alone" in refusal(tmp_path, resources=[instance]).message
    assert (
        "made by kix alone" in refusal(tmp_path, resources=[{**instance, "package": None}], packages=[package]).message
    )


@pytest.mark.parametrize(
    "value",
    [None, 1, [], {}, {"schema": 2}, {"schema": 1}, {"schema": 1, "cluster": 1}, {"schema": 1, "cluster": {"name": 1}},
     {"schema": 1, "cluster": CLUSTER, "resources": {}}, {"schema": 1, "cluster": CLUSTER, "resources": [1]},
     {"schema": 1, "cluster": CLUSTER, "resources": [{"id": "x"}]}, {"schema": 1, "cluster": CLUSTER, "resources": [{"id": "x", "manifest": {"kind": 1}}]},
     {"schema": 1, "cluster": CLUSTER, "resources": [{**config_map("a"), "hard": ["Secret/gone@shop"]}]},
     {"schema": 1, "cluster": CLUSTER, "packages": [{"id": 1}]}, {"schema": 1, "cluster": {**CLUSTER, "roles": {"dns": {"kind": "x"}}}}],
)  # fmt: skip
def test_a_malformed_document_is_refused_in_words(tmp_path: Path, value: Any) -> None:
    with pytest.raises(SourceError) as caught:
        document.decode(value, tree=Tree(root=tmp_path, files=()), tree_name=TREE_NAME, source=SOURCE)
    assert caught.value.message
