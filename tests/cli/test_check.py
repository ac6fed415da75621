"""`kix check` and `kix explain` as people type them: arguments to exit code, stdout and stderr."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.typed import kix

WEB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: web, namespace: shop}
spec:
  ttlSecondsAfterFinished: 600
  template:
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      securityContext: {runAsNonRoot: true, seccompProfile: {type: RuntimeDefault}}
      containers:
        - name: web
          image: "%s"
          resources: {requests: {cpu: 100m, memory: 64Mi}, limits: {memory: 64Mi}}
          securityContext:
            {allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: {drop: [ALL]}}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata: {name: web, namespace: shop}
spec: {podSelector: {}, policyTypes: [Ingress]}
"""
PINNED = "web@sha256:" + "1" * 64


def write(folder: Path, name: str, text: str) -> None:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text, encoding="utf-8")


def test_a_clean_folder_passes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "manifests/web.yaml", WEB % PINNED)
    assert kix(tmp_path, "check", "manifests/") == 0
    assert capsys.readouterr().out == (
        "| Tool | Result | Details |\n"
        "|---|---|---|\n"
        "| eval | pass | 2 manifests evaluated |\n"
        "| scorecard | pass | 0 errors, 0 warnings, 0 info |\n"
    )


def test_a_warning_fails_only_where_it_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "web.yaml", WEB % "web")
    assert kix(tmp_path, "check", "web.yaml") == 0
    capsys.readouterr()
    assert kix(tmp_path, "check", "web.yaml", "--fail-on", "sec/*,gov/image-no-tag") == 1
    assert capsys.readouterr().out == (
        "| Tool | Result | Details |\n"
        "|---|---|---|\n"
        "| eval | pass | 2 manifests evaluated |\n"
        "| scorecard | fail | 0 errors, 1 warning, 0 info; failing: gov/image-no-tag |\n"
        "\n"
        "! Job shop/web container 'web' uses image web, which names neither a tag nor a digest\n"
        "    --> web.yaml:13  Job/web@shop $.spec.template.spec.containers[web].image  gov/image-no-tag\n"
        "  hint: name a tag, or pin the digest with kix pin\n"
    )


def test_a_slip_in_fail_on_is_a_usage_error(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "web.yaml", WEB % "web")
    assert kix(tmp_path, "check", "web.yaml", "--fail-on", "gov/image-no-tags") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == (
        'error: --fail-on: no rule, group or category "gov/image-no-tags"\n  hint: did you mean "gov/image-no-tag"?\n'
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a: [", "broken YAML"),
        ("metadata: {name: a}\n", "manifest without kind"),
        (WEB.replace("namespace: shop", "namespace: n") % "web:1", "reads as the boolean false"),
        ("# nothing\n", "no manifest found"),
    ],
)
def test_what_does_not_build_ends_with_3_and_a_table(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, message: str
) -> None:
    write(tmp_path, "web.yaml", text)
    assert kix(tmp_path, "check", "web.yaml") == 3
    captured = capsys.readouterr()
    assert captured.err == ""
    assert captured.out.startswith(
        "| Tool | Result | Details |\n"
        "|---|---|---|\n"
        "| eval | fail | does not build, 1 problem |\n"
        "| scorecard | not run | |\n"
        "\n"
        "✗ "
    )
    assert message in captured.out
    assert "\n  hint: " in captured.out


def test_json_is_a_document_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "web.yaml", WEB % "web")
    assert kix(tmp_path, "check", "web.yaml", "-o", "json") == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["schema"], document["cluster"], document["activation"]) == (1, None, None)
    assert document["summary"] == {"manifests": 2, "errors": 0, "warnings": 1, "infos": 0, "suppressed": 0}
    assert [(one["rule"], one["location"]) for one in document["findings"]] == [
        ("gov/image-no-tag", {"file": "web.yaml", "line": 13})
    ]


def test_markdown_is_fenced(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "web.yaml", WEB % "web")
    assert kix(tmp_path, "check", "web.yaml", "-o", "markdown") == 0
    assert capsys.readouterr().out.startswith("## kix check\n\n| Tool |")


def test_a_cluster_of_the_settings_is_judged_by_its_flavor_and_its_own_rules(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(
        tmp_path,
        "kix.toml",
        'schema = 1\n[clusters.shop]\npath = "web.yaml"\nflavor = "kind"\n[check]\nfail = ["gov/*"]\n',
    )
    service = (
        "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"
        "---\napiVersion: v1\nkind: Service\nmetadata: {name: lb, namespace: shop}\n"
        "spec: {type: LoadBalancer, ports: [{port: 80}]}\n"
    )
    write(tmp_path, "web.yaml", WEB % "web" + service)
    assert kix(tmp_path, "check", "shop") == 1
    out = capsys.readouterr().out
    assert "| scorecard | fail | 1 error, 1 warning, 0 info; failing: gov/image-no-tag |" in out
    assert "✗ [lb] Service 'lb' uses type=LoadBalancer but no load balancer provider is configured" in out


def git(folder: Path, *words: str) -> None:
    identity = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True)


def test_a_git_ref_is_a_baseline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "manifests/web.yaml", WEB % "web")
    git(tmp_path, "init", "-q", "-b", "main")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-q", "-m", "first")
    write(tmp_path, "manifests/api.yaml", WEB.replace("name: web, n", "name: api, n") % "api")
    words = ("check", "manifests/", "--baseline", "main", "--fail-on", "warning")
    assert kix(tmp_path, *words) == 1
    assert "0 errors, 2 warnings, 0 info (1 new, 1 unchanged, 0 fixed)" in capsys.readouterr().out
    write(tmp_path, "manifests/api.yaml", WEB.replace("name: web, n", "name: api, n") % PINNED.replace("web", "api"))
    assert kix(tmp_path, *words) == 0


def test_a_document_is_a_baseline(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "web.yaml", WEB % "web")
    kix(tmp_path, "check", "web.yaml", "-o", "json")
    write(tmp_path, "old.json", capsys.readouterr().out)
    write(tmp_path, "web.yaml", WEB % PINNED)
    assert kix(tmp_path, "check", "web.yaml", "--baseline", "old.json") == 0
    assert capsys.readouterr().out.endswith(
        "fixed since the baseline:\n  gov/image-no-tag  Job/web@shop $.spec.template.spec.containers[web].image\n"
    )


def test_a_baseline_that_is_nothing_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, "web.yaml", WEB % "web")
    write(tmp_path, "old.json", "{}")
    assert kix(tmp_path, "check", "web.yaml", "--baseline", "old.json") == 2
    assert "old.json: not a document of kix check" in capsys.readouterr().err


def test_explain_prints_a_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kix(tmp_path, "explain", "ref/secret-key") == 0
    assert capsys.readouterr().out.startswith("ref/secret-key: a pod asks for a key that the Secret does not declare\n")


def test_explain_lists_all_rules(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kix(tmp_path, "explain") == 0
    assert "sec/root-image" in capsys.readouterr().out


def test_explain_suggests_the_nearest_rule(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kix(tmp_path, "explain", "ref/secret-keys") == 2
    assert capsys.readouterr().err == "error: ref/secret-keys: no such rule\n  hint: kix explain ref/secret-key\n"


CLIENTS = ("kubernetes", "github", "gitlab", "jinja2", "kopf", "pydantic", "urllib3", "tenacity", "asyncio")
COUNT = """
import json, sys
from kixbot.cli.main import run
code = run(sys.argv[1:])
print(json.dumps([code, sorted(sys.modules)]), file=sys.stderr)
"""


@pytest.mark.parametrize("words", [("check", "web.yaml"), ("explain", "sec/root-image")])
def test_no_client_library_is_loaded(tmp_path: Path, words: tuple[str, ...]) -> None:
    write(tmp_path, "web.yaml", WEB % PINNED)
    done = subprocess.run(
        [sys.executable, "-c", COUNT, "-C", str(tmp_path), *words],
        env={"PYTHONPATH": str(Path(__file__).parents[2]), "PATH": "/nowhere"},
        capture_output=True,
        text=True,
        check=False,
    )
    code, loaded = json.loads(done.stderr.splitlines()[-1])
    assert code == 0, done.stdout
    assert set(CLIENTS) & set(loaded) == set()
    # Bare Python with json and subprocess has about 60; click, PyYAML and kix itself make up the rest.
    assert len(loaded) < 450
