"""Reviews of pull requests on the local forge, from event to comment and statuses."""

import json
import re
from pathlib import Path

from kixbot.output.marker import find_marker
from tests.bot.shop_world import CANARY, SETTINGS, WEB, Shop, both

NEW = WEB.replace("1.4.2", "1.5.0")
BROKEN = WEB.replace("app: web}, ports", "app: wbe}, ports")


def test_a_change_that_passes_gets_one_comment_and_green_statuses(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    number = shop.propose(both(NEW))
    run = shop.review(number)
    assert run.code == 0, run.log
    (comment,) = shop.comments(number)
    assert (
        comment.split("\n")[1]
        == "### ✅ kix says yes: 1 package changes in `staging`, 1 package changes in `production`"
    )
    assert "- `production`: moves image `ghcr.io/acme/web`: `1.4.2` → `1.5.0`" in comment
    head = shop.world.forge.get_pull_request(number).head_sha
    statuses = shop.world.statuses(head)
    state, words = statuses.pop("kix/check")
    # How many warnings there are is the rules' business.
    assert state == "success"
    assert re.fullmatch(r"staging: 0 errors, \d+ warnings?; production: 0 errors, \d+ warnings?", words)
    assert statuses == {
        "kix/diff": ("success", "staging: 1 updated, 0 added, 0 removed; production: 1 updated, 0 added, 0 removed"),
        "kix/diff/staging": ("success", "1 updated, 0 added, 0 removed"),
        "kix/diff/production": ("success", "1 updated, 0 added, 0 removed"),
    }
    assert run.files["kix-comment.md"] == comment
    assert comment.split("\n", 1)[1] in shop.summary


def test_a_second_push_brings_the_comment_up_to_date_and_drops_what_is_gone(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    number = shop.propose(both(NEW))
    shop.review(number)
    shop.write("change", both(WEB))
    shop.review(number)
    (comment,) = shop.comments(number)
    assert "### ✅ kix says yes: nothing changes" in comment
    assert "1.5.0" not in comment


def test_errors_fail_the_check_also_when_the_base_has_them_too(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    number = shop.propose(both(BROKEN))
    run = shop.review(number)
    assert run.code == 1
    (comment,) = shop.comments(number)
    assert "❌ kix says no: `staging` has 1 error, `production` has 1 error" in comment
    assert "ref/service-selects-nothing" in comment
    head = shop.world.forge.get_pull_request(number).head_sha
    assert shop.world.statuses(head)["kix/check"][0] == "failure"
    assert run.outputs["failure-reason"] == "findings"

    old = Shop(tmp_path / "old", **both(BROKEN))
    number = old.propose(
        {"production/more.yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: shop}\n"}
    )
    assert old.review(number).code == 1


def test_new_errors_stand_at_their_lines_in_the_change(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    number = shop.propose({"staging/web.yaml": BROKEN})
    run = shop.review(number, GITHUB_ACTIONS="true")
    notes = [line for line in run.log.splitlines() if line.startswith("::error ")]
    assert len(notes) == 1
    assert notes[0].startswith("::error file=staging/web.yaml,line=20,title=kix::The Service has no endpoints")
    assert notes[0].endswith("(ref/service-selects-nothing)")


def test_a_head_that_does_not_build_is_an_answer_with_exit_code_3(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    number = shop.propose({"staging/web.yaml": "kind: [\n"})
    run = shop.review(number)
    assert run.code == 3
    (comment,) = shop.comments(number)
    assert "❌ kix says no: `staging` does not build" in comment
    assert "staging/web.yaml" in comment
    assert "#### `production`" in comment
    head = shop.world.forge.get_pull_request(number).head_sha
    assert shop.world.statuses(head)["kix/diff/staging"] == ("failure", "does not build")
    assert shop.world.statuses(head)["kix/diff/production"] == ("success", "nothing changes")


def test_a_cluster_that_loses_most_of_its_resources_fails_by_name(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    number = shop.propose({"staging/web.yaml": "apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n"})
    run = shop.review(number)
    assert run.code == 1
    assert (
        "`staging`: shrinks past the threshold: 2 of 3 resources are gone, more than 50 %" in shop.comments(number)[0]
    )
    assert run.outputs["failure-reason"] == "shrinks"


def test_a_token_that_may_write_nothing_changes_no_exit_code(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    number = shop.propose(both(NEW), fork=True)
    for permission in ("statuses: write", "pull-requests: write"):
        shop.world.deny(permission)
    run = shop.review(number)
    assert run.code == 0, run.log
    assert shop.comments(number) == []
    assert "✅ kix says yes" in shop.summary
    assert run.log.count("this token may not write") == 2
    result = json.loads(run.files["kix-review.json"])
    assert result["passed"] is True
    assert [cluster["packages"] for cluster in result["clusters"]] == [{"added": 0, "changed": 1, "removed": 0}] * 2


def test_from_the_settings_of_a_pull_request_only_names_and_paths_count(tmp_path: Path) -> None:
    shop = Shop(tmp_path, SETTINGS + '[check]\nfail = ["gov/*"]\n[bot]\nshrink-threshold = 10\n')
    loose = SETTINGS + '[clusters.third]\npath = "staging"\ncontext = "evil"\n[bot]\nshrink-threshold = 100\n'
    fewer = WEB.split("---")[0] + "---" + WEB.split("---")[2]
    number = shop.propose({"kix.toml": loose, "production/web.yaml": fewer})
    run = shop.review(number)
    (comment,) = shop.comments(number)
    assert run.code == 1
    assert "- changes `kix.toml`" in comment
    assert "`production`: shrinks past the threshold: 1 of 3 resources are gone, more than 10 %" in comment
    assert "| `third` | eval | ✅ pass |" in comment


def test_warnings_that_are_made_failing_are_excused_by_the_base_alone(tmp_path: Path) -> None:
    warned = WEB.replace("      automountServiceAccountToken: false\n", "")
    shop = Shop(tmp_path, **both(warned))
    number = shop.propose(both(warned.replace("1.4.2", "1.5.0")))
    assert shop.review(number).code == 0
    assert shop.review(number, KIX_FAIL_ON="sec/*").code == 0
    assert shop.review(number, KIX_FAIL_ON="sec/*", KIX_BASELINE="none").code == 1


def test_two_labels_do_not_overwrite_each_other(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    number = shop.propose(both(NEW))
    shop.review(number, KIX_LABEL="one", KIX_CLUSTERS="staging")
    shop.review(number, KIX_LABEL="two", KIX_CLUSTERS="production")
    markers = [find_marker(comment) for comment in shop.comments(number)]
    assert [(marker.label, marker.clusters) for marker in markers if marker] == [
        ("one", ("staging",)),
        ("two", ("production",)),
    ]
    head = shop.world.forge.get_pull_request(number).head_sha
    assert {"kix/one/check", "kix/two/check"} <= set(shop.world.statuses(head))


def test_the_marker_carries_the_head_and_a_hash_per_cluster(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    number = shop.propose(both(NEW))
    shop.review(number)
    marker = find_marker(shop.comments(number)[0])
    assert marker is not None
    assert marker.head == shop.world.forge.get_pull_request(number).head_sha
    assert set(marker.hashes) == {"staging", "production"}
    assert all(len(value) == 64 for value in marker.hashes.values())


def test_comments_can_be_turned_off_or_kept_to_changes(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    number = shop.propose({"README": "words\n"})
    shop.review(number, KIX_COMMENT="false")
    shop.review(number, KIX_COMMENT="changes-only")
    assert shop.comments(number) == []
    shop.write("change", both(NEW))
    shop.review(number, KIX_COMMENT="changes-only")
    assert len(shop.comments(number)) == 1


def test_neither_token_nor_secret_values_show_up_anywhere(tmp_path: Path) -> None:
    secret = """
---
apiVersion: v1
kind: Secret
metadata: {name: db, namespace: shop}
stringData: {password: hunter2-VALUE}
"""
    shop = Shop(tmp_path, **both(WEB + secret))
    changed = NEW + secret.replace("hunter2-VALUE", "hunter3-VALUE") + secret.replace("name: db", "name: new")
    number = shop.propose(both(changed))
    run = shop.review(number)
    everything = (
        run.log + shop.summary + "".join(run.files.values()) + "".join(shop.comments(number)) + str(run.outputs)
    )
    for folder in ("comments", "statuses"):
        for file in (shop.world.folder / folder).rglob("*.json"):
            everything += file.read_text()
    for value in (CANARY, "hunter2", "hunter3", "aHVudGVy"):
        assert value not in everything
    assert "! secret value changed" in everything
    assert "Secret/new@shop" in everything
