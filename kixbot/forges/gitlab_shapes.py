"""GitLab's JSON as the forge's values. Field names are those of the REST v4 description."""

from typing import Any

from kixbot.forges.values import (
    Comment,
    CommitInfo,
    Deployment,
    DeploymentState,
    Permission,
    PullRequest,
    PullRequestState,
    StatusState,
)

_STATES = {
    "opened": PullRequestState.OPEN,
    "locked": PullRequestState.OPEN,
    "closed": PullRequestState.CLOSED,
    "merged": PullRequestState.MERGED,
}
# A status has no "error": the description says what could not be found out.
STATUS = {
    StatusState.PENDING: "pending",
    StatusState.SUCCESS: "success",
    StatusState.FAILURE: "failed",
    StatusState.ERROR: "failed",
}
DEPLOYMENT = {
    DeploymentState.QUEUED: "running",
    DeploymentState.IN_PROGRESS: "running",
    DeploymentState.SUCCESS: "success",
    DeploymentState.FAILURE: "failed",
    DeploymentState.ERROR: "failed",
    DeploymentState.INACTIVE: "canceled",
}
# Access levels: doc/api/members (10 guest, 15 planner, 20 reporter, 30 developer, 40 maintainer, 50 owner).
_LEVELS = ((50, Permission.ADMIN), (40, Permission.MAINTAIN), (30, Permission.WRITE), (20, Permission.TRIAGE))


def merge_request(data: Any, *, project: str, source: str | None) -> PullRequest:
    """A merge request of `project`; `source` is the path of the head's project, None when it is gone."""
    state = _STATES[data["state"]]
    refs = data.get("diff_refs") or {}
    merged = state is PullRequestState.MERGED
    return PullRequest(
        number=data["iid"],
        title=data["title"],
        author=data["author"]["username"],
        state=state,
        head_sha=data["sha"],
        head_ref=data["source_branch"],
        head_repository=source,
        from_fork=source != project,
        base_ref=data["target_branch"],
        base_sha=refs.get("start_sha") or "",
        head_fetch_ref=f"refs/merge-requests/{data['iid']}/head",
        url=data["web_url"],
        merge_sha=(data.get("merge_commit_sha") or data.get("squash_commit_sha") or data["sha"]) if merged else None,
        body=data.get("description") or "",
    )


def note(data: Any, *, url: str | None) -> Comment:
    """A note. Quick actions alone leave none, so `id` is always there when a body was kept."""
    where = f"{url}#note_{data['id']}" if url else None
    return Comment(id=str(data["id"]), author=data["author"]["username"], body=data["body"], url=where)


def commit(data: Any) -> CommitInfo:
    """A commit. GitLab tells a name and a mail, no login; signatures are a call of their own."""
    return CommitInfo(sha=data["id"], parents=tuple(data["parent_ids"]), author=None, message=data["message"].rstrip())


def deployment(data: Any, *, task: str, state: DeploymentState, description: str) -> Deployment:
    """A deployment; GitLab keeps neither task nor description."""
    environment = data.get("environment") or {}
    return Deployment(
        id=str(data["id"]),
        sha=data["sha"],
        environment=environment.get("name", ""),
        task=task,
        state=state,
        description=description,
    )


def permission(level: int) -> Permission:
    """An access level as a permission; guests may read."""
    for least, found in _LEVELS:
        if level >= least:
            return found
    return Permission.READ if level >= 10 else Permission.NONE
