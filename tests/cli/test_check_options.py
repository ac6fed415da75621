"""`kix check` as CI calls it: formats, versions and scores, from arguments to stdout and exit code."""

import json
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from tests.cli.test_check import WEB, write
from tests.cli.typed import kix

Captured = pytest.CaptureFixture[str]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write(tmp_path, "manifests/web.yaml", WEB % "web")
    return tmp_path


def test_sarif_names_files_from_the_root(folder: Path, capsys: Captured) -> None:
    assert kix(folder, "check", "manifests/", "-o", "sarif") == 0
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    (result,) = run["results"]
    assert result["ruleId"] == run["tool"]["driver"]["rules"][result["ruleIndex"]]["id"] == "gov/image-no-tag"
    assert result["locations"][0]["physicalLocation"]["artifactLocation"] == {"uri": "manifests/web.yaml"}


def test_the_exit_code_does_not_depend_on_the_format(folder: Path, capsys: Captured) -> None:
    for name in ("text", "json", "markdown", "sarif", "junit", "gitlab", "github"):
        assert kix(folder, "check", "manifests/", "-o", name, "--fail-on", "governance") == 1
        assert "gov/image-no-tag" in capsys.readouterr().out


def test_junit_and_code_quality_can_be_read(folder: Path, capsys: Captured) -> None:
    kix(folder, "check", "manifests/", "-o", "junit", "--fail-on", "governance")
    assert ET.fromstring(capsys.readouterr().out).attrib["failures"] == "2"
    kix(folder, "check", "manifests/", "-o", "gitlab")
    (item,) = json.loads(capsys.readouterr().out)
    assert (item["severity"], item["location"]["path"]) == ("minor", "manifests/web.yaml")


def test_a_score_ends_the_text(folder: Path, capsys: Captured) -> None:
    assert kix(folder, "check", "manifests/", "--score") == 0
    table = capsys.readouterr().out.partition("| Package | ")[2]
    assert table.startswith("Security | Reliability | Governance |\n|---|---|---|---|\n| all | 100 % (")


def test_a_later_version_says_what_it_changes(folder: Path, capsys: Captured) -> None:
    write(
        folder,
        "manifests/flow.yaml",
        "apiVersion: flowcontrol.apiserver.k8s.io/v1beta3\nkind: PriorityLevelConfiguration\nmetadata: {name: mine}\n"
        "spec: {type: Exempt}\n",
    )
    assert kix(folder, "check", "manifests/", "--kubernetes-version", "1.31", "--also", "1.32") == 0
    out = capsys.readouterr().out
    assert "which Kubernetes 1.32 does not serve any more" in out
    assert "! with Kubernetes 1.32: " in out
    assert kix(folder, "check", "manifests/", "--kubernetes-version", "1.32") == 1


def test_a_version_that_is_not_known_is_a_usage_error(folder: Path, capsys: Captured) -> None:
    assert kix(folder, "check", "manifests/", "--also", "3.0") == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("error: 3.0: no version of Kubernetes that is known here\n  hint: name one from 1.")


@pytest.mark.parametrize("rule", ["schema/source", "ref/port", "schema/assertion", "api/duplicate-object", "ref/cycle"])
def test_what_fails_evaluation_is_explained_too(folder: Path, capsys: Captured, rule: str) -> None:
    assert kix(folder, "explain", rule) == 0
    assert capsys.readouterr().out.startswith(f"{rule}: ")
