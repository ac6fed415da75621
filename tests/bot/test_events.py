from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, strategies as st

from kixbot.bot.event_values import Command, Event, Ignored, Manual, MergeGroup, Push, Review, Schedule
from kixbot.bot.events import read_event
from kixbot.errors import UsageError
from tests.bot import payloads
from tests.bot.payloads import BASE, HEAD, MERGE


def github(name: str, payload: Mapping[str, Any], **more: str) -> Event:
    return read_event({"GITHUB_EVENT_NAME": name, "GITHUB_SHA": MERGE, **more}, payload)


def gitlab(**variables: str) -> Event:
    return read_event(
        {"GITLAB_CI": "true", "CI_DEFAULT_BRANCH": "main", "CI_COMMIT_SHA": HEAD, "CI_PROJECT_ID": "1", **variables}, {}
    )


def sentence(event: Event) -> str:
    assert isinstance(event, Ignored)
    return event.sentence


@pytest.mark.parametrize("action", ["opened", "synchronize", "reopened"])
def test_a_pull_request_is_reviewed_at_its_head_never_at_github_sha(action: str) -> None:
    assert github("pull_request", payloads.pull_request(action)) == Review(
        number=7, head_sha=HEAD, base_ref="main", base_sha=BASE, fork=False, default_branch="main"
    )


@pytest.mark.parametrize("repository", ["mallory/shop", None])
def test_a_head_of_another_or_a_vanished_repository_is_a_fork(repository: str | None) -> None:
    event = github("pull_request", payloads.pull_request(head_repository=repository))
    assert isinstance(event, Review)
    assert event.fork


def test_an_edit_is_reviewed_only_when_the_base_changed() -> None:
    changed = payloads.pull_request("edited", changes={"base": {"ref": {"from": "old"}}})
    assert isinstance(github("pull_request", changed), Review)
    titled = payloads.pull_request("edited", changes={"title": {"from": "old"}})
    assert sentence(github("pull_request", titled)) == (
        "pull_request edited: ignored, neither commits nor base changed"
    )


def test_a_merge_queue_is_reviewed_at_its_speculative_head() -> None:
    assert github("merge_group", payloads.merge_group()) == MergeGroup(
        head_sha=HEAD, base_ref="main", base_sha=BASE, default_branch="main"
    )
    assert "no check is asked for" in sentence(github("merge_group", payloads.merge_group("destroyed")))


def test_a_push_to_the_default_branch_is_deployed() -> None:
    assert github("push", payloads.push()) == Push(sha=HEAD, branch="main", default_branch="main", before=BASE)
    fresh = {**payloads.push(), "before": "0" * 40}
    assert github("push", fresh) == Push(sha=HEAD, branch="main", default_branch="main")


@pytest.mark.parametrize(
    ("payload", "expected"),
    [
        (payloads.push("refs/heads/feature"), "push to feature: ignored, only main is deployed"),
        (payloads.push("refs/tags/v1"), "push to refs/tags/v1: ignored, it is no branch"),
        (payloads.push("refs/heads/feature", deleted=True), "push to feature: ignored, the branch was deleted"),
    ],
)
def test_other_pushes_are_ignored_and_say_so(payload: dict[str, Any], expected: str) -> None:
    assert sentence(github("push", payload)) == expected


def test_a_schedule_and_a_manual_run_take_the_default_branch() -> None:
    assert github("schedule", {"schedule": "0 4 * * *"}, GITHUB_SHA=HEAD, GITHUB_REF_NAME="main") == Schedule(
        sha=HEAD, branch="main", default_branch=None
    )
    payload = {"inputs": {}, "repository": payloads.repository()}
    assert github("workflow_dispatch", payload, GITHUB_SHA=HEAD, GITHUB_REF="refs/heads/main") == Manual(
        sha=HEAD, branch="main", default_branch="main"
    )
    other = github("workflow_dispatch", payload, GITHUB_SHA=HEAD, GITHUB_REF="refs/heads/feature")
    assert sentence(other) == ("workflow_dispatch on refs/heads/feature: ignored, only the default branch is deployed")


def test_a_command_is_the_first_line_of_a_new_comment_by_a_person_on_a_pull_request() -> None:
    assert github("issue_comment", payloads.comment("/kix diff shop\nplease")) == Command(
        number=7, comment_id="99", author="alice", words=("/kix", "diff", "shop"), default_branch="main"
    )


@pytest.mark.parametrize(
    "payload",
    [
        payloads.comment("/kix diff", action="edited"),
        payloads.comment("/kix diff", kind="Bot"),
        payloads.comment("/kix diff", on_pull_request=False),
        payloads.comment("please /kix diff"),
        payloads.comment(" /kix diff"),
        payloads.comment("/kixdiff"),
        payloads.comment(""),
    ],
)
def test_every_other_comment_is_ignored(payload: dict[str, Any]) -> None:
    assert sentence(github("issue_comment", payload)).startswith("issue_comment")


@pytest.mark.parametrize("name", ["star", "workflow_run", "pull_request_target", "nonsense"])
def test_an_event_kixbot_does_nothing_on_is_named_and_ignored(name: str) -> None:
    assert sentence(github(name, {"action": "created"})).startswith(f"{name}: ignored")


def test_a_payload_without_a_head_is_an_error_that_names_the_field() -> None:
    payload = payloads.pull_request()
    payload["pull_request"]["head"]["sha"] = "main"
    with pytest.raises(UsageError) as error:
        github("pull_request", payload)
    assert error.value.message == (
        "event pull_request: its payload holds no pull_request.head.sha that is a commit of 40 hex digits"
    )


def test_without_any_ci_the_error_says_what_to_set() -> None:
    with pytest.raises(UsageError, match="no CI event found"):
        read_event({}, {})


MERGE_REQUEST = {
    "CI_PIPELINE_SOURCE": "merge_request_event",
    "CI_MERGE_REQUEST_IID": "12",
    "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
    "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "1",
    "CI_MERGE_REQUEST_DIFF_BASE_SHA": BASE,
}


def test_a_merge_request_is_reviewed_at_its_source_also_in_a_merged_results_pipeline() -> None:
    expected = Review(number=12, head_sha=HEAD, base_ref="main", base_sha=BASE, fork=False, default_branch="main")
    assert gitlab(**MERGE_REQUEST) == expected
    merged = {"CI_COMMIT_SHA": MERGE, "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA": HEAD}
    assert gitlab(**{**MERGE_REQUEST, **merged}) == expected


def test_a_merge_request_of_another_project_is_a_fork() -> None:
    event = gitlab(**{**MERGE_REQUEST, "CI_MERGE_REQUEST_SOURCE_PROJECT_ID": "2"})
    assert isinstance(event, Review)
    assert event.fork


def test_a_merge_train_is_reviewed_without_a_comment() -> None:
    train = {"CI_MERGE_REQUEST_EVENT_TYPE": "merge_train", "CI_MERGE_REQUEST_TARGET_BRANCH_SHA": BASE}
    assert gitlab(**{**MERGE_REQUEST, **train}) == MergeGroup(
        head_sha=HEAD, base_ref="main", base_sha=BASE, default_branch="main"
    )


def test_gitlab_pushes_schedules_and_manual_pipelines_on_the_default_branch() -> None:
    assert gitlab(CI_PIPELINE_SOURCE="push", CI_COMMIT_BRANCH="main") == Push(
        sha=HEAD, branch="main", default_branch="main"
    )
    assert gitlab(CI_PIPELINE_SOURCE="push", CI_COMMIT_BRANCH="main", CI_COMMIT_BEFORE_SHA=BASE) == Push(
        sha=HEAD, branch="main", default_branch="main", before=BASE
    )
    assert gitlab(CI_PIPELINE_SOURCE="schedule", CI_COMMIT_BRANCH="main") == Schedule(
        sha=HEAD, branch="main", default_branch="main"
    )
    assert gitlab(CI_PIPELINE_SOURCE="web", CI_COMMIT_BRANCH="main") == Manual(
        sha=HEAD, branch="main", default_branch="main"
    )
    assert sentence(gitlab(CI_PIPELINE_SOURCE="push", CI_COMMIT_BRANCH="x")) == (
        "push to x: ignored, only main is deployed"
    )
    assert sentence(gitlab(CI_PIPELINE_SOURCE="push")) == "push of a tag: ignored, it is no branch"
    assert sentence(gitlab(CI_PIPELINE_SOURCE="chat")) == "chat: ignored, kixbot does nothing on this event"


def test_the_local_forge_wins_over_the_ci_it_runs_in() -> None:
    environment = {"GITHUB_EVENT_NAME": "push", "GITLAB_CI": "true", "KIX_LOCAL_FORGE": "/tmp/forge"}
    payload = {"head_sha": HEAD, "base_ref": "main", "from_fork": False, "branch": "main"}
    assert read_event({**environment, "KIX_LOCAL_EVENT": "pull-request:3"}, payload) == Review(
        number=3, head_sha=HEAD, base_ref="main", base_sha=None, fork=False
    )
    assert read_event({**environment, "KIX_LOCAL_EVENT": f"push:{HEAD}"}, payload) == Push(
        sha=HEAD, branch="main", default_branch="main"
    )
    assert read_event({**environment, "KIX_LOCAL_EVENT": "schedule"}, {}) == Schedule(sha=None, branch=None)
    assert read_event({**environment, "KIX_LOCAL_EVENT": "star:1"}, {}) == Ignored(
        sentence="star: ignored, kixbot does nothing on this event"
    )
    with pytest.raises(UsageError, match="KIX_LOCAL_EVENT: cannot be used: 'push:main'"):
        read_event({**environment, "KIX_LOCAL_EVENT": "push:main"}, payload)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=12,
)


@given(
    name=st.sampled_from(["pull_request", "merge_group", "push", "issue_comment", "schedule", "workflow_dispatch"]),
    payload=st.dictionaries(
        st.sampled_from(["action", "pull_request", "merge_group", "ref", "issue", "comment", "repository", "after"]),
        JSON,
    ),
)
def test_any_payload_ends_in_an_event_or_in_a_usage_error(name: str, payload: dict[str, Any]) -> None:
    try:
        event = github(name, payload)
    except UsageError:
        return
    assert event is not None
