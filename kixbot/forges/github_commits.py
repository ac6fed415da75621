"""Commits made through GitHub's API: signed by GitHub, only on top of the head that was read.

`createCommitOnBranch` compares the branch with `expectedHeadOid` and answers a moved head with HTTP 200 and an error
of type STALE_DATA. `updateRefs` compares with `beforeOid`; resetting a branch to its base first would close its pull
request for good, so a new head is built on a scratch branch and moved over in one step.
"""

import base64

from kixbot.errors import ForgeError
from kixbot.forges import github_queries
from kixbot.forges.github_client import GitHubClient, StaleDataError
from kixbot.forges.interface import NotFoundError, ProtectedBranchError, StaleHeadError
from kixbot.forges.once import UncertainWriteError
from kixbot.forges.values import FileChange, NewCommit

_NO_COMMIT = "0" * 40  # beforeOid of a branch that must not exist yet
_RULES = ("protected", "rule violation", "required", "must be made through a pull request")


def commit_files(
    client: GitHubClient,
    repository: str,
    *,
    branch: str,
    expected_head: str,
    message: str,
    files: tuple[FileChange, ...],
) -> NewCommit:
    """One commit on `branch`, only if it is still at `expected_head`. Raises StaleHeadError, ProtectedBranchError."""
    headline, _, body = message.partition("\n")
    change = {
        "branch": {"repositoryNameWithOwner": repository, "branchName": branch},
        "expectedHeadOid": expected_head,
        "message": {"headline": headline, "body": body.strip()},
        "fileChanges": {
            "additions": [
                {"path": file.path, "contents": base64.b64encode(file.content).decode("ascii")}
                for file in files
                if file.content is not None
            ],
            "deletions": [{"path": file.path} for file in files if file.content is None],
        },
    }
    try:
        answer = client.graphql(github_queries.COMMIT, {"input": change}, repeatable=False)
    except StaleDataError:
        raise StaleHeadError(f"{branch}: no longer at {expected_head}") from None
    except UncertainWriteError:
        made = _made_meanwhile(client, repository, branch=branch, expected_head=expected_head, message=message)
        if made is None:
            raise
        return made
    except ForgeError as error:
        if any(word in error.message.lower() for word in _RULES):
            raise ProtectedBranchError(f"{branch}: {error.message}", hint="use a pull request") from None
        raise
    commit = answer["createCommitOnBranch"]["commit"]
    return NewCommit(sha=commit["oid"], url=commit["url"])


def replace_branch(
    client: GitHubClient,
    repository: str,
    *,
    branch: str,
    expected_head: str | None,
    base: str,
    message: str,
    files: tuple[FileChange, ...],
) -> NewCommit:
    """Makes `branch` exactly one commit on `base`, by a scratch branch and a compared move. Raises StaleHeadError."""
    scratch = f"{branch}-next"
    reference = f"/repos/{repository}/git/refs/heads/{scratch}"
    _delete(client, reference)
    client.write(
        "POST", f"/repos/{repository}/git/refs", {"ref": f"refs/heads/{scratch}", "sha": base}, repeatable=False
    )
    try:
        made = commit_files(client, repository, branch=scratch, expected_head=base, message=message, files=files)
        move = {
            "name": f"refs/heads/{branch}",
            "beforeOid": expected_head or _NO_COMMIT,
            "afterOid": made.sha,
            "force": True,
        }
        repository_id = client.get(f"/repos/{repository}")["node_id"]
        try:
            client.graphql(
                github_queries.UPDATE_REFS,
                {"input": {"repositoryId": repository_id, "refUpdates": [move]}},
                repeatable=False,
            )
        except StaleDataError:
            raise StaleHeadError(f"{branch}: no longer at {expected_head or 'nothing'}") from None
    finally:
        _delete(client, reference)
    return made


def _delete(client: GitHubClient, reference: str) -> None:
    """Deletes a ref that may be gone already (GitHub answers 422 `Reference does not exist`, or 404)."""
    try:
        client.write("DELETE", reference, {}, repeatable=True)
    except NotFoundError:
        return
    except ForgeError as error:
        if "does not exist" not in error.message:
            raise


def _made_meanwhile(
    client: GitHubClient, repository: str, *, branch: str, expected_head: str, message: str
) -> NewCommit | None:
    """The commit that a write with a lost answer made after all: one child of `expected_head` with our message."""
    head = client.get(f"/repos/{repository}/commits/{branch}")
    parents = [parent["sha"] for parent in head["parents"]]
    if parents == [expected_head] and head["commit"]["message"].strip() == message.strip():
        return NewCommit(sha=head["sha"], url=head["html_url"])
    return None
