"""Runs of the bot where not everything goes well: forks, secrets, other events, unreachable clusters, two at once."""

import json
import re
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import story_events as events
from tests.e2e.story import SECRET, TOKEN, Run, left_by, world
from tests.forges.loopback import Request
from tests.parts.access import Access
from tests.parts.kube_api import KubeApi

WEB = """apiVersion: v1
kind: Namespace
metadata: {name: NAMESPACE}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: web, namespace: NAMESPACE}
data: {colour: blue}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: NAMESPACE}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {}
    spec:
      automountServiceAccountToken: false
      containers:
      - name: web
        image: ghcr.io/acme/web:1.4.2
        ports: [{containerPort: 8080}]
        envFrom: [{configMapRef: {name: web}}]
        securityContext: {runAsNonRoot: true, runAsUser: 10001}
---
apiVersion: v1
kind: Service
metadata: {name: web, namespace: NAMESPACE}
spec: {selector: {app: web}, ports: [{port: 80, targetPort: 8080}]}
"""
BROKEN = ("selector: {app: web}", "selector: {app: wbe}")
NEWER = ("web:1.4.2", "web:1.5.0")
NEVER_STARTS = (
    ("annotations: {}", "annotations: {kix.test/waiting: ImagePullBackOff}"),
    ("replicas: 2", "replicas: 2\n  progressDeadlineSeconds: 2"),
)
ANSWERS_NOBODY = "https://127.0.0.1:9"


class Shop:
    """Plain manifests for staging and, behind it, production; both in namespaces of this test's own."""

    def __init__(self, folder: Path, stack: ExitStack, prefix: str, access: Access | None) -> None:
        self.prefix = prefix
        self._folder = folder
        self._access = access
        files = {"kix.toml": self.settings(), **self.manifests()}
        kubeconfig = self._kubeconfig() if access else None
        made = world(folder / "world", {name: text.encode() for name, text in files.items()}, kubeconfig=kubeconfig)
        self.world = stack.enter_context(made)

    def settings(self, *, production: str = "production", more: str = "") -> str:
        """kix.toml; `production` is the context of the second cluster."""
        return (
            "schema = 1\n"
            f'[clusters.staging]\npath = "staging"\ncontext = "staging"\nrecord-namespace = "{self.prefix}-staging-kix"\n'
            f'{more}[clusters.production]\npath = "production"\ncontext = "{production}"\nafter = ["staging"]\n'
            f'record-namespace = "{self.prefix}-production-kix"\n{more}'
        )

    def manifests(self, *changes: tuple[str, str], only: str | None = None) -> dict[str, str]:
        """The manifests of both clusters, changed in both or in `only`."""
        files = {}
        for name in ("staging", "production"):
            text = WEB.replace("NAMESPACE", f"{self.prefix}-{name}")
            for old, new in changes if only in (None, name) else ():
                assert text.count(old) >= 1
                text = text.replace(old, new)
            files[f"{name}/web.yaml"] = text
        return files

    def propose(self, files: Mapping[str, str], *, branch: str = "change", fork: str | None = None) -> int:
        self.world.write(branch, files)
        return self.world.propose(branch, "Change it", fork=fork)

    def first_push(self) -> Run:
        return self.world.pushed("0" * 40, self.world.main)

    def merge(self, number: int) -> Run:
        before = self.world.main
        return self.world.pushed(before, self.world.github.merge_pull(number))

    def image(self, cluster: str) -> str:
        assert self._access
        path = f"/apis/apps/v1/namespaces/{self.prefix}-{cluster}/deployments/web"
        image: str = self._access.api().get(path)["spec"]["template"]["spec"]["containers"][0]["image"]
        return image

    def _kubeconfig(self) -> Path:
        """The administrator's kubeconfig under two names of contexts, and one whose server answers nobody."""
        assert self._access
        document = json.loads(self._access.kubeconfig.read_text())
        (cluster,) = document["clusters"]
        gone = {**cluster, "name": "gone", "cluster": {**cluster["cluster"], "server": ANSWERS_NOBODY}}
        document["clusters"].append(gone)
        user = document["users"][0]["name"]
        document["contexts"] = [
            {"name": name, "context": {"cluster": where, "user": user}}
            for name, where in (("staging", cluster["name"]), ("production", cluster["name"]), ("gone", "gone"))
        ]
        file = self._folder / "kubeconfig"
        file.write_text(json.dumps(document))
        return file


@pytest.fixture
def shop(tmp_path: Path, control_plane: Access, kube_prefix: str) -> Iterator[Shop]:
    with ExitStack() as stack:
        yield Shop(tmp_path, stack, kube_prefix, control_plane)


@pytest.fixture
def reviewed_only(tmp_path: Path) -> Iterator[Shop]:
    """A shop that is never deployed, so it needs no cluster."""
    with ExitStack() as stack:
        yield Shop(tmp_path, stack, "shop", None)


# Forks and tokens that may only read


@pytest.mark.parametrize(("change", "code"), [(NEWER, 0), (BROKEN, 1)])
def test_a_fork_s_review_goes_to_summary_and_files_and_ends_as_the_check_does(
    reviewed_only: Shop, change: tuple[str, str], code: int
) -> None:
    shop = reviewed_only
    shop.world.token.writes = frozenset()
    number = shop.propose(shop.manifests(change), fork="mallory/shop")
    run = shop.world.review(number)
    assert run.code == code, run
    assert shop.world.comments(number) == []
    assert shop.world.github.state.statuses == []
    assert ("kix says yes" if code == 0 else "kix says no") in run.summary
    assert run.outputs["check"] == ("pass" if code == 0 else "fail")
    result = json.loads(Path(run.outputs["json-path"]).read_text())
    assert (result["passed"], [one["name"] for one in result["clusters"]]) == (code == 0, ["staging", "production"])
    warnings = [line for line in run.log.splitlines() if line.startswith("warning: ")]
    # Once per permission, not once per write.
    assert len(warnings) == 2
    assert any("statuses: write" in line for line in warnings)
    assert any("pull-requests: write" in line for line in warnings)


def test_a_pull_request_whose_fork_is_gone_is_reviewed(reviewed_only: Shop) -> None:
    shop = reviewed_only
    number = shop.propose(shop.manifests(NEWER), fork="")
    shop.world.review(number).passed()
    (comment,) = shop.world.comments(number)
    assert "moves image" in comment


def test_what_the_checkout_lacks_is_fetched_with_the_token_and_from_the_forge_alone(reviewed_only: Shop) -> None:
    shop = reviewed_only
    number = shop.propose(shop.manifests(NEWER))
    shop.world.review(number).passed()
    asked = shop.world.git.asked
    assert [path for path, _ in asked if path.endswith("git-upload-pack")]
    assert all(known for _, known in asked)


def test_a_second_review_of_the_same_text_leaves_the_comment_as_it_is(reviewed_only: Shop) -> None:
    shop = reviewed_only
    number = shop.propose({"NOTES.md": "Nothing that is deployed.\n"})
    first = shop.world.review(number).passed()
    second = shop.world.review(number, action="synchronize").passed()
    (comment,) = shop.world.comments(number)
    assert "kix says yes: nothing changes" in comment
    assert first.outputs["changes"] == "false"
    assert first.outputs["comment-url"] == second.outputs["comment-url"]
    assert [call for call in second.calls if "comments" in call] == [f"GET /repos/acme/shop/issues/{number}/comments"]


def test_a_head_that_does_not_build_ends_with_3_and_is_told_everywhere(reviewed_only: Shop) -> None:
    shop = reviewed_only
    number = shop.propose({"staging/web.yaml": "apiVersion: v1\nkind: [\n"})
    run = shop.world.review(number)
    assert run.code == 3, run
    head = str(shop.world.github.head_of(number))
    states = {context: states[-1] for context, states in shop.world.statuses(head).items()}
    assert states == {
        "kix/check": ("failure", "staging: does not build"),
        "kix/diff": ("failure", "staging: does not build; production: nothing changes"),
        "kix/diff/staging": ("failure", "does not build"),
        "kix/diff/production": ("success", "nothing changes"),
    }
    (comment,) = shop.world.comments(number)
    assert comment.splitlines()[1] == "### ❌ kix says no: `staging` does not build"
    assert "    --> staging/web.yaml:3  schema/source" in comment.splitlines()
    assert "::error file=staging/web.yaml,line=3,title=kix::broken YAML" in run.log
    assert run.outputs["failure-reason"] == "does-not-build"
    assert len(run.calls) <= 15


def test_what_a_change_says_steers_neither_the_log_nor_the_comment(reviewed_only: Shop) -> None:
    shop = reviewed_only
    evil = "\n::stop-commands::x\n</details></pre>\n@everyone\n/merge\n\u202e\x1b[31m"
    body = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "evil", "namespace": "shop-staging", "annotations": {"acme.example/note": evil}},
        "data": {"::add-mask::blue": evil, "colour": evil},
    }
    number = shop.propose({"staging/evil.yaml": json.dumps(body)})
    run = shop.world.review(number)
    assert run.code == 1, run
    commands = {line.split("::")[1].split()[0] for line in run.log.splitlines() if line.startswith("::")}
    assert commands <= {"add-mask", "error", "warning"}
    assert [line for line in run.log.splitlines() if line.startswith("::add-mask")] == [f"::add-mask::{TOKEN}"]
    (comment,) = shop.world.comments(number)
    assert "\u202e" not in comment + run.log
    assert "\x1b" not in comment + run.log
    # What stands in a block of code cannot speak to anybody; nothing of it stands outside of one.
    outside = re.sub(r"(?ms)^(`{3,})\w*\n.*?^\1$", "", comment)
    assert not any(word in outside for word in ("@everyone", "/merge", "</pre>", "stop-commands"))


# What is around it fails


def test_a_token_that_is_not_valid_ends_with_4_and_says_so(reviewed_only: Shop) -> None:
    number = reviewed_only.propose(reviewed_only.manifests(NEWER))
    run = reviewed_only.world.review(number, KIX_GITHUB_TOKEN="expired")
    assert run.code == 4, run
    assert "the token is not valid" in run.errors
    assert "hint: " in run.errors


def test_a_registry_that_is_down_moves_no_pin_and_ends_with_4(reviewed_only: Shop) -> None:
    shop = reviewed_only
    pin = {"image": "ghcr.io/acme/web", "tag": "1.4.2", "digest": f"sha256:{'a' * 64}", "update": "^1.4"}
    settings = '[pins]\nmode = "commit"\n[registries]\nmirrors = { "ghcr.io" = "127.0.0.1:9" }\n'
    files = {"kix.toml": shop.settings() + settings, "pins.json": json.dumps({"version": 1, "pins": {"web": pin}})}
    main = shop.world.write("main", files)
    run = shop.world.clock(KIX_COMMAND="pins")
    assert run.code == 4, run
    assert "warning: pin web: 127.0.0.1:9: cannot be reached" in run.log
    assert shop.world.main == main
    assert shop.world.github.state.pulls == {}


# Secrets


def secret(namespace: str, value: str) -> str:
    return (
        "apiVersion: v1\nkind: Secret\nmetadata: {name: db, namespace: " + namespace + "}\n"
        f"stringData: {{password: {value}}}\n"
    )


def test_a_secret_s_value_shows_up_nowhere_but_in_the_cluster(shop: Shop, kube_api: KubeApi) -> None:
    before, after = {}, {}
    for name in ("staging", "production"):
        before[f"{name}/secret.yaml"] = secret(f"{shop.prefix}-{name}", "first-" + SECRET)
        after[f"{name}/secret.yaml"] = secret(f"{shop.prefix}-{name}", "second-" + SECRET)
    settings = shop.settings(more="allow-plain-secrets = true\n")
    shop.world.write("main", {"kix.toml": settings, **before})
    first = shop.first_push().passed()
    number = shop.propose(after)
    review = shop.world.review(number).passed()
    merged = shop.merge(number).passed()
    (comment, *results) = shop.world.comments(number)
    assert "only Secret values differ" in comment
    assert len(results) == 2
    live = kube_api.get(f"/api/v1/namespaces/{shop.prefix}-staging/secrets/db")["data"]["password"]
    assert live == "c2Vjb25kLWNhbmFyeS12YWx1ZS1vZi1hLXNlY3JldA=="
    kept = json.dumps(
        [
            kube_api.get(f"/api/v1/namespaces/{shop.prefix}-staging-kix/configmaps"),
            kube_api.get(f"/apis/kix.run/v1alpha1/namespaces/{shop.prefix}-staging-kix/activations"),
        ]
    )
    for text in (kept, *(text for run in (first, review, merged) for text in left_by(run)), shop.world.told()):
        assert SECRET not in text
        assert live not in text


# Events nothing is done for


def ignored() -> list[tuple[str, Callable[[], dict[str, Any]], str]]:
    sha = "1" * 40
    return [
        *((name, lambda name=name: events.other(name), f"{name}: ignored, kixbot does nothing on this event")
          for name in ("check_run", "star", "workflow_run")),
        (
            "pull_request",
            lambda: events.pull_request(1, head=sha, head_ref="change", base=sha, action="closed"),
            "pull_request closed: ignored, neither commits nor base changed",
        ),
        (
            "push",
            lambda: events.push(before=sha, after=sha, ref="refs/tags/v1"),
            "push to refs/tags/v1: ignored, it is no branch",
        ),
        (
            "push",
            lambda: events.push(before=sha, after=sha, ref="refs/heads/feature"),
            "push to feature: ignored, only main is deployed",
        ),
        ("issue_comment", lambda: events.comment(1, "nice"), "issue_comment: ignored, it does not begin with /kix"),
    ]  # fmt: skip


@pytest.mark.parametrize(("name", "payload", "sentence"), ignored())
def test_an_event_nothing_is_done_for_ends_with_0_and_asks_nobody(
    reviewed_only: Shop, name: str, payload: Callable[[], dict[str, Any]], sentence: str
) -> None:
    shop = reviewed_only
    run = shop.world.run(name, payload(), sha=shop.world.main, ref="refs/heads/main")
    assert (run.code, run.log.splitlines()[-1], run.errors, run.calls) == (0, sentence, "", ())


# Clusters in order, and clusters that are not there


def test_clusters_are_deployed_in_the_order_of_after(shop: Shop) -> None:
    first = shop.first_push().passed()
    assert [line for line in first.log.splitlines() if line.startswith(("staging: ", "production: "))] == [
        f"staging: deploying {shop.world.main[:12]}",
        "staging: deployed: 4 created in 3 waves",
        f"production: deploying {shop.world.main[:12]}",
        "production: deployed: 4 created in 3 waves",
    ]
    number = shop.propose(shop.manifests(NEWER))
    shop.merge(number).passed()
    assert [shop.image(name) for name in ("staging", "production")] == ["ghcr.io/acme/web:1.5.0"] * 2
    assert len(shop.world.comments(number)) == 2


def test_a_cluster_whose_predecessor_failed_is_not_tried_and_says_so(shop: Shop) -> None:
    shop.first_push().passed()
    number = shop.propose(shop.manifests(NEWER, *NEVER_STARTS))
    run = shop.merge(number)
    assert run.code == 1, run
    statuses = shop.world.statuses(shop.world.main)
    assert statuses["kix/deploy/staging"][-1][0] == "failure"
    assert statuses["kix/deploy/production"][-1] == ("pending", "waits: staging failed in this run")
    assert shop.image("production") == "ghcr.io/acme/web:1.4.2"
    comments = shop.world.comments(number)
    assert any("ImagePullBackOff" in comment for comment in comments)


def test_a_cluster_that_cannot_be_reached_is_an_error_the_pull_request_tells_of(shop: Shop) -> None:
    shop.first_push().passed()
    number = shop.propose({"kix.toml": shop.settings(production="gone"), **shop.manifests(NEWER)})
    run = shop.merge(number)
    assert run.code == 4, run
    statuses = shop.world.statuses(shop.world.main)
    assert statuses["kix/deploy/staging"][-1][0] == "success"
    state, words = statuses["kix/deploy/production"][-1]
    assert state in {"error", "failure"}
    assert "127.0.0.1:9" in words
    assert "production" in run.summary
    comments = shop.world.comments(number)
    assert any("production" in comment and "127.0.0.1:9" in comment for comment in comments)


# Two pushes at once


def test_of_two_pushes_at_once_the_newest_commit_ends_up_deployed(shop: Shop) -> None:
    shop.first_push().passed()
    base = shop.world.main
    older = shop.world.write("main", shop.manifests(NEWER))
    runs: list[Run] = []
    newer: list[str] = []

    def push_again(request: Request) -> None:
        # While the first run is deploying staging, somebody pushes again and CI starts a second run.
        if request.method == "POST" and request.path.endswith("/deployments") and not newer:
            newer.append(shop.world.write("main", shop.manifests(("web:1.4.2", "web:1.6.0"))))
            second.start()

    second = threading.Thread(target=lambda: runs.append(shop.world.pushed(older, newer[0])))
    shop.world.github.interfere = push_again
    first = shop.world.pushed(base, older)
    second.join()
    assert runs[0].code == 0, runs[0]
    assert [shop.image(name) for name in ("staging", "production")] == ["ghcr.io/acme/web:1.6.0"] * 2
    assert "superseded: main has moved on" in first.log
    assert shop.world.statuses(newer[0])["kix/deploy/production"][-1][0] == "success"


def test_a_run_for_a_commit_that_is_no_longer_the_newest_writes_nothing(shop: Shop) -> None:
    base = shop.world.main
    older = shop.world.write("main", shop.manifests(NEWER))
    shop.world.write("main", shop.manifests(("web:1.4.2", "web:1.6.0")))
    run = shop.world.pushed(base, older)
    assert run.code == 0, run
    assert "superseded" in run.log
    assert shop.world.github.state.deployments == {}
