"""`kix snapshot` and `kix diff --from` as people type them, on the embedded cluster."""

import re
from pathlib import Path

import pytest

from tests.cli.test_deploy import edit, git, repository
from tests.cli.test_drift import by_hand
from tests.cli.typed import kix

__all__ = ["repository"]


def test_a_snapshot_is_what_a_later_build_is_compared_with(
    repository: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    kix(repository, "deploy", "shop", "--yes")
    by_hand(repository, {"spec": {"replicas": 5}}, "Deployment")
    capsys.readouterr()
    assert kix(repository, "snapshot", "shop", "-o", "before.json") == 0
    assert re.fullmatch(r"4 objects of shop-\w{12} in before.json\n", capsys.readouterr().err)
    monkeypatch.delenv("KIX_EMBEDDED")
    assert kix(repository, "diff", "shop", "--from", "before.json", "--exit-code") == 1
    out = capsys.readouterr().out
    assert "          ~ $.spec.replicas:\n              old: 5\n              new: 2\n" in out


def test_an_earlier_activation_is_compared_by_name(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kix(repository, "deploy", "shop", "--yes")
    kix(repository, "status", "shop")
    name = re.search(r"activation +(\S+)", capsys.readouterr().out)
    assert name is not None
    edit(repository, "colour: blue", "colour: green")
    git(repository, "commit", "-qam", "two")
    assert kix(repository, "diff", "shop", "--from", name[1]) == 0
    assert '              old: "blue"\n              new: "green"\n' in capsys.readouterr().out
    assert kix(repository, "diff", "shop", "--from", "shop-000000000000") == 1
    assert "no activation shop-000000000000 was ever active" in capsys.readouterr().err
