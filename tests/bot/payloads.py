"""Payloads as GitHub sends them, cut to the fields that matter and some that must not."""

from typing import Any

BASE = "a" * 40
HEAD = "b" * 40
MERGE = "c" * 40
"""What GITHUB_SHA holds on a pull request: a throw-away merge commit."""


def repository(name: str = "acme/shop", default: str = "main") -> dict[str, Any]:
    return {"full_name": name, "default_branch": default, "fork": False}


def pull_request(
    action: str = "synchronize", *, head_repository: str | None = "acme/shop", **more: Any
) -> dict[str, Any]:
    return {
        "action": action,
        "number": 7,
        "pull_request": {
            "number": 7,
            "title": "Bump web",
            "head": {"ref": "bump", "sha": HEAD, "repo": repository(head_repository) if head_repository else None},
            "base": {"ref": "main", "sha": BASE, "repo": repository()},
            "merge_commit_sha": MERGE,
        },
        "repository": repository(),
        **more,
    }


def merge_group(action: str = "checks_requested") -> dict[str, Any]:
    return {
        "action": action,
        "merge_group": {
            "head_sha": HEAD,
            "head_ref": f"refs/heads/gh-readonly-queue/main/pr-7-{BASE}",
            "base_ref": "refs/heads/main",
            "base_sha": BASE,
        },
        "repository": repository(),
    }


def push(ref: str = "refs/heads/main", *, deleted: bool = False) -> dict[str, Any]:
    return {
        "ref": ref,
        "before": BASE,
        "after": "0" * 40 if deleted else HEAD,
        "deleted": deleted,
        "repository": repository(),
    }


def comment(body: str, *, action: str = "created", kind: str = "User", on_pull_request: bool = True) -> dict[str, Any]:
    issue: dict[str, Any] = {"number": 7}
    if on_pull_request:
        issue["pull_request"] = {"url": "https://api.github.com/repos/acme/shop/pulls/7"}
    return {
        "action": action,
        "issue": issue,
        "comment": {"id": 99, "body": body, "user": {"login": "alice", "type": kind}},
        "repository": repository(),
    }
