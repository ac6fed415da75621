"""What a person's click on "merge" does to the local forge. No part of the protocol: the bot never merges."""

from pathlib import Path

from kixbot.errors import ForgeError
from kixbot.forges.local import LocalForge
from kixbot.forges.local_git import Repository
from kixbot.forges.local_store import Store
from kixbot.forges.values import PullRequestState


def merge_pull_request(folder: Path, number: int, *, by: str) -> str:
    """Merges an open pull request with a merge commit; gives its SHA. Raises ForgeError on a conflict.

    The head stays reachable as `refs/pull/N/head`, as forges keep it.
    """
    repository, store = Repository(folder), Store(folder)
    pull = LocalForge(folder).get_pull_request(number)
    if pull.state is not PullRequestState.OPEN:
        raise ForgeError(f"pull request {number}: is {pull.state.value}, not open")
    try:
        tree = repository.text("merge-tree", "--write-tree", pull.base_sha, pull.head_sha)
    except ForgeError as error:
        raise ForgeError(f"pull request {number}: conflicts with {pull.base_ref}") from error
    message = f"Merge pull request #{number} from {pull.head_ref}\n\n{pull.title}\n"
    sha = repository.commit_tree(tree, parents=(pull.base_sha, pull.head_sha), message=message, author=by)
    repository.run("update-ref", f"refs/pull/{number}/head", pull.head_sha)
    repository.move(pull.base_ref, new=sha, expected=pull.base_sha)
    document = store.get("prs", str(number), f"pull request {number}")
    store.write("prs", str(number), {**document, "state": PullRequestState.MERGED.value, "merge_sha": sha})
    return sha
