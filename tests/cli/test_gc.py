"""`kix gc` and `kix destroy` as people type them, on the embedded cluster."""

from pathlib import Path

import pytest

from tests.cli.test_deploy import edit, repository
from tests.cli.typed import kix

__all__ = ["repository"]


def test_without_old_records_there_is_nothing_to_retire(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kix(repository, "deploy", "shop", "--yes")
    capsys.readouterr()
    assert kix(repository, "gc", "shop") == 0
    assert capsys.readouterr().err == "cluster shop: no record to retire\n"
    assert kix(repository, "gc", "shop", "--keep", "3") == 2
    assert "3 is not in the range x>=10" in capsys.readouterr().err


def test_old_records_go_after_a_yes(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = "blue"
    for number in range(12):
        edit(repository, f"colour: {before}", f"colour: c{number}")
        before = f"c{number}"
        assert kix(repository, "deploy", "shop", "--yes") == 0
    capsys.readouterr()
    assert kix(repository, "gc", "shop") == 1
    assert "error: cluster shop: not confirmed\n" in capsys.readouterr().err
    assert kix(repository, "gc", "shop", "--yes") == 0
    assert len(capsys.readouterr().out.splitlines()) == 2
    assert kix(repository, "gc", "shop", "--orphan", "--yes") == 0
    assert kix(repository, "diff", "shop", "--exit-code") == 0


def test_destroying_needs_the_clusters_name(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kix(repository, "deploy", "shop", "--yes")
    for words in ([], ["--confirm", "shp"]):
        capsys.readouterr()
        assert kix(repository, "destroy", "shop", *words) == 1
        err = capsys.readouterr().err
        assert "delete Deployment/web@shop\n" in err
        assert err.endswith("error: cluster shop: not confirmed\n  hint: type its name, or add --confirm shop\n")
    assert kix(repository, "drift", "shop") == 0
    capsys.readouterr()
    assert kix(repository, "destroy", "shop", "--confirm", "shop") == 0
    out = capsys.readouterr().out.splitlines()
    assert sorted(out[:-1]) == [
        "ConfigMap/web@shop deleted",
        "Deployment/web@shop deleted",
        "Namespace/shop kept: a Namespace is never deleted with what is in it; no longer tracked",
        "Service/web@shop deleted",
    ]
    assert out[-1].endswith(" retired")
    assert kix(repository, "destroy", "shop", "--confirm", "shop") == 1
    assert "nothing was deployed, or it was destroyed already" in capsys.readouterr().err
