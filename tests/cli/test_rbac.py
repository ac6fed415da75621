"""`kix rbac` as people type it: it asks no cluster."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.test_deploy import repository
from tests.cli.typed import kix

__all__ = ["repository"]


def test_the_roles_are_printed_as_yaml_without_a_cluster(
    repository: Path,
    monkeypatch: pytest.MonkeyPatch,
    golden: Callable[[str, str], None],
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.delenv("KIX_EMBEDDED")
    assert kix(repository, "rbac", "shop", "--role", "deploy", "--service-account", "ci/deployer") == 0
    golden("rbac-deploy.yaml", capsys.readouterr().out)
    assert kix(repository, "rbac", "--role", "plan", "--group", "reviewers") == 0
    out = capsys.readouterr().out
    assert "create" not in out
    assert "patch" not in out
    assert "  - apiGroup: rbac.authorization.k8s.io\n    kind: Group\n    name: reviewers\n" in out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--role", "plan", "--group", "a", "--user", "b"], "--group, --user and --service-account: name one of them"),
        (["--role", "plan", "--service-account", "ci"], "--service-account ci: no namespace"),
    ],
)
def test_a_subject_is_one_and_whole(
    repository: Path, capsys: pytest.CaptureFixture[str], words: list[str], said: str
) -> None:
    assert kix(repository, "rbac", "shop", *words) == 2
    assert capsys.readouterr().err.startswith(f"error: {said}\n")
