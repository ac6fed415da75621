"""A stateful GitHub on loopback over a real bare repository; every message is judged by the published description.

What it refuses it refuses with the statuses and words of GitHub (sources: the REST description for fields and statuses;
GitHub's own answers for the sizes, which the description leaves out).
"""

import base64
import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.forges.api_description import Description, allow_null, load, trim
from tests.forges.git_store import GitStore
from tests.forges.github_graphql import GraphQL
from tests.forges.loopback import Answer, LoopbackServer, Request, page_of
from tests.parts.paths import NODE_MODULES

REPOSITORY = "/repos/{owner}/{repo}"
OPERATIONS = frozenset(
    {
        ("get", REPOSITORY),
        ("get", f"{REPOSITORY}/pulls"),
        ("post", f"{REPOSITORY}/pulls"),
        ("get", f"{REPOSITORY}/pulls/{{pull_number}}"),
        ("patch", f"{REPOSITORY}/pulls/{{pull_number}}"),
        ("get", f"{REPOSITORY}/issues/{{issue_number}}/comments"),
        ("post", f"{REPOSITORY}/issues/{{issue_number}}/comments"),
        ("get", f"{REPOSITORY}/issues/comments/{{comment_id}}"),
        ("patch", f"{REPOSITORY}/issues/comments/{{comment_id}}"),
        ("post", f"{REPOSITORY}/statuses/{{sha}}"),
        ("post", f"{REPOSITORY}/deployments"),
        ("get", f"{REPOSITORY}/deployments"),
        ("get", f"{REPOSITORY}/deployments/{{deployment_id}}"),
        ("post", f"{REPOSITORY}/deployments/{{deployment_id}}/statuses"),
        ("get", f"{REPOSITORY}/compare/{{basehead}}"),
        ("get", f"{REPOSITORY}/contents/{{path}}"),
        ("get", f"{REPOSITORY}/git/blobs/{{file_sha}}"),
        ("get", f"{REPOSITORY}/git/ref/{{ref}}"),
        ("post", f"{REPOSITORY}/git/refs"),
        ("delete", f"{REPOSITORY}/git/refs/{{ref}}"),
        ("get", f"{REPOSITORY}/rules/branches/{{branch}}"),
        ("get", f"{REPOSITORY}/branches/{{branch}}"),
        ("get", f"{REPOSITORY}/commits/{{ref}}"),
        ("get", f"{REPOSITORY}/collaborators/{{username}}/permission"),
    }
)

# Published examples that contradict their own schema, found by running each through it: what is set over them.
MENDED_EXAMPLES: Mapping[tuple[str, str], Mapping[str, Any]] = {
    ("get", REPOSITORY): {"language": None, "source": None, "parent": None, "template_repository": None},
    ("get", f"{REPOSITORY}/commits/{{ref}}"): {"files": []},
    ("get", f"{REPOSITORY}/pulls/{{pull_number}}"): {"requested_teams": []},
}

# Fields the description calls never null and GitHub sends as null all the same: the head's repository of a pull
# request whose fork is deleted (`webhooks-schemas` of the same publisher does say null), and the author of a commit that
# belongs to no account (there `nullable` stands beside `anyOf`, which a validator does not combine).
NULLABLE = (("pull-request", "head", "repo"), ("pull-request", "head", "user"), ("commit", "author"))

COMMENT_LIMIT = 65_536
DESCRIPTION_LIMIT = 140
CONTEXT_LIMIT = 255


@dataclass(kw_only=True)
class Token:
    """Who a token writes as, and what it may write (`pull_requests`, `statuses`, `deployments`, `contents`)."""

    login: str
    writes: frozenset[str] = frozenset({"pull_requests", "statuses", "deployments", "contents"})


@dataclass(kw_only=True)
class State:
    """What the forge keeps besides the repository."""

    pulls: dict[int, dict[str, Any]] = field(default_factory=dict)
    comments: dict[int, dict[str, Any]] = field(default_factory=dict)
    statuses: list[dict[str, Any]] = field(default_factory=list)
    deployments: dict[int, dict[str, Any]] = field(default_factory=dict)
    deployment_statuses: list[dict[str, Any]] = field(default_factory=list)
    permissions: dict[str, str] = field(default_factory=dict)
    protected: set[str] = field(default_factory=set)
    minimised: set[str] = field(default_factory=set)
    signed: dict[str, str] = field(default_factory=dict)
    """Commits made through the API, which GitHub signs: SHA to login."""


class GitHubServer(LoopbackServer):
    """One repository `owner/name`. Tokens decide who writes and what is refused."""

    def __init__(self, store: GitStore, *, repository: str = "acme/shop", prefix: str = "") -> None:
        generated = NODE_MODULES.get("node_modules/@octokit/openapi/generated/api.github.com.json")
        document = allow_null(trim(load(generated), OPERATIONS), NULLABLE)
        super().__init__(Description(document), prefix=prefix)
        self.store = store
        self.repository = repository
        self.state = State()
        self.tokens: dict[str, Token] = {}
        self._graphql = GraphQL(self)
        self._routes: Mapping[tuple[str, str], Callable[[Request], Answer]] = {
            ("GET", REPOSITORY): self._get_repository,
            ("GET", f"{REPOSITORY}/pulls"): self._list_pulls,
            ("POST", f"{REPOSITORY}/pulls"): self._open_pull,
            ("GET", f"{REPOSITORY}/pulls/{{pull_number}}"): self._get_pull,
            ("PATCH", f"{REPOSITORY}/pulls/{{pull_number}}"): self._edit_pull,
            ("GET", f"{REPOSITORY}/issues/{{issue_number}}/comments"): self._list_comments,
            ("POST", f"{REPOSITORY}/issues/{{issue_number}}/comments"): self._add_comment,
            ("GET", f"{REPOSITORY}/issues/comments/{{comment_id}}"): self._get_comment,
            ("PATCH", f"{REPOSITORY}/issues/comments/{{comment_id}}"): self._edit_comment,
            ("POST", f"{REPOSITORY}/statuses/{{sha}}"): self._add_status,
            ("POST", f"{REPOSITORY}/deployments"): self._add_deployment,
            ("GET", f"{REPOSITORY}/deployments"): self._list_deployments,
            ("GET", f"{REPOSITORY}/deployments/{{deployment_id}}"): self._get_deployment,
            ("POST", f"{REPOSITORY}/deployments/{{deployment_id}}/statuses"): self._add_deployment_status,
            ("GET", f"{REPOSITORY}/compare/{{basehead}}"): self._compare,
            ("GET", f"{REPOSITORY}/contents/{{path}}"): self._get_contents,
            ("GET", f"{REPOSITORY}/git/blobs/{{file_sha}}"): self._get_blob,
            ("GET", f"{REPOSITORY}/git/ref/{{ref}}"): self._get_ref,
            ("POST", f"{REPOSITORY}/git/refs"): self._add_ref,
            ("DELETE", f"{REPOSITORY}/git/refs/{{ref}}"): self._delete_ref,
            ("GET", f"{REPOSITORY}/rules/branches/{{branch}}"): self._list_rules,
            ("GET", f"{REPOSITORY}/branches/{{branch}}"): self._get_branch,
            ("GET", f"{REPOSITORY}/commits/{{ref}}"): self._get_commit,
            ("GET", f"{REPOSITORY}/collaborators/{{username}}/permission"): self._get_permission,
        }

    @property
    def api_url(self) -> str:
        """GITHUB_API_URL of this server."""
        return f"{self.origin}{self.prefix}"

    @property
    def graphql_url(self) -> str:
        """GITHUB_GRAPHQL_URL of this server; on an Enterprise prefix it is not below it."""
        return f"{self.origin}/api/graphql" if self.prefix else f"{self.origin}/graphql"

    def dispatch(self, request: Request) -> Answer:
        """Routes by the description's template; GraphQL by its path."""
        token = self._token(request)
        if token is None:
            return _error(401, "Bad credentials")
        if request.path.endswith("/graphql"):
            return self._graphql.answer(request.body, token)
        found = self.description.find(request.method, request.path)
        if found is None or f"{request.values['owner']}/{request.values['repo']}" != self.repository:
            return _error(404, "Not Found")
        return self._routes[request.method, found[0]](request)

    def open_pull(
        self, *, head: str, base: str, title: str, author: str, body: str = "", fork: str | None = None
    ) -> int:
        """Opens a pull request as a person would; returns its number. `fork` is the head's repository."""
        number = max(self.state.pulls, default=0) + 1
        self.state.pulls[number] = {
            "head": head, "base": base, "title": title, "author": author, "body": body, "fork": fork,
            "merge": None, "closed": False, "head_sha": self.store.find(head),
        }  # fmt: skip
        self.store.git("update-ref", f"refs/pull/{number}/head", str(self.store.find(head)))
        return number

    def merge_pull(self, number: int, *, method: str = "merge") -> str:
        """Merges as the button would; returns the commit on the base branch."""
        pull = self.state.pulls[number]
        base, head = str(self.store.find(pull["base"])), str(self.head_of(number))
        if method == "merge":
            commit = self.store.merge(base, head, f"Merge pull request #{number}")
        elif method == "squash":
            tree = self.store.git("merge-tree", "--write-tree", base, head).splitlines()[0]
            message = f"{pull['title']} (#{number})".encode()
            commit = self.store.git("commit-tree", tree, "-p", base, data=message)
        else:
            commit = head  # fast-forward: the head itself becomes the branch
        assert self.store.move(pull["base"], commit, base)
        pull["head_sha"], pull["merge"], pull["merged_onto"] = head, commit, base
        return commit

    def head_of(self, number: int) -> str | None:
        """The head of a pull request: the branch while it is there, else what it was."""
        pull = self.state.pulls[number]
        if pull["merge"] is None:
            found = self.store.find(pull["head"])
            if found:
                self.store.git("update-ref", f"refs/pull/{number}/head", found)
                return found
        head: str = pull["head_sha"]
        return head

    def deployments(self) -> list[tuple[str, str, str, str]]:
        """(sha, environment, task, state), oldest first. A newer success makes older ones of its place inactive."""
        shown = []
        for identifier, kept in sorted(self.state.deployments.items()):
            states = [entry["state"] for entry in self.state.deployment_statuses if entry["deployment"] == identifier]
            newer = [
                entry for entry in self.state.deployment_statuses
                if entry["deployment"] > identifier and entry["state"] == "success" and entry.get("auto_inactive", True)
                and self.state.deployments[entry["deployment"]]["environment"] == kept["environment"]
            ]  # fmt: skip
            state = "inactive" if newer and states[-1:] == ["success"] else states[-1] if states else "queued"
            shown.append((kept["sha"], kept["environment"], kept["task"], state))
        return shown

    def _token(self, request: Request) -> Token | None:
        scheme, _, secret = request.headers.get("authorization", "").partition(" ")
        return self.tokens.get(secret) if scheme.lower() in ("token", "bearer") else None

    def _may(self, request: Request, what: str) -> Answer | None:
        token = self._token(request)
        if token and what in token.writes:
            return None
        headers = {"x-accepted-github-permissions": f"{what}=write"}
        return Answer(status=403, body=_said("Resource not accessible by integration"), headers=headers)

    def _example(self, method: str, template: str, status: str) -> Any:
        found = copy.deepcopy(self.description.example(method, template, status))
        for name, value in MENDED_EXAMPLES.get((method, template), {}).items():
            found.pop(name, None)
            if value is not None or name == "language":
                found[name] = value
        return found

    def _user(self, login: str) -> Any:
        user = self._example("get", f"{REPOSITORY}/issues/comments/{{comment_id}}", "200")["user"]
        return {**user, "login": login, "type": "Bot" if login.endswith("[bot]") else "User"}

    def _url(self, tail: str) -> str:
        return f"{self.api_url}/repos/{self.repository}/{tail}"

    def _get_repository(self, _request: Request) -> Answer:
        body = self._example("get", REPOSITORY, "200")
        body |= {"full_name": self.repository, "name": self.repository.partition("/")[2], "default_branch": "main"}
        return Answer(body=body | {"node_id": "R_shop"})

    def pull(self, number: int) -> Any:
        """A pull request as the REST API shows it."""
        kept = self.state.pulls[number]
        body = self._example("get", f"{REPOSITORY}/pulls/{{pull_number}}", "200")
        body |= {
            "number": number, "title": kept["title"], "body": kept["body"], "user": self._user(kept["author"]),
            "state": "closed" if kept["merge"] or kept["closed"] else "open", "merged": kept["merge"] is not None,
            "merged_at": "2026-09-09T10:47:00Z" if kept["merge"] else None,
            "merge_commit_sha": kept["merge"] or "f" * 40,
            "url": self._url(f"pulls/{number}"), "html_url": f"https://forge.invalid/{self.repository}/pull/{number}",
        }  # fmt: skip
        base_repository = {**body["base"]["repo"], "full_name": self.repository}
        body["base"] |= {"ref": kept["base"], "sha": self.store.find(kept["base"]), "repo": base_repository}
        fork = self.repository if kept["fork"] is None else kept["fork"]
        head_repository = {**body["head"]["repo"], "full_name": fork} if fork else None
        body["head"] |= {"ref": kept["head"], "sha": self.head_of(number), "repo": head_repository}
        return body

    def _list_pulls(self, request: Request) -> Answer:
        owner = self.repository.partition("/")[0]
        shown = []
        for number, kept in sorted(self.state.pulls.items(), reverse=True):
            is_open = not (kept["merge"] or kept["closed"])
            wanted_head = request.query.get("head", f"{owner}:{kept['head']}") == f"{owner}:{kept['head']}"
            if is_open and wanted_head and request.query.get("base", kept["base"]) == kept["base"]:
                simple = self._example("get", f"{REPOSITORY}/pulls", "200")[0]
                whole = self.pull(number)
                shown.append({key: whole.get(key, value) for key, value in simple.items()})
        items, headers = page_of(shown, request, self._url("pulls"))
        return Answer(body=items, headers=headers)

    def _open_pull(self, request: Request) -> Answer:
        if refused := self._may(request, "pull_requests"):
            return refused
        body = request.body
        open_now = [
            kept for kept in self.state.pulls.values()
            if (kept["head"], kept["base"]) == (body["head"], body["base"]) and not kept["merge"] and not kept["closed"]
        ]  # fmt: skip
        if open_now:
            return _error(422, "Validation Failed", "A pull request already exists for acme:" + body["head"])
        if not self.store.find(body["head"]) or not self.store.find(body["base"]):
            return _error(422, "Validation Failed", "head is invalid")
        token = self._token(request)
        author = token.login if token else ""
        number = self.open_pull(
            head=body["head"], base=body["base"], title=body["title"], author=author, body=body.get("body") or ""
        )
        return Answer(status=201, body=self.pull(number))

    def _get_pull(self, request: Request) -> Answer:
        number = int(request.values["pull_number"])
        return Answer(body=self.pull(number)) if number in self.state.pulls else _error(404, "Not Found")

    def _edit_pull(self, request: Request) -> Answer:
        if refused := self._may(request, "pull_requests"):
            return refused
        number = int(request.values["pull_number"])
        kept = self.state.pulls[number]
        kept.update({key: request.body[key] for key in ("title", "body") if key in request.body})
        return Answer(body=self.pull(number))

    def _comment(self, identifier: int) -> Any:
        kept = self.state.comments[identifier]
        body = self._example("get", f"{REPOSITORY}/issues/comments/{{comment_id}}", "200")
        return body | {
            "id": identifier, "node_id": f"IC_{identifier}", "body": kept["body"], "user": self._user(kept["author"]),
            "html_url": f"https://forge.invalid/{self.repository}/pull/{kept['number']}#issuecomment-{identifier}",
        }  # fmt: skip

    def _list_comments(self, request: Request) -> Answer:
        number = int(request.values["issue_number"])
        if number not in self.state.pulls:
            return _error(404, "Not Found")
        found = [self._comment(key) for key, kept in sorted(self.state.comments.items()) if kept["number"] == number]
        items, headers = page_of(found, request, self._url(f"issues/{number}/comments"))
        return Answer(body=items, headers=headers)

    def add_comment(self, number: int, author: str, body: str) -> int:
        """A comment by anybody; returns its id."""
        identifier = 1000 + len(self.state.comments)
        self.state.comments[identifier] = {"number": number, "author": author, "body": body}
        return identifier

    def _add_comment(self, request: Request) -> Answer:
        number = int(request.values["issue_number"])
        if number not in self.state.pulls:
            return _error(404, "Not Found")
        if refused := self._may(request, "pull_requests") or self._too_long(request):
            return refused
        token = self._token(request)
        identifier = self.add_comment(number, token.login if token else "", request.body["body"])
        return Answer(status=201, body=self._comment(identifier))

    def _too_long(self, request: Request) -> Answer | None:
        if len(request.body["body"]) > COMMENT_LIMIT:
            return _error(422, "Validation Failed", f"Body is too long (maximum is {COMMENT_LIMIT} characters)")
        return None

    def _get_comment(self, request: Request) -> Answer:
        identifier = int(request.values["comment_id"])
        return Answer(body=self._comment(identifier)) if identifier in self.state.comments else _error(404, "Not Found")

    def _edit_comment(self, request: Request) -> Answer:
        identifier = int(request.values["comment_id"])
        if identifier not in self.state.comments:
            return _error(404, "Not Found")
        token = self._token(request)
        if token and token.login != self.state.comments[identifier]["author"]:
            return _error(403, "Resource not accessible by integration")
        if refused := self._may(request, "pull_requests") or self._too_long(request):
            return refused
        self.state.comments[identifier]["body"] = request.body["body"]
        return Answer(body=self._comment(identifier))

    def _add_status(self, request: Request) -> Answer:
        if refused := self._may(request, "statuses"):
            return refused
        sha = self.store.find(request.values["sha"])
        if sha is None or sha != request.values["sha"]:
            return _error(422, "No commit found for SHA: " + request.values["sha"])
        for name, limit in (("description", DESCRIPTION_LIMIT), ("context", CONTEXT_LIMIT)):
            if len(request.body.get(name) or "") > limit:
                return _error(422, "Validation Failed", f"{name} is too long (maximum is {limit} characters)")
        self.state.statuses.append({"sha": sha, **request.body})
        body = self._example("post", f"{REPOSITORY}/statuses/{{sha}}", "201")
        return Answer(status=201, body=body | {"target_url": None} | dict(request.body))

    def _deployment(self, identifier: int) -> Any:
        kept = self.state.deployments[identifier]
        body = self._example("get", f"{REPOSITORY}/deployments/{{deployment_id}}", "200")
        return body | kept | {"id": identifier, "url": self._url(f"deployments/{identifier}")}

    def _add_deployment(self, request: Request) -> Answer:
        if refused := self._may(request, "deployments"):
            return refused
        body = request.body
        # Both defaults would surprise: GitHub merges the default branch in, and waits for every status.
        if body.get("auto_merge", True):
            return Answer(status=202, body={"message": "Auto-merged main into topic-branch on deployment."})
        if body.get("required_contexts") != []:
            return _error(409, "Conflict: Commit status checks failed for " + body["ref"])
        sha = self.store.find(body["ref"])
        identifier = 1 + len(self.state.deployments)
        kept = {"sha": sha, "ref": body["ref"], "task": body.get("task", "deploy")}
        kept |= {"environment": body.get("environment", "production"), "description": body.get("description", "")}
        self.state.deployments[identifier] = kept
        return Answer(status=201, body=self._deployment(identifier))

    def _list_deployments(self, request: Request) -> Answer:
        wanted = {key: value for key, value in request.query.items() if key in ("sha", "environment", "task")}
        found = [
            self._deployment(key)
            for key, kept in sorted(self.state.deployments.items(), reverse=True)
            if wanted.items() <= kept.items()
        ]
        items, headers = page_of(found, request, self._url("deployments"))
        return Answer(body=items, headers=headers)

    def _get_deployment(self, request: Request) -> Answer:
        identifier = int(request.values["deployment_id"])
        known = identifier in self.state.deployments
        return Answer(body=self._deployment(identifier)) if known else _error(404, "Not Found")

    def _add_deployment_status(self, request: Request) -> Answer:
        if refused := self._may(request, "deployments"):
            return refused
        if len(request.body.get("description") or "") > DESCRIPTION_LIMIT:
            return _error(422, "Validation Failed", "description is too long (maximum is 140 characters)")
        identifier = int(request.values["deployment_id"])
        self.state.deployment_statuses.append({"deployment": identifier, **request.body})
        body = self._example("post", f"{REPOSITORY}/deployments/{{deployment_id}}/statuses", "201")
        return Answer(status=201, body=body | {"state": request.body["state"]})

    def commit(self, sha: str) -> Any:
        """A commit as the REST API shows it; commits by this server are signed, as GitHub's own are."""
        body = self._example("get", f"{REPOSITORY}/commits/{{ref}}", "200")
        body |= {"sha": sha, "html_url": f"https://forge.invalid/{self.repository}/commit/{sha}"}
        body["commit"]["message"] = self.store.message(sha)
        signer = self.state.signed.get(sha)
        body["commit"]["verification"] |= {"verified": signer is not None, "reason": "valid" if signer else "unsigned"}
        body["author"] = self._user(signer) if signer else None
        body["parents"] = [{**body["parents"][0], "sha": parent} for parent in self.store.parents(sha)]
        return body

    def _compare(self, request: Request) -> Answer:
        base, _, head = request.values["basehead"].partition("...")
        old, new = self.store.find(base), self.store.find(head)
        merge_base = self.store.merge_base(old, new) if old and new else None
        if old is None or new is None or merge_base is None:
            return _error(404, "Not Found")
        ahead, behind = self.store.span(old, new), self.store.span(new, old)
        status = "identical" if old == new else "diverged" if ahead and behind else "ahead" if ahead else "behind"
        body = self._example("get", f"{REPOSITORY}/compare/{{basehead}}", "200")
        page, headers = page_of(
            [self.commit(sha) for sha in ahead], request, self._url(f"compare/{request.values['basehead']}"), size=250
        )
        files = [{**body["files"][0], "filename": path} for path in self.store.changed(merge_base, new)[:300]]
        body |= {"status": status, "ahead_by": len(ahead), "behind_by": len(behind), "total_commits": len(ahead)}
        body |= {"merge_base_commit": self.commit(merge_base), "base_commit": self.commit(old)}
        return Answer(body=body | {"commits": page, "files": files}, headers=headers)

    def _get_contents(self, request: Request) -> Answer:
        commit = self.store.find(request.query.get("ref", "main"))
        found = self.store.read(commit, request.values["path"]) if commit else None
        if found is None:
            return _error(404, "Not Found")
        mode, blob, data = found
        examples = self.description.document["paths"][f"{REPOSITORY}/contents/{{path}}"]["get"]
        named = examples["responses"]["200"]["content"]["application/json"]["examples"]
        shape = "directory" if mode == "040000" else "symlink" if mode == "120000" else "file"
        published = named[f"response-if-content-is-a-{shape}"]["$ref"].rpartition("/")[2]
        body = copy.deepcopy(self.description.document["components"]["examples"][published]["value"])
        if shape == "file":
            big = len(data) > 1_000_000  # the contents call leaves larger files out
            body |= {"sha": blob, "size": len(data), "path": request.values["path"]}
            body |= {
                "encoding": "none" if big else "base64",
                "content": "" if big else base64.encodebytes(data).decode(),
            }
        return Answer(body=body)

    def _get_blob(self, request: Request) -> Answer:
        sha = request.values["file_sha"]
        raw = self.store.git("cat-file", "blob", sha).encode("utf-8", "surrogateescape")
        body = self._example("get", f"{REPOSITORY}/git/blobs/{{file_sha}}", "200")
        encoded = base64.encodebytes(raw).decode()
        return Answer(body=body | {"sha": sha, "size": len(raw), "encoding": "base64", "content": encoded})

    def _ref(self, name: str, sha: str) -> Any:
        body = self._example("get", f"{REPOSITORY}/git/ref/{{ref}}", "200")
        return body | {"ref": f"refs/{name}", "object": {**body["object"], "sha": sha}}

    def _get_ref(self, request: Request) -> Answer:
        name = request.values["ref"]
        sha = self.store.find(f"refs/{name}")
        return Answer(body=self._ref(name, sha)) if sha else _error(404, "Not Found")

    def _add_ref(self, request: Request) -> Answer:
        if refused := self._may(request, "contents"):
            return refused
        name = request.body["ref"].removeprefix("refs/")
        if self.store.find(f"refs/{name}"):
            return _error(422, "Reference already exists")
        self.store.git("update-ref", f"refs/{name}", request.body["sha"])
        return Answer(status=201, body=self._ref(name, request.body["sha"]))

    def _delete_ref(self, request: Request) -> Answer:
        if refused := self._may(request, "contents"):
            return refused
        name = request.values["ref"]
        if not self.store.find(f"refs/{name}"):
            return _error(422, "Reference does not exist")
        self.store.git("update-ref", "-d", f"refs/{name}")
        return Answer(status=204)

    def _list_rules(self, request: Request) -> Answer:
        rules = self._example("get", f"{REPOSITORY}/rules/branches/{{branch}}", "200")
        return Answer(body=rules if request.values["branch"] in self.state.protected else [])

    def _get_branch(self, request: Request) -> Answer:
        name = request.values["branch"]
        sha = self.store.find(f"refs/heads/{name}")
        if sha is None:
            return _error(404, "Branch not found")
        body = self._example("get", f"{REPOSITORY}/branches/{{branch}}", "200")
        return Answer(body=body | {"name": name, "protected": False, "commit": {**body["commit"], "sha": sha}})

    def _get_commit(self, request: Request) -> Answer:
        sha = self.store.find(request.values["ref"])
        return Answer(body=self.commit(sha)) if sha else _error(422, "No commit found for SHA")

    def _get_permission(self, request: Request) -> Answer:
        login = request.values["username"]
        role = self.state.permissions.get(login)
        if role is None:
            return _error(404, "Not Found")
        body = self._example("get", f"{REPOSITORY}/collaborators/{{username}}/permission", "200")
        folded = {"maintain": "write", "triage": "read"}.get(role, role)
        body["user"]["role_name"] = role  # missing in the published example
        return Answer(body=body | {"permission": folded, "role_name": role})


def _said(message: str, *reasons: str) -> Any:
    body: dict[str, Any] = {"message": message, "documentation_url": "https://docs.github.com/rest"}
    if reasons:
        body["errors"] = [{"resource": "Issue", "code": "custom", "message": reason} for reason in reasons]
    return body


def _error(status: int, message: str, *reasons: str) -> Answer:
    return Answer(status=status, body=_said(message, *reasons))
