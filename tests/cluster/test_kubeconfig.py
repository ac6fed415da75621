"""Opening a real cluster: what an exec plugin sees, and errors that say what to do."""

import json
import os
import stat
from pathlib import Path
from typing import Any

import pytest

from kixbot.cluster.kubeconfig import load, plugin_environment
from kixbot.cluster.opening import open_cluster
from kixbot.errors import ClusterError


def write(file: Path, user: dict[str, Any]) -> Path:
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:9"}}],
        "users": [{"name": "u", "user": user}],
        "contexts": [{"name": "prod", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "prod",
    }
    file.write_text(json.dumps(document), encoding="utf-8")
    return file


def plugin(folder: Path, text: str) -> dict[str, Any]:
    program = folder / "login"
    program.write_text(text, encoding="utf-8")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return {
        "exec": {
            "apiVersion": "client.authentication.k8s.io/v1",
            "command": str(program),
            "interactiveMode": "Never",
            "env": [{"name": "NAMED", "value": "in the kubeconfig"}],
        }
    }


def test_a_plugin_sees_only_the_allowed_environment(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    script = (
        f"#!/bin/sh\nenv > {seen}\n"
        'echo \'{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"t0ken"}}\'\n'
    )
    file = write(tmp_path / "config", plugin(tmp_path, script))
    environment = {
        "PATH": os.environ["PATH"],
        "AWS_PROFILE": "shop",
        "GITHUB_TOKEN": "canary-1",
        "KIX_FINGERPRINT_KEY": "canary-2",
        "ACTIONS_ID_TOKEN_REQUEST_TOKEN": "canary-3",
        "CI_JOB_TOKEN": "canary-4",
    }
    configuration, name = load(context="prod", kubeconfig=str(file), environment=environment)
    assert name == "prod"
    assert configuration.auth_settings()["BearerToken"]["value"] == "Bearer t0ken"
    text = seen.read_text(encoding="utf-8")
    assert "AWS_PROFILE=shop" in text
    assert "NAMED=in the kubeconfig" in text
    assert "canary" not in text


def test_what_is_allowed_is_what_login_tools_need() -> None:
    environment = dict.fromkeys(
        ["HOME", "PATH", "LC_ALL", "GOOGLE_APPLICATION_CREDENTIALS", "GITHUB_TOKEN", "KIX_EMBEDDED", "SECRET"], "x"
    )
    assert sorted(plugin_environment(environment)) == ["GOOGLE_APPLICATION_CREDENTIALS", "HOME", "LC_ALL", "PATH"]


@pytest.mark.parametrize(
    ("script", "said"),
    [
        ("#!/bin/sh\necho no session >&2\nexit 3\n", "context prod: its exec plugin failed: exec: process returned 3. no session"),
        ("#!/bin/sh\necho hello\n", "context prod: its exec plugin failed: exec: failed to decode process output"),
    ],
)  # fmt: skip
def test_a_plugin_that_fails_is_named_with_its_reason(
    tmp_path: Path, script: str, said: str, caplog: pytest.LogCaptureFixture
) -> None:
    file = write(tmp_path / "config", plugin(tmp_path, script))
    with pytest.raises(ClusterError) as caught:
        load(context="prod", kubeconfig=str(file), environment={"PATH": os.environ["PATH"]})
    assert caught.value.message.startswith(said)
    assert caught.value.hint == "run the plugin's login command again"
    assert not caplog.records


def test_a_plugin_that_is_not_there_is_named(tmp_path: Path) -> None:
    user = plugin(tmp_path, "")
    (tmp_path / "login").unlink()
    file = write(tmp_path / "config", user)
    with pytest.raises(ClusterError, match=r"context prod: its exec plugin failed: .*No such file"):
        load(context="prod", kubeconfig=str(file), environment={"PATH": os.environ["PATH"]})


@pytest.mark.parametrize("text", ["", "{", "[]", "clusters: 3", "apiVersion: v1\nkind: Config\n"])
def test_a_file_that_is_no_kubeconfig_is_one_clear_error(tmp_path: Path, text: str) -> None:
    file = tmp_path / "config"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(ClusterError) as caught:
        open_cluster(context="prod", kubeconfig=str(file), embedded=None, environment={})
    assert caught.value.message.startswith(str(file))
    assert caught.value.hint


def test_the_embedded_cluster_wins_over_any_kubeconfig(tmp_path: Path) -> None:
    cluster = open_cluster(context="prod", kubeconfig="/absent", embedded=tmp_path / "state", environment={})
    assert cluster.name == "embedded"


def test_an_embedded_cluster_keeps_its_objects_between_processes(tmp_path: Path) -> None:
    first = open_cluster(context=None, kubeconfig=None, embedded=tmp_path, environment={})
    kind = first.discover().find("v1", "ConfigMap")
    assert kind is not None
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "a", "namespace": "default"},
        "data": {"k": "v"},
    }
    made = first.apply(kind, body, manager="kix")
    second = open_cluster(context=None, kubeconfig=None, embedded=tmp_path, environment={})
    assert second.get(kind, "a", "default") == made
    assert (tmp_path / "core" / "configmaps" / "default" / "a.json").is_file()


def test_a_name_that_would_climb_out_of_the_embedded_folder_stays_inside(tmp_path: Path) -> None:
    cluster = open_cluster(context=None, kubeconfig=None, embedded=tmp_path / "state", environment={})
    kind = cluster.discover().find("rbac.authorization.k8s.io/v1", "ClusterRole")
    assert kind is not None
    for name in ("../../escaped", "..", "system:node"):
        body = {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": {"name": name}}
        cluster.create(kind, body, manager="test")
        assert cluster.get(kind, name)["metadata"]["name"] == name
    assert [one.name for one in tmp_path.iterdir()] == ["state"]
    assert sorted(one["metadata"]["name"] for one in cluster.listing(kind).items) == [
        "..",
        "../../escaped",
        "system:node",
    ]


def test_a_token_that_ran_out_is_fetched_again_under_the_same_rules(tmp_path: Path) -> None:
    seen = tmp_path / "seen"
    status = '{"token":"t0ken","expirationTimestamp":"2020-01-01T00:00:00Z"}'
    credential = f'{{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{status}}}'
    file = write(tmp_path / "config", plugin(tmp_path, f"#!/bin/sh\nenv >> {seen}\necho '{credential}'\n"))
    environment = {"PATH": os.environ["PATH"], "GITHUB_TOKEN": "canary-1"}
    configuration, _ = load(context="prod", kubeconfig=str(file), environment=environment)
    for _ in range(2):
        assert configuration.auth_settings()["BearerToken"]["value"] == "Bearer t0ken"
    text = seen.read_text(encoding="utf-8")
    assert text.count("NAMED=") == 3
    assert "canary" not in text
    assert "PYTEST" not in text
    (tmp_path / "login").write_text("#!/bin/sh\nexit 1\n", encoding="utf-8")
    with pytest.raises(ClusterError, match="context prod: its exec plugin failed"):
        configuration.auth_settings()
