"""Events as GitHub sends them: the publisher's own examples with this story's names in them, held to its schema.

What no example shows (a fork whose repository is gone, a schedule) is derived from one that is close.
"""

import copy
import json
from functools import cache
from typing import Any

from jsonschema import Draft7Validator

from tests.parts.paths import NODE_MODULES

OWNER = "acme"
NAME = "shop"
REPOSITORY = f"{OWNER}/{NAME}"


def pull_request(
    number: int, *, head: str, head_ref: str, base: str, action: str = "opened", fork: str | None = None, **more: Any
) -> dict[str, Any]:
    """A pull request of `head` into main. `fork` is its head's repository, "" one that is gone; `more` goes on top."""
    payload = _example("pull_request", action)
    pull = payload["pull_request"]
    payload["number"] = pull["number"] = number
    pull["base"] |= {"ref": "main", "sha": base, "label": f"{OWNER}:main", "repo": _named(pull["base"]["repo"])}
    pull["head"] |= {"ref": head_ref, "sha": head, "label": f"{OWNER}:{head_ref}"}
    pull["head"]["repo"] = _named(pull["head"]["repo"])
    if fork == "":
        pull["head"]["repo"] = None
    elif fork is not None:
        owner, _, name = fork.partition("/")
        pull["head"]["repo"] |= {"full_name": fork, "name": name, "fork": True}
        pull["head"]["repo"]["owner"]["login"] = owner
    # What GITHUB_SHA holds on this event too: a throw-away merge, on which no status may ever land.
    pull["merge_commit_sha"] = "f" * 40
    return _held("pull_request", payload | more, action)


def push(*, before: str, after: str, ref: str = "refs/heads/main") -> dict[str, Any]:
    """A push to a branch."""
    payload = _example("push", None)
    payload |= {"ref": ref, "before": before, "after": after, "created": False, "forced": False, "base_ref": None}
    payload["head_commit"]["id"] = after
    return _held("push", payload, None)


def comment(number: int, body: str) -> dict[str, Any]:
    """Somebody comments on a pull request, which is an issue with one field more."""
    payload = _example("issue_comment", "created")
    payload["issue"]["number"] = number
    address = f"https://api.github.com/repos/{REPOSITORY}/pulls/{number}"
    page = f"https://github.com/{REPOSITORY}/pull/{number}"
    payload["issue"]["pull_request"] = {
        "url": address, "html_url": page, "diff_url": f"{page}.diff", "patch_url": f"{page}.patch",
    }  # fmt: skip
    payload["comment"]["body"] = body
    return _held("issue_comment", payload, "created")


def schedule() -> dict[str, Any]:
    """The clock: a cron line and the repository, no schema is published."""
    return {"schedule": "17 4 * * *", "repository": _named(_example("push", None)["repository"])}


def other(name: str) -> dict[str, Any]:
    """The first example of an event kixbot does nothing for."""
    payload: dict[str, Any] = copy.deepcopy(_examples()[name][0])
    return payload


def other_names() -> list[str]:
    """Every event there is an example of, but those that a run reacts to."""
    reacted = {"pull_request", "push", "issue_comment", "merge_group", "workflow_dispatch"}
    return sorted(set(_examples()) - reacted)


def _example(name: str, action: str | None) -> dict[str, Any]:
    # The oldest examples are older than the schema and lack what it requires since.
    every = [one for one in _examples()[name] if one.get("action") == action and not one.get("deleted")]
    payload: dict[str, Any] = copy.deepcopy(next(one for one in every if not _problems(name, one, action)))
    payload["repository"] = _named(payload["repository"])
    return payload


def _named(repository: dict[str, Any]) -> dict[str, Any]:
    owner = {**repository["owner"], "login": OWNER}
    return {**repository, "name": NAME, "full_name": REPOSITORY, "default_branch": "main", "owner": owner}


def _held(name: str, payload: dict[str, Any], action: str | None) -> dict[str, Any]:
    assert _problems(name, payload, action) == []
    return payload


def _problems(name: str, payload: dict[str, Any], action: str | None) -> list[str]:
    definition = f"{name}${action or 'event'}"
    validator = Draft7Validator({"$ref": f"#/definitions/{definition}", "definitions": _schema()["definitions"]})
    return [f"{definition} {one.json_path}: {one.message[:200]}" for one in validator.iter_errors(payload)]


@cache
def _examples() -> dict[str, list[dict[str, Any]]]:
    file = NODE_MODULES.get("node_modules/@octokit/webhooks-examples/api.github.com/index.json")
    return {one["name"]: one["examples"] for one in json.loads(file.read_text(encoding="utf-8"))}


@cache
def _schema() -> dict[str, Any]:
    file = NODE_MODULES.get("node_modules/@octokit/webhooks-schemas/schema.json")
    schema: dict[str, Any] = json.loads(file.read_text(encoding="utf-8"))
    return schema
