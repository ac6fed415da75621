"""`kix drift` as people type it, on the embedded cluster."""

import json
from pathlib import Path
from typing import Any

import pytest

from kixbot.cluster.memory import MemoryCluster
from tests.cli.test_deploy import edit, faults, git, repository
from tests.cli.typed import kix

__all__ = ["repository"]


def by_hand(folder: Path, patch: dict[str, Any], kind: str = "ConfigMap", manager: str = "kubectl-edit") -> None:
    """Somebody's merge patch of an object called web."""
    cluster = MemoryCluster(folder.parent / "embedded", now=lambda: "2026-09-09T10:47:00Z")
    found = next(one for one in cluster.discover().kinds if one.kind == kind)
    cluster.merge_patch(found, "web", patch, namespace="shop", manager=manager)


def test_a_clean_cluster_ends_with_0_and_a_drifted_one_with_1(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert kix(repository, "deploy", "shop", "--yes") == 0
    capsys.readouterr()
    assert kix(repository, "drift", "shop") == 0
    out = capsys.readouterr().out
    assert out.startswith("Drift: none; cluster shop is as shop-")
    assert out.endswith(" was applied\n")
    by_hand(repository, {"spec": {"replicas": 5}}, "Deployment", "kubectl")
    assert kix(repository, "drift") == 1
    assert capsys.readouterr().out == (
        "Drift: 1 resource changed outside kix\n"
        "  ! Deployment/web@shop\n"
        "      ! $.spec.replicas:\n"
        "          applied: 2\n"
        "          live: 5 (kubectl, 2026-09-09T10:47:00Z)\n"
    )


def test_the_applied_value_comes_from_the_records_commit_when_the_tree_has_moved_on(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kix(repository, "deploy", "shop", "--yes")
    by_hand(repository, {"data": {"colour": "red"}})
    edit(repository, "colour: blue", "colour: green")
    capsys.readouterr()
    assert kix(repository, "drift", "shop") == 1
    assert '          applied: "blue"\n' in capsys.readouterr().out
    assert kix(repository, "diff", "shop") == 0
    assert '          applied: "blue"\n' in capsys.readouterr().out
    git(repository, "checkout", "-q", "--orphan", "other")
    git(repository, "commit", "-qam", "another history")
    git(repository, "branch", "-D", "main")
    git(repository, "reflog", "expire", "--expire=now", "--all")
    git(repository, "gc", "-q", "--prune=now")
    assert kix(repository, "drift", "shop") == 1
    assert "          applied: old value not available\n" in capsys.readouterr().out


def test_the_document_is_valid_and_holds_no_value_where_there_is_none(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kix(repository, "deploy", "shop", "--yes")
    by_hand(repository, {"data": {"colour": None, "more": "x"}})
    by_hand(repository, {"spec": {"replicas": 5}}, "Deployment")
    capsys.readouterr()
    assert kix(repository, "drift", "shop", "-o", "json") == 1
    document = json.loads(capsys.readouterr().out)
    assert faults("drift.json", document) == []
    assert document["clean"] is False
    assert document["drift"] == [
        {
            "id": "ConfigMap/web@shop",
            "package": "shop/(manifests)",
            "state": "changed",
            "fields": [
                {
                    "path": "$.data.colour",
                    "kind": "removed",
                    "applied": "blue",
                    "manager": None,
                    "subresource": None,
                    "time": None,
                }
            ],
        },
        {
            "id": "Deployment/web@shop",
            "package": "shop/(manifests)",
            "state": "changed",
            "fields": [
                {
                    "path": "$.spec.replicas",
                    "kind": "changed",
                    "applied": 2,
                    "live": 5,
                    "manager": "kubectl-edit",
                    "subresource": None,
                    "time": "2026-09-09T10:47:00Z",
                }
            ],
        },
    ]
    assert [field["path"] for one in document["additions"] for field in one["fields"]] == ["$.data.more"]


def test_diff_and_plan_show_drift_before_the_activation_also_in_markdown(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    kix(repository, "deploy", "shop", "--yes")
    by_hand(repository, {"data": {"colour": "red"}})
    capsys.readouterr()
    section = (
        "Drift: 1 resource changed outside kix\n"
        "  ! ConfigMap/web@shop\n"
        "      ! $.data.colour:\n"
        '          applied: "blue"\n'
        '          live: "red" (kubectl-edit, 2026-09-09T10:47:00Z)\n'
    )
    for verb in ("diff", "plan"):
        assert kix(repository, verb, "shop", "--exit-code") == 0
        assert f"\n\n{section}\nActivation: shop-" in capsys.readouterr().out
    assert kix(repository, "diff", "shop", "-o", "markdown") == 0
    out = capsys.readouterr().out
    assert "**Drift**\n- `ConfigMap/web@shop` (1 field)\n" in out
    assert f"<details><summary>Drift</summary>\n\n```text\n{section}```\n\n</details>" in out


def test_a_plan_shows_what_reconciling_would_put_back(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kix(repository, "deploy", "shop", "--yes")
    by_hand(repository, {"data": {"colour": "red"}})
    capsys.readouterr()
    assert kix(repository, "plan", "shop", "--reconcile", "--exit-code") == 1
    plan = capsys.readouterr().out
    assert '          ~ $.data.colour:\n              old: "red"\n              new: "blue"\n' in plan
    assert kix(repository, "deploy", "shop", "--dry-run", "--reconcile") == 0
    assert capsys.readouterr().out == plan
    assert kix(repository, "deploy", "shop", "--yes", "--reconcile") == 0
    assert kix(repository, "drift", "shop") == 0


def test_an_adoption_that_names_nobody_is_a_usage_error(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kix(repository, "plan", "shop", "--adopt", "@shop") == 2
    assert capsys.readouterr().err == (
        "error: --adopt @shop: no manager\n  hint: MANAGER, MANAGER@NAMESPACE or MANAGER@NAMESPACE/PACKAGE\n"
    )


def test_status_counts_what_drifted(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kix(repository, "deploy", "shop", "--yes")
    by_hand(repository, {"data": {"colour": "red"}})
    capsys.readouterr()
    assert kix(repository, "status", "shop") == 0
    assert "drift         1 resource changed outside kix; kix drift shop\n" in capsys.readouterr().out
    assert kix(repository, "status", "shop", "-o", "json") == 0
    document = json.loads(capsys.readouterr().out)
    assert faults("status.json", document) == []
    assert document["drifted"] == 1


def test_before_the_first_deploy_there_is_no_drift(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kix(repository, "drift", "shop") == 0
    assert capsys.readouterr().out == "Drift: none; nothing was deployed to cluster shop yet\n"
