"""The shop example: references hold when things are renamed, removed or changed."""

import base64
import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from kixbot.cluster.interface import ApiKind
from kixbot.errors import SourceError
from kixbot.graph.waves import waves
from kixbot.model.build import Build, EdgeKind
from kixbot.model.finding import Severity
from kixbot.ops.check import check
from tests.nix.shop import CHANGE, DEFINITION, EXAMPLE, built, copied, resource
from tests.ops.deploys import Deploys

SECRET = ApiKind(group="", version="v1", kind="Secret", plural="secrets", namespaced=True)


def database_url(build: Build) -> str:
    web: Any = resource(build, "Deployment/web@shop").manifest
    (container,) = web["spec"]["template"]["spec"]["containers"]
    (found,) = (entry["value"] for entry in container["env"] if entry["name"] == "DATABASE_URL")
    assert isinstance(found, str)
    return found


def hard_of(build: Build, ref_id: str) -> list[str]:
    return sorted(ref.id for ref in resource(build, ref_id).hard)


def test_web_and_db_stand_in_four_waves() -> None:
    own = {"db", "web"}
    found = [
        (wave.number, [ref.short.partition("@")[0] for ref in wave.refs if ref.name in own])
        for wave in waves(built(EXAMPLE))
    ]
    assert [
        (number, [name for name in names if "PackageInstance" not in name]) for number, names in found if names
    ] == [
        (1, ["Secret/db", "ConfigMap/web"]),
        (2, ["Cluster/db"]),
        (3, ["Service/web", "Deployment/web"]),
        (4, ["HTTPRoute/web"]),
    ]


def test_the_example_has_no_errors_and_warns_of_unpinned_images_only() -> None:
    report = check(built(EXAMPLE))
    assert report.eval_messages == ()
    assert {finding.rule for finding in report.findings if finding.severity is not Severity.INFO} == {
        "gov/image-unpinned"
    }


def test_every_finding_names_a_file_also_of_what_a_library_package_made() -> None:
    report = check(built(EXAMPLE))
    assert report.findings
    assert {finding.location.file if finding.location else None for finding in report.findings} == {
        "clusters/shop.nix",
        "web.nix",
    }


def test_renaming_db_changes_the_address_in_web(tmp_path: Path) -> None:
    before = built(EXAMPLE)
    after = built(copied(tmp_path, {DEFINITION: {"instances.shop.db = {": "instances.shop.store = {"}}))
    assert (database_url(before), database_url(after)) == (
        "postgres://app:$(DATABASE_PASSWORD)@db-rw.shop.svc.cluster.local:5432/app",
        "postgres://app:$(DATABASE_PASSWORD)@store-rw.shop.svc.cluster.local:5432/app",
    )
    assert hard_of(after, "Deployment/web@shop") == [
        "Cluster.postgresql.cnpg.io/store@shop",
        "ConfigMap/web@shop",
        "Secret/store@shop",
    ]


def test_removing_db_is_a_build_error_that_names_the_missing_dependency(tmp_path: Path) -> None:
    db = """      instances.shop.db = {
        package = packages.cnpg-cluster;
        config.instances = 2;
      };
"""
    with pytest.raises(SourceError) as error:
        built(copied(tmp_path, {DEFINITION: {db: ""}}))
    assert error.value.message == (
        "no 'postgres' found in cluster for namespace 'shop'\n"
        "  needed by shop/web (package web)\n"
        "  defined at clusters/shop.nix:10\n"
        "  instances in shop: (none)\n"
        "  interfaces provided: gateway-api by gateway-system/gateway-api, grafana by monitoring/grafana"
    )
    assert error.value.hint == "write instances.shop.postgres.package = packages.cnpg-cluster"


def test_a_reference_inside_a_connection_string_is_found() -> None:
    assert "Cluster.postgresql.cnpg.io/db@shop" in hard_of(built(EXAMPLE), "Deployment/web@shop")


def test_a_reference_inside_a_config_map_is_found(tmp_path: Path) -> None:
    edits = {"web.nix": {"LOG_LEVEL = config.logLevel;": 'DATABASE = "at ${postgres.fqdn}";'}}
    assert hard_of(built(copied(tmp_path, edits)), "ConfigMap/web@shop") == ["Cluster.postgresql.cnpg.io/db@shop"]


def test_a_wrong_key_is_found_and_told_word_for_word(tmp_path: Path) -> None:
    report = check(built(copied(tmp_path, {"web.nix": {'postgres.key "password"': 'postgres.key "pass"'}})))
    (found,) = (finding for finding in report.findings if finding.rule == "ref/secret-key")
    assert (found.severity, found.message, found.ref and found.ref.id) == (
        Severity.ERROR,
        'secret "db" does not declare key "pass"\n  declared keys: password, username',
        "Deployment/web@shop",
    )


def test_a_login_is_made_at_deploy_with_the_user_name_its_database_expects() -> None:
    deploys = Deploys()
    deploys.run(built(EXAMPLE))
    secret = deploys.cluster.get(SECRET, "db", "shop")
    data = {key: base64.b64decode(value).decode() for key, value in secret["data"].items()}
    assert (secret["type"], data["username"], len(data["password"])) == ("kubernetes.io/basic-auth", "app", 32)
    deploys.run(built(EXAMPLE))
    assert deploys.cluster.get(SECRET, "db", "shop")["data"] == secret["data"]


def test_a_service_follows_its_workload_softly() -> None:
    build = built(EXAMPLE)
    edges = {
        edge.kind
        for edge in build.edges
        if (edge.source.id, edge.target.id) == ("Service/web@shop", "Deployment/web@shop")
    }
    assert edges == {EdgeKind.SOFT}


def test_the_change_of_the_pull_request_touches_what_it_says(tmp_path: Path) -> None:
    root = copied(tmp_path)
    subprocess.run(
        ["git", "apply", str(CHANGE)], cwd=root, check=True, env={"PATH": "/usr/bin:/bin", "GIT_DIR": "/nowhere"}
    )
    before, after = built(EXAMPLE), built(root)
    old = {resource.ref.id: resource.manifest for resource in before.resources}
    new = {resource.ref.id: resource.manifest for resource in after.resources}
    assert old.keys() - new.keys() == set()
    assert sorted(new.keys() - old.keys()) == [
        "PackageInstance.kix.run/valkey@shop",
        "Secret/valkey@shop",
        "Service/valkey@shop",
        "StatefulSet/valkey@shop",
    ]
    assert sorted(name for name in old if old[name] != new[name]) == [
        "Deployment/grafana@monitoring",
        "Deployment/web@shop",
        "PackageInstance.kix.run/web@shop",
    ]
    moved = {ref.id for ref, was in before.identities.items() if after.identities[ref].path != was.path}
    assert sorted(moved) == [
        "Deployment/grafana@monitoring",
        "Deployment/web@shop",
        "PackageInstance.kix.run/grafana@monitoring",
        "PackageInstance.kix.run/web@shop",
    ]


def test_the_same_tree_comes_to_the_same_bytes_in_another_folder(tmp_path: Path) -> None:
    here, there = built(EXAMPLE), built(copied(tmp_path))
    assert here.activation == there.activation
    assert [json.dumps(r.manifest, sort_keys=True) for r in here.resources] == [
        json.dumps(r.manifest, sort_keys=True) for r in there.resources
    ]


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (
            "{ }",
            "bad.nix: not a definition: expected a function of kix and packages",
            "begin it with { kix, packages }:",
        ),
        (
            "{ kix, pkgs }: { }",
            'bad.nix: a definition gets kix and packages, not "pkgs"',
            "name only kix and packages as arguments",
        ),
        (
            "{ kix, ... }: { }",
            "bad.nix: the definition does not give a cluster",
            "return kix.buildCluster { … }",
        ),
    ],
)
def test_a_file_that_is_no_definition_says_so(tmp_path: Path, text: str, message: str, hint: str) -> None:
    (tmp_path / "bad.nix").write_text(text, encoding="utf-8")
    with pytest.raises(SourceError) as error:
        built(tmp_path, "bad.nix")
    assert (error.value.message, error.value.hint) == (message, hint)
