"""GitLab, gitlab.com or self-managed, through python-gitlab. The only room where its client is used."""

import base64
from typing import Any
from urllib.parse import quote

from kixbot.errors import ForgeError
from kixbot.forges import gitlab_commits, gitlab_shapes
from kixbot.forges.gitlab_client import GitLabClient, RefusedError
from kixbot.forges.interface import MAX_RANGE, InvalidNameError, NotFoundError, RangeTooLongError
from kixbot.forges.names import check_branch, check_change, check_number, check_path
from kixbot.forges.once import find_own_comment, once
from kixbot.forges.values import (
    Comment,
    Comparison,
    Deployment,
    DeploymentState,
    FileChange,
    ForgeKind,
    Limits,
    MergedPullRequest,
    NewCommit,
    Permission,
    PullRequest,
    Status,
    Unit,
)
from kixbot.retry import Clock

# Notes: doc/api/notes. Status fields: doc/api/commits and the status model. A name's 255 is our own choice.
LIMITS = Limits(
    comment=1_000_000, unit=Unit.CHARACTERS, status_description=255, status_context=255, target_url=255, mermaid=2000
)


class GitLabForge:
    """One project on GitLab, seen through one token. See `interface.Forge` for what each method promises."""

    kind: ForgeKind = "gitlab"
    limits = LIMITS

    def __init__(
        self,
        *,
        token: str,
        project: str,
        api_url: str = "https://gitlab.com/api/v4",
        job_token: bool = False,
        clock: Clock | None = None,
    ) -> None:
        self._client = GitLabClient(token=token, job_token=job_token, api_url=api_url, clock=clock or Clock())
        self._project = project
        self._root = f"/projects/{quote(project, safe='')}"

    def get_viewer(self) -> str:
        """The username the token writes as."""
        name: str = self._client.get("/user")["username"]
        return name

    def get_default_branch(self) -> str:
        """The default branch's name."""
        name: str = self._client.get(self._root)["default_branch"]
        return name

    def get_pull_request(self, number: int) -> PullRequest:
        """One merge request."""
        return self._merge_request(self._client.get(f"{self._root}/merge_requests/{number}"))

    def find_open_pull_request(self, *, head_ref: str, base_ref: str) -> PullRequest | None:
        """The open merge request of a branch of this project."""
        query = {"state": "opened", "source_branch": head_ref, "target_branch": base_ref}
        for data in self._client.pages(f"{self._root}/merge_requests", query):
            if data["source_project_id"] == data["target_project_id"]:
                return self.get_pull_request(data["iid"])
        return None

    def list_comments(self, number: int) -> tuple[Comment, ...]:
        """All notes people wrote, oldest first."""
        query = {"sort": "asc", "order_by": "created_at"}
        notes = self._client.pages(f"{self._root}/merge_requests/{number}/notes", query)
        return tuple(gitlab_shapes.note(data, url=None) for data in notes if not data["system"])

    def create_comment(self, number: int, body: str) -> Comment:
        """A new note; after a lost answer an equal one of our own is looked for first."""
        path = f"{self._root}/merge_requests/{number}/notes"

        def write() -> Comment:
            data = self._client.write("post", path, {"body": body}, repeatable=False)
            if "id" not in data:
                raise ForgeError(f"merge request {number}: the note held quick actions only, so GitLab kept none")
            return gitlab_shapes.note(data, url=None)

        return once(write, lambda: find_own_comment(self, number, body))

    def update_comment(self, number: int, comment_id: str, body: str) -> Comment:
        """The note with its body replaced."""
        path = f"{self._root}/merge_requests/{number}/notes/{check_number(comment_id)}"
        return gitlab_shapes.note(self._client.write("put", path, {"body": body}, repeatable=True), url=None)

    def minimise_comment(self, number: int, comment_id: str) -> None:
        """GitLab cannot fold a note away."""

    def set_status(self, sha: str, status: Status) -> None:
        """Sets a commit status. Posting the state it already has is refused as a transition, which is no error."""
        body = {
            "state": gitlab_shapes.STATUS[status.state],
            "name": status.context,
            "description": status.description,
        }
        if status.target_url:
            body["target_url"] = status.target_url
        try:
            self._client.write("post", f"{self._root}/statuses/{sha}", body, repeatable=True)
        except RefusedError as error:
            if "cannot transition" not in error.said.lower():
                raise

    def create_deployment(self, *, sha: str, environment: str, task: str, description: str) -> Deployment:
        """A new deployment. GitLab asks for a ref; the default branch is what is deployed."""
        path = f"{self._root}/deployments"
        body = {
            "environment": environment,
            "sha": sha,
            "ref": self.get_default_branch(),
            "tag": False,
            "status": gitlab_shapes.DEPLOYMENT[DeploymentState.QUEUED],
        }
        query = {"environment": environment, "order_by": "id", "sort": "desc", "status": body["status"]}
        data = once(
            lambda: self._client.write("post", path, body, repeatable=False),
            lambda: next((found for found in self._client.pages(path, query) if found["sha"] == sha), None),
        )
        return gitlab_shapes.deployment(data, task=task, state=DeploymentState.QUEUED, description=description)

    def set_deployment_state(
        self,
        deployment: Deployment,
        state: DeploymentState,
        *,
        description: str,
        log_url: str | None = None,  # noqa: ARG002  GitLab links the job itself
    ) -> Deployment:
        """Moves a deployment on; a state GitLab does not tell from the last one is not sent again."""
        new = gitlab_shapes.DEPLOYMENT[state]
        path = f"{self._root}/deployments/{check_number(deployment.id)}"
        if new == gitlab_shapes.DEPLOYMENT[deployment.state]:
            data = self._client.get(path)
        else:
            data = self._client.write("put", path, {"status": new}, repeatable=True)
        return gitlab_shapes.deployment(data, task=deployment.task, state=state, description=description)

    def list_merged(self, *, branch: str, after: str, until: str) -> tuple[MergedPullRequest, ...]:
        """Merge requests merged in (`after`, `until`], by the first-parent history of the range."""
        commits = self._root + "/repository/commits"
        if any(True for _ in self._client.pages(commits, {"ref_name": f"{until}..{after}", "per_page": 1})):
            raise NotFoundError(f"{after}: not an ancestor of {until}", hint="the branch was rewritten since")
        line: list[Any] = []
        for data in self._client.pages(commits, {"ref_name": f"{after}..{until}", "first_parent": True}):
            line.append(data)
            if len(line) > MAX_RANGE:
                raise RangeTooLongError(f"over {MAX_RANGE} commits lie between {after} and {until}: range too long")
        merged: dict[int, MergedPullRequest] = {}
        for commit in line:  # newest first: the first commit of a request that is seen is its last
            for data in self._client.get(f"{commits}/{commit['id']}/merge_requests"):
                if data["state"] != "merged" or data["target_branch"] != branch or not commit["parent_ids"]:
                    continue
                known = merged.get(data["iid"])
                if known is None and commit["id"] not in _landed(data):
                    continue
                pull = known.pull_request if known else self._merge_request(data)
                last = known.last if known else commit["id"]
                merged[data["iid"]] = MergedPullRequest(pull_request=pull, before=commit["parent_ids"][0], last=last)
        return tuple(reversed(merged.values()))

    def compare(self, base: str, head: str) -> Comparison:
        """What `head` adds to `base`."""
        data = self._client.get(f"{self._root}/repository/compare", {"from": base, "to": head})
        query = {"refs[]": [base, head]}
        merge_base = self._client.get(f"{self._root}/repository/merge_base", query)["id"]
        paths = {path for diff in data["diffs"] for path in (diff["old_path"], diff["new_path"])}
        return Comparison(
            merge_base=merge_base,
            commits=tuple(map(gitlab_shapes.commit, data["commits"])),
            files=tuple(sorted(paths)),
            complete=not data["compare_timeout"],
        )

    def find_file(self, path: str, *, ref: str) -> bytes | None:
        """A file's bytes."""
        data = gitlab_commits.find_file(self._client, self._root, check_path(path), ref=ref)
        return base64.b64decode(data["content"]) if data else None

    def find_branch(self, name: str) -> str | None:
        """The SHA a branch is at."""
        return gitlab_commits.find_branch(self._client, self._root, check_branch(name))

    def is_protected(self, branch: str) -> bool:
        """Whether the token may not push to the branch."""
        return gitlab_commits.is_protected(self._client, self._root, check_branch(branch))

    def commit_files(
        self, *, branch: str, expected_head: str, message: str, files: tuple[FileChange, ...]
    ) -> NewCommit:
        """One commit on top of the expected head."""
        check_change(branch, files)
        return gitlab_commits.commit_files(
            self._client, self._root, branch=branch, expected_head=expected_head, message=message, files=files
        )

    def replace_branch(
        self, *, branch: str, expected_head: str | None, base: str, message: str, files: tuple[FileChange, ...]
    ) -> NewCommit:
        """Makes a branch of the bot's own one commit on `base`."""
        check_change(branch, files)
        if branch == self.get_default_branch():
            raise InvalidNameError(f"{branch}: the default branch is never replaced")
        return gitlab_commits.replace_branch(
            self._client,
            self._root,
            branch=branch,
            expected_head=expected_head,
            base=base,
            message=message,
            files=files,
        )

    def open_pull_request(self, *, head_ref: str, base_ref: str, title: str, body: str) -> PullRequest:
        """A new merge request; GitLab itself refuses a second one for the same branches."""
        content = {"source_branch": head_ref, "target_branch": base_ref, "title": title, "description": body}
        path = f"{self._root}/merge_requests"
        return once(
            lambda: self._merge_request(self._client.write("post", path, content, repeatable=False)),
            lambda: self.find_open_pull_request(head_ref=head_ref, base_ref=base_ref),
        )

    def update_pull_request(self, number: int, *, title: str, body: str) -> PullRequest:
        """The merge request with title and description replaced."""
        content = {"title": title, "description": body}
        path = f"{self._root}/merge_requests/{number}"
        return self._merge_request(self._client.write("put", path, content, repeatable=True))

    def get_permission(self, login: str) -> Permission:
        """What a member may do, inherited membership included."""
        for data in self._client.pages(f"{self._root}/members/all", {"query": login}):
            if data["username"] == login:
                return gitlab_shapes.permission(data["access_level"])
        return Permission.NONE

    def _merge_request(self, data: Any) -> PullRequest:
        source: str | None = self._project
        if data["source_project_id"] != data["target_project_id"]:
            source = self._path_of(data["source_project_id"])
        return gitlab_shapes.merge_request(data, project=self._project, source=source)

    def _path_of(self, project_id: int | None) -> str | None:
        if project_id is None:
            return None
        try:
            path: str = self._client.get(f"/projects/{project_id}")["path_with_namespace"]
        except NotFoundError:  # a private fork: it is one, and that is all there is to know
            return None
        return path


def _landed(data: Any) -> set[str | None]:
    """The commits on the target branch that a merged request may end in: merge, squash, or its head."""
    return {data.get("merge_commit_sha"), data.get("squash_commit_sha"), data["sha"]}
