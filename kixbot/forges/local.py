"""A forge that is a folder: a bare repository with `prs/`, `comments/`, `statuses/` and `deployments/` beside it.

`kixbot demo` and tests run on it, and so can anybody who wants to see what the bot would do. It is as strict as the
real ones: limits of GitHub hold, a branch moves only from the head that was expected, somebody else's comment cannot
be changed, and what `forge.json` denies is denied. `forge.json`, all of it optional:

    {"collaborators": {"alice": "write"}, "protected": ["main"], "denied": ["statuses: write"]}
"""

from pathlib import Path
from typing import Any

from kixbot.errors import ForgeError
from kixbot.forges.interface import (
    MAX_RANGE,
    InvalidNameError,
    NotFoundError,
    PermissionDeniedError,
    ProtectedBranchError,
    RangeTooLongError,
)
from kixbot.forges.local_documents import check_length, read_comment, read_commit, read_deployment
from kixbot.forges.local_git import NO_COMMIT, Repository
from kixbot.forges.local_store import Store
from kixbot.forges.names import check_branch, check_path
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
    PullRequestState,
    Status,
    Unit,
)

LIMITS = Limits(comment=65_536, unit=Unit.UTF16, status_description=140, status_context=255)
"""GitHub's, so that what is shown here also fits there."""

_OPEN = PullRequestState.OPEN.value


class LocalForge:
    """One folder, seen by one login (`viewer`)."""

    def __init__(self, folder: Path, *, viewer: str = "kixbot") -> None:
        self._folder = folder
        self._git = Repository(folder)
        self._store = Store(folder)
        self._viewer = viewer

    @property
    def kind(self) -> ForgeKind:
        return "local"

    @property
    def limits(self) -> Limits:
        return LIMITS

    def get_viewer(self) -> str:
        return self._viewer

    def get_default_branch(self) -> str:
        return self._git.text("symbolic-ref", "--short", "HEAD")

    # --- pull requests ---

    def get_pull_request(self, number: int) -> PullRequest:
        return self._pull_request(self._store.get("prs", str(number), f"pull request {number}"))

    def find_open_pull_request(self, *, head_ref: str, base_ref: str) -> PullRequest | None:
        for document in self._store.list("prs"):
            fits = document.get("head_ref") == head_ref and document.get("base_ref") == base_ref
            if fits and document.get("state") == _OPEN and not document.get("from_fork"):
                return self._pull_request(document)
        return None

    def open_pull_request(self, *, head_ref: str, base_ref: str, title: str, body: str) -> PullRequest:
        self._allow("pull-requests: write")
        for branch in (head_ref, base_ref):
            self._git.get(f"refs/heads/{check_branch(branch)}")
        if self.find_open_pull_request(head_ref=head_ref, base_ref=base_ref) is not None:
            raise ForgeError(f"{head_ref}: a pull request into {base_ref} is already open")
        document = {
            "title": title, "body": body, "author": self._viewer, "state": _OPEN, "head_ref": head_ref,
            "base_ref": base_ref, "from_fork": False,
        }  # fmt: skip
        return self.get_pull_request(self._store.add("prs", document))

    def update_pull_request(self, number: int, *, title: str, body: str) -> PullRequest:
        self._allow("pull-requests: write")
        document = self._store.get("prs", str(number), f"pull request {number}")
        self._store.write("prs", str(number), {**document, "title": title, "body": body})
        return self.get_pull_request(number)

    def _pull_request(self, document: dict[str, Any]) -> PullRequest:
        try:
            number, base_ref, head_ref = int(document["number"]), str(document["base_ref"]), str(document["head_ref"])
            state = PullRequestState(document.get("state", _OPEN))
        except (KeyError, ValueError, TypeError) as error:
            raise ForgeError("prs: a pull request lacks number, state, base_ref or head_ref") from error
        from_fork = bool(document.get("from_fork"))
        kept = f"refs/pull/{number}/head"
        follows = state is PullRequestState.OPEN and not from_fork
        head = self._git.find(f"refs/heads/{check_branch(head_ref)}") if follows else self._git.find(kept)
        if head is None:
            raise NotFoundError(f"pull request {number}: its head {head_ref} is not in the local forge")
        return PullRequest(
            number=number,
            title=str(document.get("title", "")),
            author=str(document.get("author", "")),
            state=state,
            head_sha=head,
            head_ref=head_ref,
            head_repository=document.get("head_repository") if from_fork else "local/forge",
            from_fork=from_fork,
            base_ref=base_ref,
            base_sha=self._git.get(f"refs/heads/{check_branch(base_ref)}"),
            head_fetch_ref=f"refs/heads/{head_ref}" if follows else kept,
            merge_sha=document.get("merge_sha"),
            body=str(document.get("body", "")),
        )

    # --- comments ---

    def list_comments(self, number: int) -> tuple[Comment, ...]:
        self.get_pull_request(number)
        return tuple(read_comment(document) for document in self._store.list(f"comments/{int(number)}"))

    def create_comment(self, number: int, body: str) -> Comment:
        self._allow("pull-requests: write")
        self.get_pull_request(number)
        check_length("comment", body, LIMITS.comment)
        document = {"author": self._viewer, "body": body, "minimised": False}
        return read_comment({"number": self._store.add(f"comments/{int(number)}", document), **document})

    def update_comment(self, number: int, comment_id: str, body: str) -> Comment:
        check_length("comment", body, LIMITS.comment)
        return self._change_comment(number, comment_id, body=body)

    def minimise_comment(self, number: int, comment_id: str) -> None:
        self._change_comment(number, comment_id, minimised=True)

    def _change_comment(self, number: int, comment_id: str, **changes: object) -> Comment:
        self._allow("pull-requests: write")
        folder = f"comments/{int(number)}"
        document = self._store.get(folder, comment_id, f"comment {comment_id} on pull request {number}")
        if document.get("author") != self._viewer and "body" in changes:
            raise PermissionDeniedError(
                f"comment {comment_id}: written by somebody else", permission="pull-requests: write"
            )
        document = {**document, **changes}
        self._store.write(folder, comment_id, document)
        return read_comment(document)

    # --- statuses and deployments ---

    def set_status(self, sha: str, status: Status) -> None:
        self._allow("statuses: write")
        self._git.get(sha)
        check_length("status context", status.context, LIMITS.status_context)
        check_length("status description", status.description, LIMITS.status_description)
        old = self._store.find(f"statuses/{sha}", status.context) or {}
        document = {
            "context": status.context,
            "state": status.state.value,
            "description": status.description,
            "target_url": status.target_url,
            "history": [*old.get("history", []), status.state.value],
        }
        self._store.write(f"statuses/{sha}", status.context, document)

    def create_deployment(self, *, sha: str, environment: str, task: str, description: str) -> Deployment:
        self._allow("deployments: write")
        self._git.get(sha)
        document = {
            "sha": sha, "environment": environment, "task": task, "state": DeploymentState.QUEUED.value,
            "description": description, "log_url": None,
        }  # fmt: skip
        return read_deployment({"number": self._store.add("deployments", document), **document})

    def set_deployment_state(
        self, deployment: Deployment, state: DeploymentState, *, description: str, log_url: str | None = None
    ) -> Deployment:
        self._allow("deployments: write")
        check_length("deployment description", description, LIMITS.status_description)
        document = self._store.get("deployments", deployment.id, f"deployment {deployment.id}")
        if state is DeploymentState.SUCCESS:
            for other in self._store.list("deployments"):
                same = all(other[key] == document[key] for key in ("environment", "task"))
                if same and other["number"] != document["number"] and other["state"] == state.value:
                    inactive = {**other, "state": DeploymentState.INACTIVE.value}
                    self._store.write("deployments", str(other["number"]), inactive)
        document = {**document, "state": state.value, "description": description, "log_url": log_url}
        self._store.write("deployments", deployment.id, document)
        return read_deployment(document)

    # --- history and files ---

    def list_merged(self, *, branch: str, after: str, until: str) -> tuple[MergedPullRequest, ...]:
        start, end = self._git.get(after), self._git.get(until)
        if not self._git.is_ancestor(start, end):
            raise NotFoundError(f"{after[:12]}: no ancestor of {until[:12]}")
        lines = self._git.text("rev-list", "--first-parent", "--reverse", f"{start}..{end}").split()
        if len(lines) > MAX_RANGE:
            raise RangeTooLongError(f"{after[:12]}..{until[:12]}: range too long ({len(lines)} commits)")
        merged = {
            document["merge_sha"]: document
            for document in self._store.list("prs")
            if document.get("state") == PullRequestState.MERGED.value and document.get("base_ref") == branch
        }
        return tuple(
            MergedPullRequest(
                pull_request=self._pull_request(merged[sha]),
                before=self._git.get(f"{merged[sha].get('first_sha') or sha}^1"),
                last=sha,
            )
            for sha in lines
            if sha in merged
        )

    def compare(self, base: str, head: str) -> Comparison:
        start, end = self._commit(base), self._commit(head)
        try:
            merge_base = self._git.text("merge-base", start, end)
        except ForgeError as error:
            raise NotFoundError(f"{base} and {head}: no common ancestor") from error
        log = self._git.run("log", "--reverse", "--format=%H%x00%P%x00%an%x00%B%x01", f"{start}..{end}").decode(
            errors="replace"
        )
        files = self._git.run("diff-tree", "-r", "-z", "--no-renames", "--name-only", merge_base, end)
        return Comparison(
            merge_base=merge_base,
            commits=tuple(read_commit(entry) for entry in log.split("\x01") if entry.strip()),
            files=tuple(name.decode(errors="replace") for name in files.split(b"\0") if name),
        )

    def find_file(self, path: str, *, ref: str) -> bytes | None:
        return self._git.find_blob(check_path(path), self._commit(ref))

    def find_branch(self, name: str) -> str | None:
        return self._git.find(f"refs/heads/{check_branch(name)}")

    def is_protected(self, branch: str) -> bool:
        return branch in self._rules().get("protected", [])

    def commit_files(
        self, *, branch: str, expected_head: str, message: str, files: tuple[FileChange, ...]
    ) -> NewCommit:
        self._allow("contents: write")
        check_branch(branch)
        if self.is_protected(branch):
            raise ProtectedBranchError(f"{branch}: protected, direct commits are refused")
        return self._write(branch, parent=expected_head, expected=expected_head, message=message, files=files)

    def replace_branch(
        self, *, branch: str, expected_head: str | None, base: str, message: str, files: tuple[FileChange, ...]
    ) -> NewCommit:
        self._allow("contents: write")
        if check_branch(branch) == self.get_default_branch():
            raise InvalidNameError(f"{branch}: is the default branch, which is never replaced")
        return self._write(branch, parent=base, expected=expected_head or NO_COMMIT, message=message, files=files)

    def get_permission(self, login: str) -> Permission:
        return Permission(self._rules().get("collaborators", {}).get(login, Permission.NONE.value))

    def _write(
        self, branch: str, *, parent: str, expected: str, message: str, files: tuple[FileChange, ...]
    ) -> NewCommit:
        commit = self._git.commit(parent=self._git.get(parent), message=message, author=self._viewer, files=files)
        self._git.move(branch, new=commit, expected=expected)
        return NewCommit(sha=commit)

    def _commit(self, name: str) -> str:
        return self._git.find(f"refs/heads/{check_branch(name)}") or self._git.get(name)

    def _rules(self) -> dict[str, Any]:
        return self._store.find(".", "forge") or {}

    def _allow(self, permission: str) -> None:
        if permission in self._rules().get("denied", []):
            raise PermissionDeniedError("local forge: this token may not write", permission=permission)
