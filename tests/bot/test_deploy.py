"""Merges deployed to embedded clusters in promotion order, and told where people look."""

from pathlib import Path

import pytest

from kixbot.bot import deploying
from kixbot.bot.job import open_job
from kixbot.bot.outputs import Outputs
from kixbot.bot.settings import load
from kixbot.model.activation import Phase
from tests.bot.shop_world import CANARY, SETTINGS, WEB, Shop, both

NEW = WEB.replace("1.4.2", "1.5.0")
NEWER = WEB.replace("1.4.2", "1.6.0")


def image(shop: Shop, cluster: str) -> str | None:
    live = shop.live(cluster, "Deployment", "web")
    return live["spec"]["template"]["spec"]["containers"][0]["image"] if live else None


def test_a_merge_is_deployed_to_each_cluster_in_promotion_order(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    assert shop.push(shop.base).code == 0
    number = shop.propose(both(NEW))
    run = shop.push(shop.world.merge(number))
    assert run.code == 0, run.log
    assert run.log.index("staging: deployed") < run.log.index("production: deploying")
    for cluster in ("staging", "production"):
        assert image(shop, cluster) == "ghcr.io/acme/web:1.5.0"
        current = shop.current(cluster)
        assert current is not None
        assert current.phase is Phase.ACTIVE
        assert current.receipt is not None
        assert current.receipt.commit == shop.world.forge.find_branch("main")
        assert current.receipt.reviewed_hash is not None
        assert current.receipt.deployed_hash == current.receipt.reviewed_hash


def test_statuses_deployments_and_a_comment_tell_of_it(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.push(shop.base)
    number = shop.propose(both(NEW))
    sha = shop.world.merge(number)
    shop.push(sha)
    assert shop.world.statuses(sha) == {
        "kix/deploy/staging": ("success", "1 changed in 1 wave"),
        "kix/deploy/production": ("success", "1 changed in 1 wave"),
    }
    assert [(one[0], *one[1:]) for one in shop.world.deployments()][2:] == [
        (sha, "staging", "kix:staging", "success"),
        (sha, "live", "kix:production", "success"),
    ]
    staging, production = shop.comments(number)
    assert "### 🚀 `staging` runs" in staging
    assert "### 🚀 `production` runs" in production
    assert f"- pull request {number}: deployed exactly what was reviewed" in staging
    current = shop.current("staging")
    assert current is not None
    assert current.receipt is not None
    assert f"receipt `{current.receipt.id}`" in staging


def test_a_run_again_writes_nothing_and_says_so(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.push(shop.base)
    run = shop.push(shop.base)
    assert run.code == 0
    assert "staging: unchanged: staging-" in run.log
    assert len(shop.world.deployments()) == 2


def test_what_a_dropped_run_lost_is_deployed_by_the_next(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.push(shop.base)
    shop.world.merge(shop.propose({"staging/web.yaml": NEW}, "one"))
    last = shop.world.merge(shop.propose({"production/web.yaml": NEWER}, "two"))
    run = shop.push(last)
    assert run.code == 0, run.log
    assert (image(shop, "staging"), image(shop, "production")) == ("ghcr.io/acme/web:1.5.0", "ghcr.io/acme/web:1.6.0")
    assert len(shop.comments(1)) == 1
    assert len(shop.comments(2)) == 1


def test_an_older_commit_is_never_deployed_over_a_newer_one(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    old = shop.base
    new = shop.world.merge(shop.propose(both(NEW)))
    shop.push(new)
    run = shop.push(old)
    assert run.code == 0
    assert "staging: superseded: main has moved on" in run.log
    assert image(shop, "staging") == "ghcr.io/acme/web:1.5.0"


def test_a_run_that_waited_while_a_newer_commit_was_deployed_writes_nothing(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    environment = {"KIX_LOCAL_FORGE": str(shop.world.folder), "KIX_EMBEDDED": str(shop.clusters)}
    (tmp_path / "scratch").mkdir()
    job = open_job(load({}, environment), environment, tmp_path / "scratch", Outputs(environment, tmp_path / "out"))
    rules = job.builds.settings(shop.base)
    build = job.builds.build(shop.base, "staging", rules).build
    outcome = deploying.run(
        job,
        job.open_cluster("staging", rules.clusters["staging"]),
        build,
        rules.clusters["staging"],
        commit=shop.base,
        change=None,
        is_newest=lambda: False,
    )
    assert (outcome.state, outcome.sentence) == ("superseded", "a newer commit was deployed meanwhile")
    assert shop.current("staging") is None


def test_a_cluster_whose_predecessor_failed_is_not_tried_and_says_so(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.push(shop.base)
    unserved = WEB + "---\napiVersion: nowhere.example/v1\nkind: Thing\nmetadata: {name: a, namespace: shop}\n"
    crd = {"staging/web.yaml": unserved, "production/web.yaml": NEW}
    settings = SETTINGS.replace(
        "[clusters.production]",
        '[[clusters.staging.externals]]\nkind = "CustomResourceDefinition"\nname = "things.nowhere.example"\n[clusters.production]',
    )
    sha = shop.world.merge(shop.propose({**crd, "kix.toml": settings}))
    run = shop.push(sha)
    assert run.code == 1, run.log
    assert "staging: failed" in run.log
    assert "production: waits: staging failed in this run" in run.log
    assert shop.world.statuses(sha)["kix/deploy/staging"][0] == "failure"
    assert shop.world.statuses(sha)["kix/deploy/production"] == (
        "pending", "waits: staging failed in this run",
    )  # fmt: skip
    assert image(shop, "production") == "ghcr.io/acme/web:1.4.2"


def test_a_job_of_one_cluster_asks_the_cluster_before_it(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    alone = shop.push(shop.base, KIX_CLUSTERS="production")
    assert "production: waits: staging is not deployed yet" in alone.log
    shop.push(shop.base, KIX_CLUSTERS="staging")
    sha = shop.world.merge(shop.propose(both(NEW)))
    early = shop.push(sha, KIX_CLUSTERS="production")
    assert early.code == 0
    assert "production: waits: staging does not run this commit" in early.log
    assert shop.current("production") is None
    shop.push(sha, KIX_CLUSTERS="staging")
    assert shop.push(sha, KIX_CLUSTERS="production").code == 0
    assert image(shop, "production") == "ghcr.io/acme/web:1.5.0"


def test_a_build_that_does_not_pass_its_checks_is_not_deployed(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.push(shop.base)
    sha = shop.write("main", {"staging/web.yaml": WEB.replace("app: web}, ports", "app: wbe}, ports")})
    run = shop.push(sha)
    assert run.code == 1
    assert "staging: failed: the build does not pass its checks" in run.log
    assert "ref/service-selects-nothing: The Service has no endpoints" in shop.summary
    current = shop.current("staging")
    assert current is not None
    assert current.commit == shop.base


@pytest.mark.parametrize(
    ("mode", "sentence"),
    [
        ("manual", 'production: waits: deploy = "manual", so a person starts it'),
        ("approval", 'production: waits: deploy = "approval", so a job with its environment deploys it'),
    ],
)
def test_a_cluster_that_waits_for_a_person_is_left_alone_by_a_push(tmp_path: Path, mode: str, sentence: str) -> None:
    shop = Shop(tmp_path, SETTINGS + f'deploy = "{mode}"\n')
    run = shop.push(shop.base)
    assert run.code == 0
    assert sentence in run.log
    assert shop.current("production") is None


def test_soak_holds_a_successor_back_until_the_schedule_finds_it_over(tmp_path: Path) -> None:
    shop = Shop(tmp_path, SETTINGS + 'soak = "1h"\n')
    run = shop.push(shop.base)
    assert run.code == 0
    assert "production: waits: staging has been Active for" in run.log
    assert shop.current("production") is None
    short = Shop(tmp_path / "short", SETTINGS + 'soak = "0s"\n')
    assert short.run("schedule").code == 0
    assert short.current("production") is not None


def smuggled(shop: Shop) -> str:
    """A merge commit that holds more than its pull request: somebody edited while merging."""
    number = shop.propose(both(NEW))
    sha = shop.world.merge(number)
    return shop.world.amend_merge(number, sha, {"staging/web.yaml": NEWER.encode()})


def test_a_merge_that_holds_more_than_was_reviewed_is_shown(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.push(shop.base)
    sha = smuggled(shop)
    run = shop.push(sha)
    assert run.code == 0
    assert "what was merged differs from what was reviewed" in shop.comments(1)[0]
    assert "Deployment/web@shop $.spec.template.spec.containers[web].image" in shop.comments(1)[0]


def test_with_policy_stop_it_is_not_deployed(tmp_path: Path) -> None:
    shop = Shop(tmp_path, SETTINGS.replace('path = "staging"', 'path = "staging"\npolicy = "stop"'))
    shop.push(shop.base)
    sha = smuggled(shop)
    run = shop.push(sha)
    assert run.code == 1
    assert "staging: refused: policy stop: pull request 1: what was merged differs from what was reviewed" in run.log
    assert image(shop, "staging") == "ghcr.io/acme/web:1.4.2"
    assert shop.world.statuses(sha)["kix/deploy/staging"][0] == "failure"
    assert "❌ `staging`: the deploy was refused" in shop.comments(1)[0]


def test_a_merge_that_does_not_pass_is_told_on_its_pull_request(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    shop.push(shop.base)
    number = shop.propose({"staging/web.yaml": WEB.replace("app: web}, ports", "app: wbe}, ports")})
    assert shop.push(shop.world.merge(number)).code == 1
    (comment,) = shop.comments(number)
    assert "### ❌ `staging`: the deploy failed" in comment
    assert "ref/service-selects-nothing" in comment


def test_without_a_context_and_without_the_embedded_cluster_the_hint_says_what_to_write(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    run = shop.push(shop.base, KIX_EMBEDDED="")
    assert run.code == 2
    assert "staging: failed: cluster staging: no context to deploy to" in run.log
    hint = 'hint: name one in kix.toml on the default branch: [clusters.staging] context = "…"'
    assert hint in run.log
    assert hint in shop.summary


def test_a_cluster_that_does_not_answer_is_the_outside_worlds_fault(tmp_path: Path) -> None:
    config = tmp_path / "kubeconfig"
    config.write_text(
        "apiVersion: v1\nkind: Config\nclusters: [{name: c, cluster: {server: 'https://127.0.0.1:9'}}]\n"
        "users: [{name: u, user: {token: canary-kube-token}}]\n"
        "contexts: [{name: far, context: {cluster: c, user: u}}]\n"
    )
    shop = Shop(tmp_path, SETTINGS.replace('path = "staging"', 'path = "staging"\ncontext = "far"'))
    run = shop.push(shop.base, KIX_EMBEDDED="", KIX_KUBECONFIG=str(config))
    assert run.code == 4
    assert "staging: failed: cluster far: no answer from https://127.0.0.1:9: connection refused" in run.log
    assert "production: waits: staging failed in this run" in run.log
    assert "canary-kube-token" not in run.log + shop.summary


def test_a_kubeconfig_that_is_committed_is_refused(tmp_path: Path) -> None:
    shop = Shop(tmp_path, **{"kube/config": "apiVersion: v1\nkind: Config\n"})
    workspace = {"GITHUB_WORKSPACE": str(tmp_path / "ws"), "KIX_KUBECONFIG": str(tmp_path / "ws" / "kube" / "config")}
    run = shop.push(shop.base, **workspace)
    assert run.code == 2
    assert "input kubeconfig: kube/config is a file of the repository" in run.log
    assert shop.current("staging") is None
    beside = {**workspace, "KIX_KUBECONFIG": str(tmp_path / "ws" / "from-a-secret")}
    assert shop.push(shop.base, **beside).code == 0


def test_a_token_that_may_not_write_deploys_all_the_same(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    for permission in ("statuses: write", "deployments: write", "pull-requests: write"):
        shop.world.deny(permission)
    run = shop.push(shop.base)
    assert run.code == 0, run.log
    assert shop.current("production") is not None
    assert "🚀 `staging` runs" in shop.summary
    assert CANARY not in run.log + shop.summary
