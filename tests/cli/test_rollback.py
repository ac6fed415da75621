"""`kix rollback` and `kix release` as people type them, on the embedded cluster."""

import re
from pathlib import Path

import pytest

from tests.cli.test_deploy import edit, git, repository
from tests.cli.test_drift import by_hand
from tests.cli.typed import kix

__all__ = ["repository"]


@pytest.fixture
def twice(repository: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    """A cluster that was deployed blue, then green, each from a commit of main."""
    assert kix(repository, "deploy", "shop", "--yes") == 0
    edit(repository, "colour: blue", "colour: green")
    git(repository, "commit", "-qam", "two")
    assert kix(repository, "deploy", "shop", "--yes") == 0
    capsys.readouterr()
    return repository


def colour(repository: Path, capsys: pytest.CaptureFixture[str]) -> str:
    capsys.readouterr()
    assert kix(repository, "diff", "shop") == 0
    return "green" if "(unchanged)" in capsys.readouterr().out else "blue"


def test_a_rollback_builds_the_earlier_commit_holds_the_cluster_and_proves_itself(
    twice: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    edit(twice, "colour: green", "colour: a change that is not committed")
    assert kix(twice, "rollback", "shop", "--yes") == 0
    out, err = capsys.readouterr()
    commit = git(twice, "rev-parse", "HEAD~")
    assert f"commit        {commit[:7]}\n" in out
    assert err.endswith(
        "proved: all 4 resources stand as that build says\ncluster shop is held; kix release shop lets deploys go on\n"
    )
    git(twice, "checkout", "-q", ".")
    assert kix(twice, "deploy", "shop", "--yes") == 1
    said = re.sub(r"since \S+:", "since TIME:", capsys.readouterr().err)
    assert re.search(r"error: cluster shop: held by \S+ since TIME: rolled back from shop-\w+\n", said)
    assert kix(twice, "status", "shop") == 0
    assert "held          by " in capsys.readouterr().out
    assert kix(twice, "release", "shop") == 0
    assert kix(twice, "deploy", "shop", "--yes") == 0
    assert colour(twice, capsys) == "green"


def test_a_commit_that_was_never_merged_needs_a_word_of_its_own(
    twice: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = git(twice, "rev-parse", "HEAD~")
    git(twice, "branch", "kept", first)
    git(twice, "checkout", "-q", "--orphan", "main2")
    git(twice, "commit", "-qm", "another root")
    git(twice, "branch", "-M", "main2", "main")
    assert kix(twice, "rollback", "shop", "--yes") == 1
    assert f"error: commit {first[:12]} is not part of the default branch (main)\n" in capsys.readouterr().err
    assert kix(twice, "rollback", "shop", "--yes", "--allow-unmerged") == 0


def test_without_yes_nothing_is_rolled_back(twice: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert kix(twice, "rollback", "shop") == 1
    assert "not confirmed" in capsys.readouterr().err
    assert colour(twice, capsys) == "green"


def test_fields_that_could_not_return_are_listed_and_end_it_with_1(
    twice: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    by_hand(twice, {"spec": {"replicas": 5}}, "Deployment", "kubectl")
    assert kix(twice, "rollback", "shop", "--yes") == 1
    assert (
        "1 of 4 resources could not return:\n"
        "  ~ Deployment/web@shop\n"
        "      ~ $.spec.replicas:\n"
        "          old: 5\n"
        "          new: 2\n"
    ) in capsys.readouterr().err
    assert kix(twice, "rollback", "shop", "--yes", "--reconcile", "--to", _name(twice, capsys)) == 0


def _name(repository: Path, capsys: pytest.CaptureFixture[str]) -> str:
    kix(repository, "status", "shop")
    found = re.search(r"activation +(\S+)", capsys.readouterr().out)
    assert found is not None
    return found[1]
