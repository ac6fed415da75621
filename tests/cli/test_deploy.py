"""`kix deploy`, `plan`, `status` and `crds` as people type them, on the embedded cluster and where there is none."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from kixbot.cluster.memory import MemoryCluster
from tests.cli.typed import kix
from tests.ops.deploys import SHOP

ROOT = Path(__file__).parents[2]
SCHEMAS = ROOT / "docs" / "schemas"
SETTINGS = """\
schema = 1
[clusters.shop]
path = "manifests"
"""
CANARY = "canary-0b6f2c"


def faults(name: str, document: Any) -> list[str]:
    """What the published schema has to say against a document."""
    schemas = [json.loads((SCHEMAS / one).read_text(encoding="utf-8")) for one in (name, "receipt.json")]
    registry = Registry().with_resources((schema["$id"], Resource.from_contents(schema)) for schema in schemas)
    Draft202012Validator.check_schema(schemas[0])
    return [error.message for error in Draft202012Validator(schemas[0], registry=registry).iter_errors(document)]


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A committed cluster of plain manifests, and an embedded cluster that is still empty."""
    folder = tmp_path / "repository"
    (folder / "manifests").mkdir(parents=True)
    (folder / "kix.toml").write_text(SETTINGS, encoding="utf-8")
    (folder / "manifests" / "shop.yaml").write_text(SHOP.replace("COLOUR", "blue"), encoding="utf-8")
    git(folder, "init", "-q", "-b", "main")
    git(folder, "add", ".")
    git(folder, "commit", "-q", "-m", "one")
    monkeypatch.setenv("KIX_EMBEDDED", str(tmp_path / "embedded"))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    return folder


def git(folder: Path, *words: str) -> str:
    who = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    done = subprocess.run(["git", "-C", str(folder), *who, *words], check=True, capture_output=True, text=True)
    return done.stdout.strip()


def edit(folder: Path, old: str, new: str) -> None:
    file = folder / "manifests" / "shop.yaml"
    text = file.read_text(encoding="utf-8")
    assert old in text
    file.write_text(text.replace(old, new), encoding="utf-8")


def test_a_deploy_prints_its_waves_and_the_receipt(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kix(repository, "deploy", "shop", "--yes") == 0
    out, err = capsys.readouterr()
    commit = git(repository, "rev-parse", "HEAD")
    assert re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "TIME", out) == (
        "wave 1 ConfigMap/web\n"
        "wave 2 Service/web Deployment/web\n"
        "cluster       shop\n"
        "deployed      TIME\n"
        f"commit        {commit[:7]}\n"
        "working tree  clean\n"
        "kix           0.1.0\n"
        f"arch          {os.uname().machine} / linux\n"
        "\n"
        "IMAGES\n"
        "registry.test/web:1\n"
        "  (no digest)\n"
    )
    assert "wave 2\n  Service/web created\n  Deployment/web created\n" in err
    assert "2 packages: 0 unchanged, 0 changed, 2 added, 0 removed" in err


def test_without_yes_and_without_a_terminal_nothing_happens(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kix(repository, "deploy", "shop") == 1
    err = capsys.readouterr().err
    assert err.endswith("error: cluster shop: not confirmed\n  hint: add --yes, or answer on a terminal\n")
    assert not list((tmp_path / "embedded").rglob("kix-system*"))


def test_a_dry_run_is_the_plan(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kix(repository, "plan", "shop") == 0
    plan = capsys.readouterr().out
    assert kix(repository, "deploy", "shop", "--dry-run") == 0
    assert capsys.readouterr().out == plan
    assert plan.endswith(
        "wave 1 ConfigMap/web\n"
        "wave 2 Service/web Deployment/web\n"
        "\n"
        "Not simulated:\n"
        "  Namespace shop is made by this deploy: ConfigMap/web Service/web Deployment/web\n"
    )


def test_a_plan_tells_by_its_exit_code_whether_something_changes(repository: Path) -> None:
    assert kix(repository, "plan", "shop", "--exit-code") == 1
    assert kix(repository, "deploy", "shop", "--yes") == 0
    assert kix(repository, "plan", "shop", "--exit-code") == 0


def test_the_json_log_is_one_valid_event_a_line(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kix(repository, "deploy", "shop", "--yes", "--log-format", "json") == 0
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [found for event in events for found in faults("deploy-event.json", event)] == []
    kinds = [event["event"] for event in events]
    assert (kinds[0], kinds[-1]) == ("planned", "finished")
    applied = [(event["resource"], event["wave"]) for event in events if event["event"] == "applied"]
    assert applied == [
        ("Namespace/shop", 0),
        ("ConfigMap/web@shop", 1),
        ("Service/web@shop", 2),
        ("Deployment/web@shop", 2),
    ]


def test_status_shows_the_current_activation_and_its_packages(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kix(repository, "status", "shop") == 0
    assert "none: nothing was deployed yet" in capsys.readouterr().out
    kix(repository, "deploy", "shop", "--yes")
    capsys.readouterr()
    assert kix(repository, "status") == 0
    out = capsys.readouterr().out
    shown = re.sub(r"\d{4}-\d\d-\d\d \d\d:\d\d", "TIME", re.sub(r"shop-[0-9a-z]{12}", "NAME", out))
    commit = git(repository, "rev-parse", "HEAD")
    assert shown == (
        "cluster       shop\n"
        "activation    NAME\n"
        "phase         Active\n"
        "deployed      TIME\n"
        f"commit        {commit[:7]}\n"
        "\n"
        "PACKAGES\n"
        "(cluster)/(manifests)  1/1 ready\n"
        "shop/(manifests)       3/3 ready\n"
    )


def test_status_as_json_is_valid_with_and_without_a_deploy(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for deploys in (False, True):
        if deploys:
            kix(repository, "deploy", "shop", "--yes")
            capsys.readouterr()
        assert kix(repository, "status", "shop", "-o", "json") == 0
        document = json.loads(capsys.readouterr().out)
        assert faults("status.json", document) == []
        assert (document["activation"] is not None) == deploys
    assert kix(repository, "status", "shop", "--receipt", "-o", "json") == 0
    assert faults("receipt.json", json.loads(capsys.readouterr().out)) == []


def test_a_receipt_before_the_first_deploy_is_refused(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kix(repository, "status", "shop", "--receipt") == 1
    assert capsys.readouterr().err == "error: cluster shop: nothing was deployed yet\n  hint: kix deploy shop\n"


def test_a_failing_check_stops_a_deploy_before_the_cluster_is_asked(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(repository, "{name: web, image: 'registry.test/web:1'", "{name: web, image: 'registry.test/web:1', env: "
         "[{name: A, value: b}, {name: A, value: c}]")  # fmt: skip
    assert kix(repository, "deploy", "shop", "--yes") == 1
    err = capsys.readouterr().err
    assert "Container 'web' has duplicate env var name(s): [A]." in err
    assert "error: cluster shop: its check fails" in err
    assert not (tmp_path / "embedded").exists()


@pytest.mark.parametrize("command", [["deploy", "shop", "--yes"], ["plan", "shop"], ["status", "shop"]])
def test_without_a_context_people_are_told_where_to_write_it(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], command: list[str]
) -> None:
    monkeypatch.delenv("KIX_EMBEDDED")
    assert kix(repository, *command) == 2
    assert capsys.readouterr().err == (
        "error: [clusters.shop]: no context\n"
        '  hint: write context = "…" below [clusters.shop] in kix.toml, or add --context NAME\n'
    )


def test_no_kubeconfig_is_one_clear_error(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delenv("KIX_EMBEDDED")
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "absent"))
    assert kix(repository, "--context", "prod", "deploy", "shop", "--yes") == 4
    assert capsys.readouterr().err == (
        f"error: {tmp_path}/absent: no kubeconfig\n  hint: set KUBECONFIG, or try kixbot demo, which needs no cluster\n"
    )


def test_an_unknown_context_names_those_there_are(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config"
    file.write_text(json.dumps(kubeconfig("https://127.0.0.1:9", "staging")), encoding="utf-8")
    monkeypatch.delenv("KIX_EMBEDDED")
    monkeypatch.setenv("KUBECONFIG", str(file))
    assert kix(repository, "--context", "prod", "plan", "shop") == 4
    assert capsys.readouterr().err == f'error: {file}: no context "prod"\n  hint: it has staging\n'


def kubeconfig(server: str, context: str, user: dict[str, Any] | None = None) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": {"server": server, "insecure-skip-tls-verify": True}}],
        "users": [{"name": "u", "user": user or {"token": "t"}}],
        "contexts": [{"name": context, "context": {"cluster": "c", "user": "u"}}],
        "current-context": context,
    }


def test_an_unreachable_cluster_is_one_clear_error(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "config"
    file.write_text(json.dumps(kubeconfig("https://127.0.0.1:9", "prod")), encoding="utf-8")
    monkeypatch.delenv("KIX_EMBEDDED")
    monkeypatch.setenv("KUBECONFIG", str(file))
    assert kix(repository, "--context", "prod", "plan", "shop") == 4
    assert capsys.readouterr().err == (
        "error: cluster prod: no answer from https://127.0.0.1:9: connection refused\n"
        "  hint: is the cluster up, and the VPN? kubectl get --raw /readyz\n"
    )


@pytest.mark.parametrize(("text", "said"), [("soon", "'soon': no duration"), ("", "'': no duration")])
def test_a_timeout_that_is_no_duration_is_a_usage_error(
    repository: Path, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    assert kix(repository, "deploy", "shop", "--yes", "--timeout", text) == 2
    assert capsys.readouterr().err == f"error: {said}\n  hint: write 90s, 5m or 1h30m\n"


def test_plain_secret_values_need_a_setting_and_are_never_shown(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = (
        f"---\napiVersion: v1\nkind: Secret\nmetadata: {{name: db, namespace: shop}}\nstringData: {{pass: {CANARY}}}\n"
    )
    file = repository / "manifests" / "secret.yaml"
    file.write_text(secret, encoding="utf-8")
    git(repository, "add", ".")
    assert kix(repository, "deploy", "shop", "--yes") == 1
    said = capsys.readouterr()
    assert "error: Secret shop/db: holds its values in plain text" in said.err
    settings = repository / "kix.toml"
    settings.write_text(SETTINGS + "allow-plain-secrets = true\n", encoding="utf-8")
    texts = [said.out + said.err]
    for words in (["deploy", "shop", "--yes"], ["plan", "shop", "-o", "json"], ["status", "shop", "-o", "json"]):
        assert kix(repository, *words) == 0
        texts.append("".join(capsys.readouterr()))
    file.write_text(secret.replace(CANARY, f"{CANARY}2"), encoding="utf-8")
    assert kix(repository, "plan", "shop") == 0
    changed = capsys.readouterr().out
    assert "(secret)" in changed
    assert "only Secret values differ" in changed
    assert kix(repository, "deploy", "shop", "--yes", "--log-format", "json") == 0
    texts += [changed, "".join(capsys.readouterr())]
    records = [one for one in (tmp_path / "embedded").rglob("*.json") if one.parent.name == "kix-system"]
    texts += [one.read_text(encoding="utf-8") for one in records if one.name != "kix-hash-key.json"]
    assert not [text for text in texts if CANARY in text or "Y2FuYXJ5" in text]


def test_crds_are_printed_as_one_list_that_kubectl_takes(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kix(repository, "crds", "print") == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["metadata"]["name"] for one in document["items"]] == [
        "activations.kix.run",
        "packageinstances.kix.run",
    ]
    assert kix(repository, "crds", "apply", "shop") == 0
    assert capsys.readouterr().out == (
        "CustomResourceDefinition/activations.kix.run applied\n"
        "CustomResourceDefinition/packageinstances.kix.run applied\n"
    )


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupted_deploy_ends_with_130_and_leaves_its_record_and_no_lock(
    repository: Path, tmp_path: Path, number: signal.Signals
) -> None:
    paused = repository / "manifests" / "job.yaml"
    paused.write_text(
        "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: web}\nspec: {controller: a.test/b}\n",
        encoding="utf-8",
    )
    program = (
        "import sys\n"
        "from kixbot.cluster import memory_controller\n"
        "real = memory_controller._status\n"
        "memory_controller._status = lambda body, *, custom: None if body['kind'] == 'Deployment' "
        "else real(body, custom=custom)\n"
        "from kixbot.cli.main import main\n"
        "main()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", program, "-C", str(repository), "deploy", "shop", "--yes"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stderr is not None
    for line in process.stderr:
        if "Deployment/web waits" in line:
            break
    time.sleep(0.2)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130, err
    assert err.endswith("interrupted\n")
    cluster = MemoryCluster(tmp_path / "embedded")
    discovery = cluster.discover()
    activations = discovery.find("kix.run/v1alpha1", "Activation")
    leases = discovery.find("coordination.k8s.io/v1", "Lease")
    assert activations is not None
    assert leases is not None
    (record,) = cluster.listing(activations).items
    assert (record["status"]["phase"], record["status"]["message"]) == ("Failed", "interrupted")
    assert "holderIdentity" not in cluster.get(leases, "shop", "kix-system")["spec"]


def test_the_help_of_each_command_says_what_it_does(
    repository: Path, golden: Callable[[str, str], None], capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("deploy", "plan", "status", "crds"):
        assert kix(repository, name, "--help") == 0
    golden("deploy-help.txt", capsys.readouterr().out)
