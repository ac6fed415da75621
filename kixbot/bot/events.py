"""A CI environment and its payload → one Event. Pure: mappings in, a value out.

The SHA of a pull request is the payload's head, never GITHUB_SHA: that is a throw-away merge commit, and a status set
on it shows nowhere. An event that kixbot does nothing for becomes `Ignored` with a sentence, never an error; a known
event whose payload lacks what it must have is an error that names the field.
"""

from collections.abc import Mapping
from typing import Any

from kixbot.bot.event_values import Command, Event, Ignored, Manual, MergeGroup, Push, Review, Schedule
from kixbot.bot.payload import SHA, Payload, get_sha, known_sha
from kixbot.errors import UsageError

COMMAND = "/kix"


def read_event(environment: Mapping[str, str], payload: Mapping[str, Any]) -> Event:
    """The event of this run.

    `payload` is what GITHUB_EVENT_PATH holds, or `prs/N.json` of a local forge; GitLab has none. The local forge wins
    over both, so that tests and the demo can run inside another CI. Raises UsageError for a broken environment.
    """
    if environment.get("KIX_LOCAL_FORGE"):
        return _local(environment, payload)
    if environment.get("GITHUB_EVENT_NAME"):
        return _github(environment, payload)
    if environment.get("GITLAB_CI"):
        return _gitlab(environment)
    raise UsageError(
        "environment: no CI event found",
        hint="run kixbot in GitHub Actions or GitLab CI, or set KIX_LOCAL_FORGE and KIX_LOCAL_EVENT",
    )


# --- GitHub: https://docs.github.com/en/actions/reference/events-that-trigger-workflows ---------------------------

_REVIEWED = frozenset({"opened", "synchronize", "reopened", "ready_for_review"})


def _github(environment: Mapping[str, str], payload: Mapping[str, Any]) -> Event:
    name = environment["GITHUB_EVENT_NAME"]
    read = Payload(name, payload)
    default = read.find_text("repository.default_branch")
    match name:
        case "pull_request":
            return _pull_request(read, default)
        case "merge_group":
            return _merge_group(read, default)
        case "push":
            return _push(read, default)
        case "schedule":
            return Schedule(
                sha=environment.get("GITHUB_SHA") or None,
                branch=environment.get("GITHUB_REF_NAME") or None,
                default_branch=default,
            )
        case "workflow_dispatch":
            return _dispatch(environment, default)
        case "issue_comment":
            return _comment(read, default)
        case "pull_request_target":
            return Ignored(
                sentence="pull_request_target: ignored: it puts secrets beside a stranger's code; use pull_request"
            )
    return Ignored(sentence=f"{name}: ignored, kixbot does nothing on this event")


def _pull_request(read: Payload, default: str | None) -> Event:
    action = read.get_text("action")
    if action not in _REVIEWED and not (action == "edited" and read.find("changes.base") is not None):
        return Ignored(sentence=f"pull_request {action}: ignored, neither commits nor base changed")
    head = read.find("pull_request.head.repo.full_name")
    return Review(
        number=read.get_number("pull_request.number"),
        head_sha=read.get_sha("pull_request.head.sha"),
        base_ref=read.get_text("pull_request.base.ref"),
        base_sha=read.get_sha("pull_request.base.sha"),
        # A fork whose repository is gone has `head.repo: null`.
        fork=head is None or head != read.find("pull_request.base.repo.full_name"),
        default_branch=default,
    )


def _merge_group(read: Payload, default: str | None) -> Event:
    action = read.get_text("action")
    if action != "checks_requested":
        return Ignored(sentence=f"merge_group {action}: ignored, no check is asked for")
    return MergeGroup(
        head_sha=read.get_sha("merge_group.head_sha"),
        base_ref=read.get_text("merge_group.base_ref").removeprefix("refs/heads/"),
        base_sha=read.get_sha("merge_group.base_sha"),
        default_branch=default,
    )


def _push(read: Payload, default: str | None) -> Event:
    ref = read.get_text("ref")
    if not ref.startswith("refs/heads/"):
        return Ignored(sentence=f"push to {ref}: ignored, it is no branch")
    branch = ref.removeprefix("refs/heads/")
    if read.find("deleted") is True:
        return Ignored(sentence=f"push to {branch}: ignored, the branch was deleted")
    if default is not None and branch != default:
        return Ignored(sentence=f"push to {branch}: ignored, only {default} is deployed")
    before = known_sha(read.find_text("before"))
    return Push(sha=read.get_sha("after"), branch=branch, default_branch=default, before=before)


def _dispatch(environment: Mapping[str, str], default: str | None) -> Event:
    ref = environment.get("GITHUB_REF", "")
    branch = ref.removeprefix("refs/heads/")
    if not ref.startswith("refs/heads/") or (default is not None and branch != default):
        return Ignored(sentence=f"workflow_dispatch on {ref}: ignored, only the default branch is deployed")
    return Manual(sha=get_sha(environment, "GITHUB_SHA"), branch=branch, default_branch=default)


def _comment(read: Payload, default: str | None) -> Event:
    action = read.get_text("action")
    if action != "created":
        return Ignored(sentence=f"issue_comment {action}: ignored, only new comments are read")
    if read.find("issue.pull_request") is None:
        return Ignored(sentence="issue_comment on an issue: ignored, it is no pull request")
    words = _words(read.find_text("comment.body") or "")
    if words is None:
        return Ignored(sentence=f"issue_comment: ignored, it does not begin with {COMMAND}")
    if read.find("comment.user.type") == "Bot":
        return Ignored(sentence="issue_comment by a bot: ignored, commands come from people")
    return Command(
        number=read.get_number("issue.number"),
        comment_id=str(read.get_number("comment.id")),
        author=read.get_text("comment.user.login"),
        words=words,
        default_branch=default,
    )


def _words(body: str) -> tuple[str, ...] | None:
    """The words of a command's first line; None when the comment is no command."""
    first = body.split("\n", 1)[0].split()
    return tuple(first) if first and first[0] == COMMAND and body.startswith(COMMAND) else None


# --- GitLab: https://docs.gitlab.com/ci/variables/predefined_variables/ --------------------------------------------


def _gitlab(environment: Mapping[str, str]) -> Event:
    source = environment.get("CI_PIPELINE_SOURCE", "")
    default = environment.get("CI_DEFAULT_BRANCH") or None
    branch = environment.get("CI_COMMIT_BRANCH", "")
    match source:
        case "merge_request_event":
            return _merge_request(environment, default)
        case "push":
            if not branch:
                return Ignored(sentence="push of a tag: ignored, it is no branch")
            if default is not None and branch != default:
                return Ignored(sentence=f"push to {branch}: ignored, only {default} is deployed")
            before = known_sha(environment.get("CI_COMMIT_BEFORE_SHA"))
            return Push(sha=get_sha(environment, "CI_COMMIT_SHA"), branch=branch, default_branch=default, before=before)
        case "schedule":
            return Schedule(sha=environment.get("CI_COMMIT_SHA") or None, branch=branch or None, default_branch=default)
        case "web" | "api" | "trigger":
            if not branch or (default is not None and branch != default):
                return Ignored(sentence=f"{source} pipeline: ignored, only the default branch is deployed")
            return Manual(sha=get_sha(environment, "CI_COMMIT_SHA"), branch=branch, default_branch=default)
    return Ignored(sentence=f"{source or 'pipeline without a source'}: ignored, kixbot does nothing on this event")


def _merge_request(environment: Mapping[str, str], default: str | None) -> Event:
    base_ref = environment.get("CI_MERGE_REQUEST_TARGET_BRANCH_NAME", "")
    if environment.get("CI_MERGE_REQUEST_EVENT_TYPE") == "merge_train":
        return MergeGroup(
            head_sha=get_sha(environment, "CI_COMMIT_SHA"),
            base_ref=base_ref,
            base_sha=get_sha(environment, "CI_MERGE_REQUEST_TARGET_BRANCH_SHA"),
            default_branch=default,
        )
    number = environment.get("CI_MERGE_REQUEST_IID", "")
    if not number.isdecimal():
        raise UsageError("CI_MERGE_REQUEST_IID: not a number", hint="run this job in a merge request pipeline")
    # Only a merged results pipeline carries the source branch's SHA; elsewhere the commit is the head.
    head = "CI_MERGE_REQUEST_SOURCE_BRANCH_SHA"
    merge_base = environment.get("CI_MERGE_REQUEST_DIFF_BASE_SHA", "")
    return Review(
        number=int(number),
        head_sha=get_sha(environment, head if environment.get(head) else "CI_COMMIT_SHA"),
        base_ref=base_ref,
        base_sha=merge_base if SHA.fullmatch(merge_base) else None,
        fork=environment.get("CI_MERGE_REQUEST_SOURCE_PROJECT_ID") != environment.get("CI_PROJECT_ID"),
        default_branch=default,
    )


# --- the local forge ----------------------------------------------------------------------------------------------


def _local(environment: Mapping[str, str], payload: Mapping[str, Any]) -> Event:
    text = environment.get("KIX_LOCAL_EVENT", "")
    name, _, argument = text.partition(":")
    read = Payload(f"KIX_LOCAL_EVENT {name}", payload)
    match name:
        case "pull-request" if argument.isdecimal():
            return Review(
                number=int(argument),
                head_sha=read.get_sha("head_sha"),
                base_ref=read.get_text("base_ref"),
                base_sha=None,
                fork=read.find("from_fork") is True,
            )
        case "push" if SHA.fullmatch(argument):
            return Push(sha=argument, branch=read.get_text("branch"), default_branch=read.get_text("branch"))
        case "schedule" if not argument:
            return Schedule(sha=None, branch=None)
        case "pull-request" | "push" | "schedule" | "":
            raise UsageError(
                f"KIX_LOCAL_EVENT: cannot be used: {text!r}",
                hint="set it to pull-request:NUMBER, push:SHA (40 hex digits) or schedule",
            )
    return Ignored(sentence=f"{name}: ignored, kixbot does nothing on this event")
