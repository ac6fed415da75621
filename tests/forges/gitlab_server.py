"""A stateful GitLab on loopback over a real bare repository; every message is judged by a description of facts.

The description (data/gitlab.json) holds the published operations with what the published file has wrong repaired, each
repair marked. Rules it does not carry stand here: limits (a message over one is answered as GitLab answers it), the identity of a commit status, the status lock, what a
job token may do (sources: GitLab's own documentation and service code).
"""

import base64
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.forges.api_description import Description, load
from tests.forges.git_store import GitStore
from tests.forges.loopback import Answer, LoopbackServer, Request, page_of

API = "/api/v4"
PROJECT = f"{API}/projects/{{id}}"
REQUEST = f"{PROJECT}/merge_requests/{{merge_request_iid}}"
NOTES = f"{PROJECT}/merge_requests/{{noteable_id}}/notes"
NOTE_LIMIT = 1_000_000
FIELD_LIMIT = 255
TIME = "2026-09-09T10:47:00.000Z"
JOB_TOKEN_WRITES = ("deployments", "environments")


@dataclass(kw_only=True)
class Token:
    """Who a token writes as. `level` is the access level; `job` is the job token with its short list of rights."""

    login: str
    level: int = 40
    job: bool = False


@dataclass(kw_only=True)
class State:
    """What the forge keeps besides the repository."""

    requests: dict[int, dict[str, Any]] = field(default_factory=dict)
    notes: dict[int, dict[str, Any]] = field(default_factory=dict)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    deployments: dict[int, dict[str, Any]] = field(default_factory=dict)
    members: dict[str, int] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    denied: set[str] = field(default_factory=set)


class GitLabServer(LoopbackServer):
    """One project `acme/shop`, id 7. Forks have other ids."""

    def __init__(self, store: GitStore, *, project: str = "acme/shop") -> None:
        super().__init__(Description(load(Path(__file__).parent / "data" / "gitlab.json")))
        self.store = store
        self.project = project
        self.state = State()
        self.tokens: dict[str, Token] = {}
        self._users: dict[str, int] = {}
        self._routes: Mapping[tuple[str, str], Callable[[Request], Answer]] = {
            ("GET", f"{API}/user"): lambda request: Answer(body=self._user(self._token(request).login)),
            ("GET", PROJECT): self._get_project,
            ("GET", f"{PROJECT}/merge_requests"): self._list_requests,
            ("POST", f"{PROJECT}/merge_requests"): self._open_request,
            ("GET", REQUEST): self._get_request,
            ("PUT", REQUEST): self._edit_request,
            ("GET", NOTES): self._list_notes,
            ("POST", NOTES): self._add_note,
            ("PUT", f"{NOTES}/{{note_id}}"): self._edit_note,
            ("POST", f"{PROJECT}/statuses/{{sha}}"): self._add_status,
            ("GET", f"{PROJECT}/repository/commits"): self._list_commits,
            ("POST", f"{PROJECT}/repository/commits"): self._add_commit,
            ("GET", f"{PROJECT}/repository/commits/{{sha}}"): self._get_commit,
            ("GET", f"{PROJECT}/repository/commits/{{sha}}/merge_requests"): self._requests_of,
            ("GET", f"{PROJECT}/repository/branches/{{branch}}"): self._get_branch,
            ("GET", f"{PROJECT}/repository/files/{{file_path}}"): self._get_file,
            ("GET", f"{PROJECT}/repository/compare"): self._compare,
            ("GET", f"{PROJECT}/repository/merge_base"): self._merge_base,
            ("GET", f"{PROJECT}/deployments"): self._list_deployments,
            ("POST", f"{PROJECT}/deployments"): self._add_deployment,
            ("GET", f"{PROJECT}/deployments/{{deployment_id}}"): self._get_deployment,
            ("PUT", f"{PROJECT}/deployments/{{deployment_id}}"): self._edit_deployment,
            ("GET", f"{PROJECT}/members/all"): self._list_members,
        }

    @property
    def api_url(self) -> str:
        """CI_API_V4_URL of this server."""
        return f"{self.origin}{API}"

    def dispatch(self, request: Request) -> Answer:
        """Routes by the description's template; refuses before anything is carried out."""
        secret = request.headers.get("private-token") or request.headers.get("job-token") or ""
        token = self.tokens.get(secret)
        if token is None or token.job != ("job-token" in request.headers):
            return Answer(status=401, body={"message": "401 Unauthorized"})
        found = self.description.find(request.method, request.path)
        if found is None:
            return _refused(404, "404 Not Found")
        template, operation = found
        if token.job and {"JobToken": []} not in operation.get("security", []):
            return _refused(401, "401 Unauthorized")
        if request.method != "GET" and any(f"/{name}" in template for name in self.state.denied):
            return _refused(403, "403 Forbidden")
        return self._routes[request.method, template](request)

    def open_request(
        self, *, source: str, target: str, title: str, author: str, description: str = "", fork: str | None = None
    ) -> int:
        """Opens a merge request as a person would; returns its iid."""
        iid = max(self.state.requests, default=0) + 1
        self.state.requests[iid] = {
            "source": source, "target": target, "title": title, "author": author, "description": description,
            "fork": fork, "state": "opened", "sha": self.store.find(source), "start": self.store.find(target),
        }  # fmt: skip
        self.store.git("update-ref", f"refs/merge-requests/{iid}/head", str(self.store.find(source)))
        return iid

    def merge_request(self, iid: int) -> str:
        """Merges with a merge commit, as the button does by default; returns that commit."""
        kept = self.state.requests[iid]
        base, head = str(self.store.find(kept["target"])), self._head(iid)
        made = self.store.merge(base, head, f"Merge branch '{kept['source']}'")
        assert self.store.move(kept["target"], made, base)
        kept.update({"state": "merged", "sha": head, "merge": made})
        return made

    def _head(self, iid: int) -> str:
        kept = self.state.requests[iid]
        if kept["state"] == "opened" and not kept["fork"]:
            kept["sha"] = self.store.find(kept["source"]) or kept["sha"]
        sha: str = kept["sha"]
        return sha

    def _token(self, request: Request) -> Token:
        return self.tokens[request.headers.get("private-token") or request.headers["job-token"]]

    def _user(self, login: str) -> dict[str, Any]:
        number = self._users.setdefault(login, 100 + len(self._users))
        address = f"https://forge.invalid/{number}"
        return {"id": number, "username": login, "name": login, "state": "active", "web_url": address}

    def _get_project(self, request: Request) -> Answer:
        if request.values["id"] in (self.project, "7"):
            number, path = 7, self.project
        else:
            forks = {str(_fork_id(kept["fork"])): kept["fork"] for kept in self.state.requests.values() if kept["fork"]}
            if request.values["id"] not in forks:
                return _refused(404, "404 Project Not Found")
            number, path = int(request.values["id"]), forks[request.values["id"]]
        name = path.rpartition("/")[2]
        body = {"id": number, "name": name, "path": name, "path_with_namespace": path, "default_branch": "main"}
        return Answer(body=body | {"web_url": f"https://forge.invalid/{path}"})

    def shown(self, iid: int) -> dict[str, Any]:
        """A merge request as the API shows it."""
        kept = self.state.requests[iid]
        merge = kept.get("merge")
        return {
            "id": 1000 + iid, "iid": iid, "project_id": 7, "title": kept["title"], "description": kept["description"],
            "state": kept["state"], "created_at": TIME, "updated_at": TIME, "merged_at": TIME if merge else None,
            "target_branch": kept["target"], "source_branch": kept["source"], "author": self._user(kept["author"]),
            "source_project_id": _fork_id(kept["fork"]) if kept["fork"] else 7, "target_project_id": 7, "labels": [],
            "draft": False, "sha": self._head(iid), "merge_commit_sha": merge, "squash_commit_sha": None,
            "web_url": f"https://forge.invalid/{self.project}/-/merge_requests/{iid}",
            "diff_refs": {"base_sha": kept["start"], "head_sha": self._head(iid), "start_sha": kept["start"]},
        }  # fmt: skip

    def _page(self, items: list[Any], request: Request) -> Answer:
        shown, headers = page_of(items, request, f"{self.origin}{request.path}", size=20)
        return Answer(body=shown, headers=headers)

    def _list_requests(self, request: Request) -> Answer:
        wanted = {"state": "state", "source_branch": "source", "target_branch": "target"}
        found = [
            self.shown(iid)
            for iid, kept in sorted(self.state.requests.items(), reverse=True)
            if all(request.query.get(name, kept[mine]) == kept[mine] for name, mine in wanted.items())
        ]
        return self._page(found, request)

    def _open_request(self, request: Request) -> Answer:
        body = request.body
        for kept in self.state.requests.values():
            if (kept["source"], kept["target"], kept["state"]) == (
                body["source_branch"], body["target_branch"], "opened",
            ):  # fmt: skip
                return _refused(409, ["Another open merge request already exists for this source branch"])
        iid = self.open_request(
            source=body["source_branch"],
            target=body["target_branch"],
            title=body["title"],
            author=self._token(request).login,
            description=body.get("description") or "",
        )
        return Answer(status=201, body=self.shown(iid))

    def _get_request(self, request: Request) -> Answer:
        iid = int(request.values["merge_request_iid"])
        return Answer(body=self.shown(iid)) if iid in self.state.requests else _refused(404, "404 Not found")

    def _edit_request(self, request: Request) -> Answer:
        iid = int(request.values["merge_request_iid"])
        self.state.requests[iid].update({key: request.body[key] for key in ("title", "description")})
        return Answer(body=self.shown(iid))

    def add_note(self, iid: int, author: str, body: str, *, system: bool = False) -> int:
        """A note by anybody; returns its id."""
        number = 5000 + len(self.state.notes)
        self.state.notes[number] = {"iid": iid, "author": author, "body": body, "system": system}
        return number

    def _note(self, number: int) -> dict[str, Any]:
        kept = self.state.notes[number]
        return {
            "id": number, "body": kept["body"], "author": self._user(kept["author"]), "created_at": TIME,
            "updated_at": TIME, "system": kept["system"], "noteable_id": 1000 + kept["iid"],
            "noteable_type": "MergeRequest", "resolvable": False, "confidential": False, "noteable_iid": kept["iid"],
        }  # fmt: skip

    def _list_notes(self, request: Request) -> Answer:
        iid = int(request.values["noteable_id"])
        found = [self._note(number) for number, kept in sorted(self.state.notes.items()) if kept["iid"] == iid]
        return self._page(found if request.query.get("sort") == "asc" else found[::-1], request)

    def _add_note(self, request: Request) -> Answer:
        body = request.body["body"]
        if len(body) > NOTE_LIMIT:
            return _refused(400, "400 Bad request - Note is too long (maximum is 1000000 characters)")
        if body.strip() and all(line.startswith("/") for line in body.strip().splitlines()):
            return Answer(status=202, body={"commands_changes": {}, "summary": ["Applied."]})
        number = self.add_note(int(request.values["noteable_id"]), self._token(request).login, body)
        return Answer(status=201, body=self._note(number))

    def _edit_note(self, request: Request) -> Answer:
        number = int(request.values["note_id"])
        kept, token = self.state.notes[number], self._token(request)
        if kept["author"] != token.login:
            return _refused(403, "403 Forbidden")
        kept["body"] = request.body["body"]
        return Answer(body=self._note(number))

    def _add_status(self, request: Request) -> Answer:
        sha, body, login = request.values["sha"], request.body, self._token(request).login
        if self.store.find(sha) != sha:
            return _refused(404, "404 Commit Not Found")
        for name in ("target_url", "description"):
            if len(body.get(name) or "") > FIELD_LIMIT:
                return _refused(400, {name: [f"is too long (maximum is {FIELD_LIMIT} characters)"]})
        name = body.get("name") or body.get("context") or "default"
        open_now = [
            kept for kept in self.state.statuses
            if (kept["sha"], kept["name"], kept["user"]) == (sha, name, login) and kept["state"] in ("pending", "running")
        ]  # fmt: skip
        if open_now and open_now[-1]["state"] == body["state"]:
            return _refused(400, f"Cannot transition status via :enqueue from :{body['state']} (Reason(s): ...)")
        # A finished status is never changed: the next post is a new row.
        kept = open_now[-1] if open_now else {"sha": sha, "name": name, "user": login}
        if not open_now:
            self.state.statuses.append(kept)
        kept |= {"state": body["state"], "description": body.get("description"), "url": body.get("target_url")}
        shown = {
            "id": len(self.state.statuses), "sha": sha, "ref": "main", "status": body["state"], "name": name,
            "target_url": kept["url"], "description": kept["description"], "created_at": TIME, "started_at": None,
            "finished_at": None, "allow_failure": False, "author": self._user(login),
        }  # fmt: skip
        return Answer(status=201, body=shown)

    def commit(self, sha: str) -> dict[str, Any]:
        """A commit as the API shows it."""
        message = self.store.message(sha)
        return {
            "id": sha, "short_id": sha[:8], "created_at": TIME, "parent_ids": self.store.parents(sha),
            "title": message.partition("\n")[0], "message": message + "\n", "author_name": "forge",
            "author_email": "forge@example.invalid", "committer_name": "forge",
            "committer_email": "forge@example.invalid", "web_url": f"https://forge.invalid/-/commit/{sha}",
        }  # fmt: skip

    def _list_commits(self, request: Request) -> Answer:
        span = request.query["ref_name"]
        options = ["--first-parent"] if request.query.get("first_parent") in ("true", "True", "1") else []
        shas = self.store.git("rev-list", *options, span).split()
        shown, headers = page_of(shas, request, f"{self.origin}{request.path}", size=20)
        return Answer(body=[self.commit(sha) for sha in shown], headers=headers)

    def _add_commit(self, request: Request) -> Answer:
        body, branch = request.body, request.body["branch"]
        if branch in self.state.protected:
            return _refused(403, "403 Forbidden - You are not allowed to push into this branch")
        head = self.store.find(f"refs/heads/{branch}")
        start = str(body.get("start_sha") or head)
        if body.get("start_sha") and head and not body.get("force"):
            return _refused(400, f"A branch called '{branch}' already exists. Switch to that branch to make changes")
        files: list[tuple[str, bytes | None]] = []
        for action in body["actions"]:
            there = self.store.read(start, action["file_path"])
            if (action["action"] == "create") == (there is not None):
                said = "already exists" if there else "doesn't exist"
                return _refused(400, f"A file with this name {said}")
            bound = action.get("last_commit_id")
            if bound and bound != self._last_commit(start, action["file_path"]):
                return _refused(400, "The file has changed since you started editing it.")
            content = action.get("content") or ""
            data = base64.b64decode(content) if action.get("encoding") == "base64" else content.encode()
            files.append((action["file_path"], None if action["action"] == "delete" else data))
        made = self.store.commit(start, body["commit_message"], files)
        assert self.store.move(branch, made, head)
        return Answer(status=201, body=self.commit(made))

    def _last_commit(self, commit: str, path: str) -> str:
        return self.store.git("rev-list", "-n1", commit, "--", path)

    def _get_commit(self, request: Request) -> Answer:
        sha = self.store.find(request.values["sha"])
        return Answer(body=self.commit(sha)) if sha else _refused(404, "404 Commit Not Found")

    def _requests_of(self, request: Request) -> Answer:
        sha = request.values["sha"]
        found = [
            self.shown(iid)
            for iid, kept in sorted(self.state.requests.items())
            if sha == kept.get("merge") or sha in self.store.span(kept["start"], self._head(iid))
        ]
        return Answer(body=found)

    def _get_branch(self, request: Request) -> Answer:
        name = request.values["branch"]
        sha = self.store.find(f"refs/heads/{name}")
        if sha is None:
            return _refused(404, "404 Branch Not Found")
        protected = name in self.state.protected
        body = {"name": name, "commit": self.commit(sha), "protected": protected, "default": name == "main"}
        return Answer(body=body | {"can_push": not protected})

    def _get_file(self, request: Request) -> Answer:
        path, ref = request.values["file_path"], request.query["ref"]
        commit = self.store.find(ref)
        found = self.store.read(commit, path) if commit else None
        if commit is None or found is None or found[0] == "040000":
            return _refused(404, "404 File Not Found")
        _, blob, data = found
        body = {
            "file_name": path.rpartition("/")[2], "file_path": path, "size": len(data), "encoding": "base64",
            "content": base64.b64encode(data).decode(), "ref": ref, "blob_id": blob, "commit_id": commit,
            "last_commit_id": self._last_commit(commit, path),
        }  # fmt: skip
        return Answer(body=body)

    def _compare(self, request: Request) -> Answer:
        old, new = self.store.find(request.query["from"]), self.store.find(request.query["to"])
        if old is None or new is None:
            return _refused(404, "404 Ref Not Found")
        base = self.store.merge_base(old, new)
        flags = {"new_file": False, "renamed_file": False, "deleted_file": False}
        diffs = [{"old_path": path, "new_path": path, **flags} for path in self.store.changed(str(base), new)]
        commits = [self.commit(sha) for sha in self.store.span(old, new)]
        body = {"commits": commits, "diffs": diffs, "compare_timeout": False, "compare_same_ref": old == new}
        return Answer(body=body)

    def _merge_base(self, request: Request) -> Answer:
        old, new = (self.store.find(ref) for ref in request.lists["refs[]"])
        base = self.store.merge_base(old, new) if old and new else None
        return Answer(body=self.commit(base)) if base else _refused(404, "404 Merge Base Not Found")

    def _deployment(self, number: int) -> dict[str, Any]:
        kept = self.state.deployments[number]
        place = {"id": 1, "name": kept["environment"], "slug": kept["environment"], "external_url": None}
        body = {"id": number, "iid": number, "created_at": TIME, "environment": place}
        return body | {key: kept[key] for key in ("ref", "sha", "status")}

    def _list_deployments(self, request: Request) -> Answer:
        wanted = {key: request.query[key] for key in ("environment", "status") if key in request.query}
        found = [
            self._deployment(number)
            for number, kept in sorted(self.state.deployments.items(), reverse=True)
            if wanted.items() <= kept.items()
        ]
        return self._page(found, request)

    def _add_deployment(self, request: Request) -> Answer:
        number = 1 + len(self.state.deployments)
        self.state.deployments[number] = dict(request.body)
        return Answer(status=201, body=self._deployment(number))

    def _get_deployment(self, request: Request) -> Answer:
        return Answer(body=self._deployment(int(request.values["deployment_id"])))

    def _edit_deployment(self, request: Request) -> Answer:
        number = int(request.values["deployment_id"])
        if self.state.deployments[number]["status"] == request.body["status"]:
            return _refused(400, "Cannot transition status")
        self.state.deployments[number]["status"] = request.body["status"]
        return Answer(body=self._deployment(number))

    def deployments(self) -> list[tuple[str, str, str, str]]:
        """(sha, environment, task, state), oldest first; only an environment's last success is its current one."""
        names = {"success": "success", "failed": "failure", "running": "in_progress", "canceled": "inactive"}
        current: dict[str, int] = {}
        for number, kept in sorted(self.state.deployments.items()):
            if kept["status"] == "success":
                current[kept["environment"]] = number
        shown = []
        for number, kept in sorted(self.state.deployments.items()):
            replaced = kept["status"] == "success" and current[kept["environment"]] != number
            shown.append((kept["sha"], kept["environment"], "", "inactive" if replaced else names[kept["status"]]))
        return shown

    def _list_members(self, request: Request) -> Answer:
        found = [
            self._user(login) | {"access_level": level}
            for login, level in sorted(self.state.members.items())
            if request.query.get("query", "") in login
        ]
        return self._page(found, request)


def _fork_id(path: str) -> int:
    return 100 + sum(path.encode()) % 800


def _refused(status: int, message: Any) -> Answer:
    return Answer(status=status, body={"message": message})
