"""GitHub, github.com or Enterprise, through PyGithub. The only room where its client is used."""

import base64
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from kixbot.forges import github_commits, github_history, github_queries, github_shapes
from kixbot.forges.github_client import GitHubClient
from kixbot.forges.interface import InvalidNameError, NotFoundError, PermissionDeniedError
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

# Comment: GitHub's 422 says "maximum is 65536 characters". Status description 140 and context 255: GitHub's own 422s.
LIMITS = Limits(comment=65_536, unit=Unit.UTF16, status_description=140, status_context=255, mermaid=50_000)
_COMPARED_FILES = 300  # the compare call lists no more files (REST description)
_GITHUB_TOKEN_LOGIN = "github-actions[bot]"  # noqa: S105  GITHUB_TOKEN may ask neither `viewer` nor `/user` everywhere


class GitHubForge:
    """One repository on GitHub, seen through one token. See `interface.Forge` for what each method promises."""

    kind: ForgeKind = "github"
    limits = LIMITS

    def __init__(
        self,
        *,
        token: str,
        repository: str,
        api_url: str = "https://api.github.com",
        graphql_url: str | None = None,
        clock: Clock | None = None,
    ) -> None:
        if repository.count("/") != 1 or not all(part.strip(".") for part in repository.split("/")):
            raise InvalidNameError(f"{repository}: not a repository", hint="OWNER/NAME")
        self._client = GitHubClient(token=token, api_url=api_url, graphql_url=graphql_url, clock=clock or Clock())
        self._repository = repository
        self._root = f"/repos/{repository}"

    def get_viewer(self) -> str:
        """The login as comments carry it: GraphQL's viewer, which GITHUB_TOKEN may ask and `/user` it may not."""
        try:
            login: str = self._client.graphql(github_queries.VIEWER, {})["viewer"]["login"]
        except PermissionDeniedError:
            return _GITHUB_TOKEN_LOGIN
        return login

    def get_default_branch(self) -> str:
        """The default branch's name."""
        name: str = self._client.get(self._root)["default_branch"]
        return name

    def get_pull_request(self, number: int) -> PullRequest:
        """One pull request."""
        return github_shapes.pull_request(self._client.get(f"{self._root}/pulls/{number}"))

    def find_open_pull_request(self, *, head_ref: str, base_ref: str) -> PullRequest | None:
        """The open pull request of a branch of this repository."""
        owner = self._repository.partition("/")[0]
        query = {"state": "open", "head": f"{owner}:{head_ref}", "base": base_ref}
        for data in self._client.pages(f"{self._root}/pulls", query):
            found = github_shapes.pull_request(data)
            if not found.from_fork and found.head_ref == head_ref:
                return found
        return None

    def list_comments(self, number: int) -> tuple[Comment, ...]:
        """All comments, oldest first."""
        return tuple(map(github_shapes.comment, self._client.pages(f"{self._root}/issues/{number}/comments")))

    def create_comment(self, number: int, body: str) -> Comment:
        """A new comment; after a lost answer an equal one of our own is looked for first."""
        path = f"{self._root}/issues/{number}/comments"
        return once(
            lambda: github_shapes.comment(self._client.write("POST", path, {"body": body}, repeatable=False)),
            lambda: find_own_comment(self, number, body),
        )

    def update_comment(self, number: int, comment_id: str, body: str) -> Comment:  # noqa: ARG002  GitLab needs it
        """The comment with its body replaced."""
        path = f"{self._root}/issues/comments/{check_number(comment_id)}"
        return github_shapes.comment(self._client.write("PATCH", path, {"body": body}, repeatable=True))

    def minimise_comment(self, number: int, comment_id: str) -> None:  # noqa: ARG002
        """Folds a comment away as outdated."""
        node = self._client.get(f"{self._root}/issues/comments/{check_number(comment_id)}")["node_id"]
        self._client.graphql(github_queries.MINIMIZE, {"input": {"subjectId": node, "classifier": "OUTDATED"}})

    def set_status(self, sha: str, status: Status) -> None:
        """Sets a commit status; the newest of a context counts, so sending it twice is the same."""
        body = {"state": status.state.value, "context": status.context, "description": status.description}
        if status.target_url:
            body["target_url"] = status.target_url
        self._client.write("POST", f"{self._root}/statuses/{sha}", body, repeatable=True)

    def create_deployment(self, *, sha: str, environment: str, task: str, description: str) -> Deployment:
        """A new deployment. By default GitHub would merge the default branch in and wait for every status."""
        path = f"{self._root}/deployments"
        body = {
            "ref": sha,
            "environment": environment,
            "task": task,
            "description": description,
            "auto_merge": False,
            "required_contexts": [],
        }
        query = {"sha": sha, "environment": environment, "task": task}
        data = once(
            lambda: self._client.write("POST", path, body, repeatable=False),
            lambda: next(self._client.pages(path, query), None),
        )
        return github_shapes.deployment(data, DeploymentState.QUEUED)

    def set_deployment_state(
        self, deployment: Deployment, state: DeploymentState, *, description: str, log_url: str | None = None
    ) -> Deployment:
        """Moves a deployment on; a repeated state is another entry of the same value."""
        body: dict[str, object] = {"state": state.value, "description": description, "auto_inactive": True}
        if log_url:
            body["log_url"] = log_url
        path = f"{self._root}/deployments/{check_number(deployment.id)}"
        self._client.write("POST", f"{path}/statuses", body, repeatable=True)
        return github_shapes.deployment(self._client.get(path), state)

    def list_merged(self, *, branch: str, after: str, until: str) -> tuple[MergedPullRequest, ...]:
        """Pull requests merged in (`after`, `until`]."""
        return github_history.list_merged(self._client, self._repository, branch=branch, after=after, until=until)

    def compare(self, base: str, head: str) -> Comparison:
        """What `head` adds to `base`."""
        path = f"{self._root}/compare/{quote(base, safe='')}...{quote(head, safe='')}"
        first: Mapping[str, Any] = self._client.get(path, {"per_page": 100})
        commits = [github_shapes.commit(data) for data in self._client.pages(path, key="commits")]
        files = tuple(file["filename"] for file in first.get("files") or ())
        return Comparison(
            merge_base=first["merge_base_commit"]["sha"],
            commits=tuple(commits),
            files=files,
            complete=len(commits) == first["total_commits"] and len(files) < _COMPARED_FILES,
        )

    def find_file(self, path: str, *, ref: str) -> bytes | None:
        """A file's bytes; the blob call takes what the contents call leaves out (over 1 MB)."""
        try:
            data = self._client.get(f"{self._root}/contents/{quote(check_path(path))}", {"ref": ref})
        except NotFoundError:
            return None
        if not isinstance(data, Mapping) or data.get("type") != "file" or data.get("target"):
            return None
        if data.get("encoding") != "base64":
            data = self._client.get(f"{self._root}/git/blobs/{data['sha']}")
        return base64.b64decode(data["content"])

    def find_branch(self, name: str) -> str | None:
        """The SHA a branch is at."""
        try:
            data = self._client.get(f"{self._root}/git/ref/heads/{quote(check_branch(name))}")
        except NotFoundError:
            return None
        sha: str = data["object"]["sha"]
        return sha

    def is_protected(self, branch: str) -> bool:
        """Whether rules or a classic protection stand on the branch."""
        quoted = quote(branch, safe="")
        if any(True for _ in self._client.pages(f"{self._root}/rules/branches/{quoted}")):
            return True
        try:
            return bool(self._client.get(f"{self._root}/branches/{quoted}")["protected"])
        except NotFoundError:
            return False

    def commit_files(
        self, *, branch: str, expected_head: str, message: str, files: tuple[FileChange, ...]
    ) -> NewCommit:
        """One signed commit on top of the expected head."""
        check_change(branch, files)
        return github_commits.commit_files(
            self._client, self._repository, branch=branch, expected_head=expected_head, message=message, files=files
        )

    def replace_branch(
        self, *, branch: str, expected_head: str | None, base: str, message: str, files: tuple[FileChange, ...]
    ) -> NewCommit:
        """Makes a branch of the bot's own one commit on `base`."""
        check_change(branch, files)
        if branch == self.get_default_branch():
            raise InvalidNameError(f"{branch}: the default branch is never replaced")
        return github_commits.replace_branch(
            self._client,
            self._repository,
            branch=branch,
            expected_head=expected_head,
            base=base,
            message=message,
            files=files,
        )

    def open_pull_request(self, *, head_ref: str, base_ref: str, title: str, body: str) -> PullRequest:
        """A new pull request; GitHub itself refuses a second one for the same branches."""
        content = {"head": head_ref, "base": base_ref, "title": title, "body": body}
        return once(
            lambda: github_shapes.pull_request(
                self._client.write("POST", f"{self._root}/pulls", content, repeatable=False)
            ),
            lambda: self.find_open_pull_request(head_ref=head_ref, base_ref=base_ref),
        )

    def update_pull_request(self, number: int, *, title: str, body: str) -> PullRequest:
        """The pull request with title and body replaced."""
        content = {"title": title, "body": body}
        return github_shapes.pull_request(
            self._client.write("PATCH", f"{self._root}/pulls/{number}", content, repeatable=True)
        )

    def get_permission(self, login: str) -> Permission:
        """What a login may do; `role_name` tells maintain and triage, which `permission` folds away."""
        try:
            data = self._client.get(f"{self._root}/collaborators/{quote(login, safe='')}/permission")
        except NotFoundError:
            return Permission.NONE
        try:
            return Permission(data["role_name"])
        except ValueError:  # a custom role: the base permission it is built on
            return Permission(data["permission"])
