"""Which pull requests reached a branch between two commits."""

from collections.abc import Mapping
from typing import Any

from kixbot.forges import github_queries
from kixbot.forges.github_client import GitHubClient
from kixbot.forges.github_shapes import merged_pull_request
from kixbot.forges.interface import MAX_RANGE, NotFoundError, RangeTooLongError
from kixbot.forges.values import MergedPullRequest


def list_merged(
    client: GitHubClient, repository: str, *, branch: str, after: str, until: str
) -> tuple[MergedPullRequest, ...]:
    """Pull requests merged into `branch` whose commit there lies in (`after`, `until`], oldest first.

    Raises RangeTooLongError past MAX_RANGE commits, NotFoundError when `after` is no ancestor of `until`.
    """
    span = client.get(f"/repos/{repository}/compare/{after}...{until}", {"per_page": 1})
    if span["status"] not in ("ahead", "identical"):
        raise NotFoundError(f"{after}: not an ancestor of {until}", hint="the branch was rewritten since")
    if span["total_commits"] > MAX_RANGE:
        raise RangeTooLongError(f"{span['total_commits']} commits lie between {after} and {until}: range too long")
    nodes = _history(client, repository, until=until, stop=after, commits=span["total_commits"])
    return _merged_on(_first_parents(nodes, after=after, until=until), nodes, repository=repository, branch=branch)


def _history(
    client: GitHubClient, repository: str, *, until: str, stop: str, commits: int
) -> dict[str, Mapping[str, Any]]:
    """History nodes by oid, enough of them that the first-parent line down to `stop` is whole."""
    owner, _, name = repository.partition("/")
    nodes: dict[str, Mapping[str, Any]] = {}
    cursor = None
    while commits and not _reaches(nodes, until, stop):
        variables = {"owner": owner, "name": name, "until": until, "cursor": cursor}
        found = client.graphql(github_queries.MERGED, variables)["repository"]["object"]
        if not found:
            raise NotFoundError(f"{until}: not a commit of {repository}")
        page = found["history"]
        nodes.update((node["oid"], node) for node in page["nodes"])
        if not page["pageInfo"]["hasNextPage"]:
            break
        if len(nodes) > 2 * MAX_RANGE:
            # History is by date, so commits outside the range may come between; twice the range is the bound.
            raise RangeTooLongError(f"{len(nodes)} commits were read before {stop} came: range too long")
        cursor = page["pageInfo"]["endCursor"]
    return nodes


def _reaches(nodes: Mapping[str, Mapping[str, Any]], start: str, stop: str) -> bool:
    at: str | None = start
    while at is not None and at != stop:
        node = nodes.get(at)
        if node is None:
            return False
        at = _first_parent(node)
    return True


def _first_parents(nodes: Mapping[str, Mapping[str, Any]], *, after: str, until: str) -> list[str]:
    """The first-parent line (`after`, `until`], newest first. A line that passes `after` by ends at its root."""
    line = []
    at: str | None = until
    while at is not None and at != after and at in nodes:
        line.append(at)
        at = _first_parent(nodes[at])
    return line


def _merged_on(
    line: list[str], nodes: Mapping[str, Mapping[str, Any]], *, repository: str, branch: str
) -> tuple[MergedPullRequest, ...]:
    found = []
    for index, oid in enumerate(line):
        for node in nodes[oid]["associatedPullRequests"]["nodes"]:
            if not _is_merged_as(node, oid, branch):
                continue
            # A rebase or a fast-forward leaves several commits of the same pull request in a row.
            first = index
            while first + 1 < len(line) and node["number"] in _numbers(nodes[line[first + 1]]):
                first += 1
            before = _first_parent(nodes[line[first]])
            if before is not None:
                pull = merged_pull_request(node, repository)
                found.append(MergedPullRequest(pull_request=pull, before=before, last=oid))
    return tuple(reversed(found))


def _is_merged_as(node: Mapping[str, Any], oid: str, branch: str) -> bool:
    merge = node.get("mergeCommit") or {}
    return bool(node["merged"] and node["mergedAt"]) and node["baseRefName"] == branch and merge.get("oid") == oid


def _numbers(node: Mapping[str, Any]) -> set[int]:
    return {pull["number"] for pull in node["associatedPullRequests"]["nodes"]}


def _first_parent(node: Mapping[str, Any]) -> str | None:
    parents = node["parents"]["nodes"]
    return parents[0]["oid"] if parents else None
