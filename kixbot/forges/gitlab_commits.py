"""Commits through GitLab's commits API.

It has no compare-and-swap of a branch. What it has is `last_commit_id` on a file: an update of a file that changed
since is refused. So a direct commit reads the branch first, binds each file it updates to the commit it was read at,
and afterwards looks whether it landed on the expected head; a commit that raced onto another is not forced away, but
said so as stale, and the next run finds nothing left to do.
"""

import base64
from typing import Any
from urllib.parse import quote

from kixbot.forges.gitlab_client import GitLabClient, RefusedError
from kixbot.forges.interface import NotFoundError, PermissionDeniedError, ProtectedBranchError, StaleHeadError
from kixbot.forges.once import UncertainWriteError
from kixbot.forges.values import FileChange, NewCommit


def commit_files(
    client: GitLabClient, root: str, *, branch: str, expected_head: str, message: str, files: tuple[FileChange, ...]
) -> NewCommit:
    """One commit on `branch`, only if it is still at `expected_head`. Raises StaleHeadError, ProtectedBranchError."""
    if find_branch(client, root, branch) != expected_head:
        raise StaleHeadError(f"{branch}: no longer at {expected_head}")
    body = {
        "branch": branch,
        "commit_message": message,
        "actions": [_action(client, root, file, ref=expected_head, bind=True) for file in files],
    }
    made = _post(client, root, body, branch=branch, expected_head=expected_head)
    if made["parent_ids"] != [expected_head]:
        raise StaleHeadError(f"{branch}: moved while the commit was made; it stands as {made['id']}")
    return NewCommit(sha=made["id"], url=made["web_url"])


def replace_branch(
    client: GitLabClient,
    root: str,
    *,
    branch: str,
    expected_head: str | None,
    base: str,
    message: str,
    files: tuple[FileChange, ...],
) -> NewCommit:
    """Makes `branch` one commit on `base`: `start_sha` with `force` does it in one step, so its request stays open."""
    if find_branch(client, root, branch) != expected_head:
        raise StaleHeadError(f"{branch}: no longer at {expected_head or 'nothing'}")
    body = {
        "branch": branch,
        "commit_message": message,
        "start_sha": base,
        "force": expected_head is not None,
        "actions": [_action(client, root, file, ref=base, bind=False) for file in files],
    }
    made = _post(client, root, body, branch=branch, expected_head=base)
    return NewCommit(sha=made["id"], url=made["web_url"])


def find_branch(client: GitLabClient, root: str, name: str) -> str | None:
    """The SHA a branch is at, None when there is none."""
    try:
        sha: str = client.get(f"{root}/repository/branches/{quote(name, safe='')}")["commit"]["id"]
    except NotFoundError:
        return None
    return sha


def find_file(client: GitLabClient, root: str, path: str, *, ref: str) -> Any:
    """The description of a file with its content in base64, None when it is not there."""
    try:
        return client.get(f"{root}/repository/files/{quote(path, safe='')}", {"ref": ref})
    except NotFoundError:
        return None


def _action(client: GitLabClient, root: str, file: FileChange, *, ref: str, bind: bool) -> dict[str, Any]:
    there = find_file(client, root, file.path, ref=ref)
    if file.content is None:
        return {"action": "delete", "file_path": file.path}
    action: dict[str, Any] = {
        "action": "update" if there else "create",
        "file_path": file.path,
        "content": base64.b64encode(file.content).decode("ascii"),
        "encoding": "base64",
    }
    if there and bind:
        action["last_commit_id"] = there["last_commit_id"]
    return action


def _post(client: GitLabClient, root: str, body: dict[str, Any], *, branch: str, expected_head: str) -> Any:
    try:
        return client.write("post", f"{root}/repository/commits", body, repeatable=False)
    except UncertainWriteError:
        sha = find_branch(client, root, branch)
        found = client.get(f"{root}/repository/commits/{sha}") if sha else None
        if found and found["parent_ids"] == [expected_head] and found["message"].strip() == body["commit_message"]:
            return found
        raise
    except PermissionDeniedError:
        if is_protected(client, root, branch):
            raise ProtectedBranchError(f"{branch}: protected", hint="use a merge request") from None
        raise
    except RefusedError as error:
        if "not allowed to push" in error.said or "protected" in error.said:
            raise ProtectedBranchError(f"{branch}: {error.said}", hint="use a merge request") from None
        if "changed in the meantime" in error.said or "has changed" in error.said:
            raise StaleHeadError(f"{branch}: {error.said}") from None
        raise


def is_protected(client: GitLabClient, root: str, branch: str) -> bool:
    """Whether the token may not push to the branch."""
    try:
        data = client.get(f"{root}/repository/branches/{quote(branch, safe='')}")
    except NotFoundError:
        return False
    return bool(data["protected"]) and not data.get("can_push")
