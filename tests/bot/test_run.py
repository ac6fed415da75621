"""`kixbot` as a process: what it says and ends with, whatever the environment holds."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from kixbot.bot.dispatch import dispatch
from kixbot.bot.event_values import MergeGroup
from kixbot.bot.job import open_job
from kixbot.bot.outputs import Outputs
from kixbot.bot.settings import load
from tests.bot import payloads
from tests.bot.shop_world import CANARY, SETTINGS, WEB, Shop, both

ROOT = Path(__file__).parents[2]
PROGRAM = "from kixbot.bot.main import main; main()"


def kixbot(*arguments: str, cwd: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """One run in a clean environment that holds a token."""
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=cwd,
        env={
            "PYTHONPATH": str(ROOT),
            "PATH": os.environ["PATH"],
            "HOME": str(cwd),
            "KIX_GITHUB_TOKEN": CANARY,
            **environment,
        },
        capture_output=True,
        text=True,
        check=False,
    )


def github(cwd: Path, name: str, payload: object, *arguments: str, **more: str) -> subprocess.CompletedProcess[str]:
    file = cwd / "event.json"
    file.write_text(payload if isinstance(payload, str) else json.dumps(payload))
    return kixbot(
        *(arguments or ("run",)), cwd=cwd, GITHUB_EVENT_NAME=name, GITHUB_EVENT_PATH=str(file),
        GITHUB_REPOSITORY="acme/shop", **more,
    )  # fmt: skip


@pytest.mark.parametrize("name", ["star", "workflow_run", "release"])
def test_an_unknown_event_ends_with_0_and_says_what_it_ignored(tmp_path: Path, name: str) -> None:
    done = github(tmp_path, name, {"action": "created"})
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == f"{name}: ignored, kixbot does nothing on this event\n"


@pytest.mark.parametrize("payload", ["", "{", "[]", "[" * 100_000, '{"action": "opened"}'])
def test_a_broken_payload_ends_with_2_and_a_clear_message(tmp_path: Path, payload: str) -> None:
    done = github(tmp_path, "pull_request", payload)
    assert done.returncode == 2
    assert done.stderr.startswith("error: ")
    assert "hint:" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_named_command_on_another_event_does_nothing_and_says_so(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    run = shop.run(f"push:{shop.base}", what="review")
    assert (run.code, run.log) == (0, "push: ignored, kixbot review does nothing on this event\n")
    number = shop.propose(both(WEB))
    assert shop.run(f"pull-request:{number}", what="deploy").log == (
        "review: ignored, kixbot deploy does nothing on this event\n"
    )


def test_outside_a_ci_it_says_what_to_set(tmp_path: Path) -> None:
    done = kixbot("run", cwd=tmp_path)
    assert done.returncode == 2
    assert done.stderr == (
        "error: environment: no CI event found\n"
        "  hint: run kixbot in GitHub Actions or GitLab CI, or set KIX_LOCAL_FORGE and KIX_LOCAL_EVENT\n"
    )


def test_a_folder_that_is_no_forge_and_a_pull_request_that_is_not_there_are_named(tmp_path: Path) -> None:
    done = kixbot("run", cwd=tmp_path, KIX_LOCAL_FORGE=str(tmp_path), KIX_LOCAL_EVENT="schedule")
    assert done.returncode == 4
    assert f"{tmp_path}: no local forge" in done.stderr
    shop = Shop(tmp_path / "shop")
    done = kixbot("run", cwd=tmp_path, KIX_LOCAL_FORGE=str(shop.world.folder), KIX_LOCAL_EVENT="pull-request:99")
    assert done.returncode == 4
    assert "pull request 99: not in the local forge" in done.stderr


def test_a_usage_error_ends_with_2_and_help_names_every_command(tmp_path: Path) -> None:
    done = kixbot("run", "--nonsense", cwd=tmp_path)
    assert done.returncode == 2
    assert "No such option" in done.stderr
    done = kixbot("--help", cwd=tmp_path)
    assert done.returncode == 0
    for command in ("run", "review", "deploy", "pins", "demo"):
        assert command in done.stdout


def test_help_loads_no_client(tmp_path: Path) -> None:
    program = (
        "import sys\n"
        "from kixbot.bot.main import execute\n"
        "execute(['--help'])\n"
        "print(sorted({'kubernetes','github','gitlab','jinja2','pydantic'} & set(sys.modules)), file=sys.stderr)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    assert done.stderr == "[]\n"


def test_a_broken_kix_toml_on_the_default_branch_is_named(tmp_path: Path) -> None:
    shop = Shop(tmp_path, SETTINGS + "nonsense = [")
    run = shop.push(shop.base)
    assert run.code == 2
    assert "error: kix.toml: broken TOML" in run.log


def test_a_review_that_cannot_be_made_leaves_no_status_pending(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    number = shop.propose({"kix.toml": "nonsense = ["})
    run = shop.review(number)
    assert run.code == 2
    head = shop.world.forge.get_pull_request(number).head_sha
    assert {state for state, _ in shop.world.statuses(head).values()} == {"error"}


def test_a_comment_command_is_ignored_with_a_sentence(tmp_path: Path) -> None:
    done = github(tmp_path, "issue_comment", payloads.comment("hello"))
    assert (done.returncode, done.stdout) == (0, "issue_comment: ignored, it does not begin with /kix\n")


def test_a_merge_queue_gets_statuses_and_no_comment(tmp_path: Path) -> None:
    """The speculative commit is reviewed by the same code; the local forge has no queue, so the handler is called."""
    shop = Shop(tmp_path)
    number = shop.propose(both(WEB.replace("1.4.2", "1.5.0")))
    head = shop.world.forge.get_pull_request(number).head_sha
    environment = {"KIX_LOCAL_FORGE": str(shop.world.folder)}
    (tmp_path / "scratch").mkdir()
    job = open_job(load({}, environment), environment, tmp_path / "scratch", Outputs(environment, tmp_path / "out"))
    event = MergeGroup(head_sha=head, base_ref="main", base_sha=shop.base)
    assert dispatch(job, event, "run") == 0
    assert shop.comments(number) == []
    assert shop.world.statuses(head)["kix/check"][0] == "success"


def test_no_other_process_may_read_its_memory(tmp_path: Path) -> None:
    program = (
        "import ctypes\n"
        "from kixbot.bot import main\n"
        "main._close_memory()\n"
        "print(ctypes.CDLL(None).prctl(3, 0, 0, 0, 0))\n"  # PR_GET_DUMPABLE
    )
    done = subprocess.run(
        [sys.executable, "-c", program], env={"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=True
    )
    assert done.stdout == "0\n"


def test_an_error_that_quotes_a_pull_request_is_no_command_to_the_runner(tmp_path: Path) -> None:
    shop = Shop(tmp_path / "shop")
    number = shop.propose({"kix.toml": SETTINGS + '[clusters."x\\n::add-mask::a\\n##[stop-commands]b"]\npath = "x"\n'})
    place = {"KIX_LOCAL_FORGE": str(shop.world.folder), "KIX_LOCAL_EVENT": f"pull-request:{number}"}
    done = kixbot("run", cwd=tmp_path, **place)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "error: kix.toml: [clusters.x\n"
        ": :add-mask: :a\n"
        "## [stop-commands]b]: no name for a cluster\n"
        "  hint: use at most 50 lower-case letters, digits and hyphens\n"
    )


def test_the_file_of_the_diff_moves_no_cursor(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    number = shop.propose(both(WEB.replace("ghcr.io/acme/web:1.4.2", '"x\\n\\e[2J\\u202e"')))
    assert "+ \\x1b[2J\\u202e\n" in shop.review(number).files["kix-diff.txt"]
