"""GitHub's JSON as the forge's values. Field names are those of the REST description and the GraphQL schema."""

from typing import Any

from kixbot.forges.values import (
    Comment,
    CommitInfo,
    Deployment,
    DeploymentState,
    PullRequest,
    PullRequestState,
)

GHOST = "ghost"  # GitHub's own name for a deleted account


def pull_request(data: Any) -> PullRequest:
    """A pull request of the REST API. The head repository is null once a fork is deleted."""
    head, base = data["head"], data["base"]
    head_repository = head["repo"]["full_name"] if head.get("repo") else None
    merged = bool(data.get("merged_at"))
    return PullRequest(
        number=data["number"],
        title=data["title"],
        author=login(data.get("user")),
        state=PullRequestState.MERGED if merged else PullRequestState(data["state"]),
        head_sha=head["sha"],
        head_ref=head["ref"],
        head_repository=head_repository,
        from_fork=head_repository != base["repo"]["full_name"],
        base_ref=base["ref"],
        base_sha=base["sha"],
        head_fetch_ref=f"refs/pull/{data['number']}/head",
        url=data["html_url"],
        # Before the merge the field names a throw-away test merge.
        merge_sha=data.get("merge_commit_sha") if merged else None,
        body=data.get("body") or "",
    )


def merged_pull_request(node: Any, repository: str) -> PullRequest:
    """A merged pull request of the GraphQL API (`github_queries.MERGED`)."""
    head = node.get("headRepository") or {}
    return PullRequest(
        number=node["number"],
        title=node["title"],
        author=login(node.get("author")),
        state=PullRequestState.MERGED,
        head_sha=node["headRefOid"],
        head_ref=node["headRefName"],
        head_repository=head.get("nameWithOwner"),
        from_fork=head.get("nameWithOwner") != repository,
        base_ref=node["baseRefName"],
        base_sha=node["baseRefOid"],
        head_fetch_ref=f"refs/pull/{node['number']}/head",
        url=node["url"],
        merge_sha=node["mergeCommit"]["oid"],
        body=node.get("body") or "",
    )


def comment(data: Any) -> Comment:
    """An issue comment of the REST API. Whether it is minimised only GraphQL tells; nothing here depends on it."""
    return Comment(
        id=str(data["id"]), author=login(data.get("user")), body=data.get("body") or "", url=data["html_url"]
    )


def commit(data: Any) -> CommitInfo:
    """A commit as the compare call lists it."""
    verification = data["commit"].get("verification") or {}
    return CommitInfo(
        sha=data["sha"],
        parents=tuple(parent["sha"] for parent in data["parents"]),
        author=data["author"]["login"] if data.get("author") else None,
        message=data["commit"]["message"],
        verified=bool(verification.get("verified")),
    )


def deployment(data: Any, state: DeploymentState) -> Deployment:
    """A deployment of the REST API in a known state."""
    return Deployment(
        id=str(data["id"]),
        sha=data["sha"],
        environment=data["environment"],
        task=data["task"],
        state=state,
        description=data.get("description") or "",
        url=data["url"],
    )


def login(user: Any) -> str:
    """Who somebody is; a deleted account is GitHub's ghost."""
    return user["login"] if user else GHOST
