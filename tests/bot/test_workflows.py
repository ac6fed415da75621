"""The action, the workflows and the examples: valid, pinned, with the permissions they need and no more."""

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from kixbot.bot.settings import BotSettings
from tests.parts.paths import program

ROOT = Path(__file__).parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))
EXAMPLES = sorted((ROOT / "examples" / "github").glob("*.yml"))
GITLAB = [ROOT / ".gitlab-ci.yml", ROOT / "examples" / "gitlab" / ".gitlab-ci.yml"]
BIN = Path(sys.executable).parent


def load(file: Path) -> dict[Any, Any]:
    document = yaml.safe_load(file.read_text())
    assert isinstance(document, dict)
    return document


def run(*command: str | Path) -> str:
    done = subprocess.run([str(word) for word in command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    ("schema", "files"),
    [
        ("vendor.github-actions", [ROOT / "action.yml"]),
        ("vendor.github-workflows", [*WORKFLOWS, *EXAMPLES]),
        ("vendor.gitlab-ci", GITLAB),
    ],
)
def test_they_are_what_their_schema_says(schema: str, files: list[Path]) -> None:
    run(BIN / "check-jsonschema", "--builtin-schema", schema, *files)


def test_actionlint_and_zizmor_find_nothing(tmp_path: Path) -> None:
    run(program("actionlint"), *WORKFLOWS, *EXAMPLES)
    copies = tmp_path / ".github" / "workflows"
    copies.mkdir(parents=True)
    for file in (*WORKFLOWS, *EXAMPLES):
        (copies / file.name).write_text(file.read_text())
    run(BIN / "zizmor", "--offline", "--no-progress", ROOT / "action.yml", tmp_path)


def test_every_input_is_a_setting_and_none_has_a_default_but_the_token() -> None:
    action = load(ROOT / "action.yml")
    settings = {name.replace("_", "-") for name in BotSettings.model_fields}
    assert set(action["inputs"]) <= settings
    assert settings - set(action["inputs"]) == {"embedded", "local-forge", "output-dir"}
    assert {name: entry["default"] for name, entry in action["inputs"].items() if "default" in entry} == {
        "github-token": "${{ github.token }}"
    }
    passed = action["runs"]["steps"][-1]["env"]
    assert passed == {f"KIX_{name.upper().replace('-', '_')}": f"${{{{ inputs.{name} }}}}" for name in action["inputs"]}


def test_no_expression_stands_in_a_script() -> None:
    scripts = [step["run"] for step in load(ROOT / "action.yml")["runs"]["steps"]]
    for file in (*WORKFLOWS, *EXAMPLES):
        scripts += [step["run"] for job in load(file)["jobs"].values() for step in job["steps"] if "run" in step]
    assert [script for script in scripts if "${{" in script] == []


def test_every_job_names_its_permissions_and_every_action_its_commit() -> None:
    for file in (*WORKFLOWS, *EXAMPLES):
        workflow = load(file)
        assert workflow["permissions"] == {}
        for job in workflow["jobs"].values():
            assert job["permissions"]
            for step in job["steps"]:
                if "uses" in step and not step["uses"].startswith("kix-run/kix@"):
                    assert re.fullmatch(r"actions/[a-z-]+@[0-9a-f]{40}", step["uses"])
                if step.get("uses", "").startswith("actions/checkout@"):
                    assert step["with"]["persist-credentials"] is False


def test_the_review_holds_no_secret_and_the_deploy_waits_its_turn() -> None:
    review, deploy = (load(ROOT / "examples" / "github" / f"kix-{name}.yml") for name in ("review", "deploy"))
    assert "secrets." not in (ROOT / "examples" / "github" / "kix-review.yml").read_text()
    assert review["jobs"]["review"]["permissions"] == {
        "contents": "read",
        "pull-requests": "write",
        "statuses": "write",
    }
    assert deploy["concurrency"] == {"group": "kix-deploy", "cancel-in-progress": False, "queue": "max"}
    assert deploy["jobs"]["deploy"]["environment"] == {"name": "production", "deployment": False}
    assert "contents" not in {
        name for name, right in deploy["jobs"]["deploy"]["permissions"].items() if right == "write"
    }
