"""GitHub's GraphQL on loopback: documents are validated and executed against the published schema by graphql-core."""

import base64
import json
from functools import cache
from typing import TYPE_CHECKING, Any

from graphql import GraphQLError, GraphQLSchema, build_client_schema, graphql_sync

from tests.forges.git_store import ZERO
from tests.forges.loopback import Answer
from tests.parts.paths import NODE_MODULES

if TYPE_CHECKING:
    from tests.forges.github_server import GitHubServer, Token


@cache
def schema() -> GraphQLSchema:
    """The published schema; it fails strict validation of its own, so it is taken as valid."""
    file = NODE_MODULES.get("node_modules/@octokit/graphql-schema/schema.json")
    document = json.loads(file.read_text(encoding="utf-8"))
    return build_client_schema(document.get("data", document), assume_valid=True)


class GraphQL:
    """Executes the operations the bot uses over the server's repository and state."""

    def __init__(self, server: "GitHubServer") -> None:
        self._server = server

    def answer(self, body: Any, token: "Token") -> Answer:
        """HTTP 200 with data and, where something is refused, errors that carry GitHub's `type`."""
        root = {
            "viewer": {"login": token.login},
            "repository": lambda _info, owner, name, **_: self._repository(f"{owner}/{name}"),
            "minimizeComment": lambda _info, input: self._minimise(input),  # noqa: A006
            "createCommitOnBranch": lambda _info, input: self._commit(input, token),  # noqa: A006
            "updateRefs": lambda _info, input: self._update_refs(input, token),  # noqa: A006
        }
        result = graphql_sync(schema(), body["query"], root, variable_values=body.get("variables"))
        answer: dict[str, Any] = {"data": result.data}
        if result.errors:
            answer["errors"] = [
                {"type": (error.extensions or {}).get("type", "INVALID"), "message": error.message, "path": error.path}
                for error in result.errors
            ]
            self._server.violations += [error.message for error in result.errors if not error.extensions]
        return Answer(body=answer)

    def _repository(self, name: str) -> Any:
        if name != self._server.repository:
            raise GraphQLError("Could not resolve to a Repository", extensions={"type": "NOT_FOUND"})
        return {"object": lambda _info, oid, **_: self._object(oid)}

    def _object(self, oid: str) -> Any:
        sha = self._server.store.find(oid)
        return {"__typename": "Commit", "history": lambda _info, **page: self._history(sha, page)} if sha else None

    def _history(self, sha: str | None, page: Any) -> Any:
        every = self._server.store.history(str(sha))
        start = int(page.get("after") or 0)
        shown = every[start : start + page["first"]]
        end = start + len(shown)
        return {
            "pageInfo": {"hasNextPage": end < len(every), "endCursor": str(end)},
            "nodes": [self._node(commit) for commit in shown],
        }

    def _node(self, sha: str) -> Any:
        store = self._server.store
        pulls = []
        for number, kept in self._server.state.pulls.items():
            head = self._server.head_of(number)
            onto = kept.get("merged_onto") or str(store.find(kept["base"]))
            reached = kept["merge"] == sha or sha in store.span(onto, str(head))
            if reached:
                pulls.append(self._pull(number))
        return {
            "oid": sha,
            "parents": {"nodes": [{"oid": parent} for parent in store.parents(sha)]},
            "associatedPullRequests": {"nodes": pulls},
        }

    def _pull(self, number: int) -> Any:
        shown = self._server.pull(number)
        head = shown["head"]["repo"]
        return {
            "number": number,
            "title": shown["title"],
            "body": shown["body"],
            "url": shown["html_url"],
            "merged": shown["merged"],
            "mergedAt": shown["merged_at"],
            "baseRefName": shown["base"]["ref"],
            "baseRefOid": shown["base"]["sha"],
            "headRefName": shown["head"]["ref"],
            "headRefOid": shown["head"]["sha"],
            "author": {"__typename": "User", "login": shown["user"]["login"]},
            "headRepository": {"nameWithOwner": head["full_name"]} if head else None,
            "mergeCommit": {"oid": shown["merge_commit_sha"]} if shown["merged"] else None,
        }

    def _minimise(self, given: Any) -> Any:
        self._server.state.minimised.add(given["subjectId"])
        return {"minimizedComment": {"__typename": "IssueComment", "isMinimized": True}}

    def _commit(self, given: Any, token: "Token") -> Any:
        _need(token)
        store, branch = self._server.store, given["branch"]["branchName"]
        if branch in self._server.state.protected:
            raise GraphQLError("Changes must be made through a pull request.", extensions={"type": "UNPROCESSABLE"})
        expected = given["expectedHeadOid"]
        message = given["message"]["headline"] + (
            f"\n\n{given['message']['body']}" if given["message"].get("body") else ""
        )
        changes = given["fileChanges"]
        files: list[tuple[str, bytes | None]] = [
            (item["path"], base64.b64decode(item["contents"])) for item in changes.get("additions") or ()
        ]
        files += [(item["path"], None) for item in changes.get("deletions") or ()]
        if store.find(f"refs/heads/{branch}") != expected:
            raise _stale(branch)
        made = store.commit(expected, message, files)
        if not store.move(branch, made, expected):
            raise _stale(branch)
        self._server.state.signed[made] = token.login
        return {"commit": {"oid": made, "url": f"https://forge.invalid/commit/{made}"}}

    def _update_refs(self, given: Any, token: "Token") -> Any:
        _need(token)
        for update in given["refUpdates"]:
            branch = update["name"].removeprefix("refs/heads/")
            before = update.get("beforeOid")
            now = self._server.store.find(f"refs/heads/{branch}")
            if before is not None and (now or ZERO) != before:
                raise _stale(branch)
            if not self._server.store.move(branch, update["afterOid"], now or ZERO):
                raise _stale(branch)
        return {"clientMutationId": None}


def _need(token: "Token") -> None:
    if "contents" not in token.writes:
        raise GraphQLError("Resource not accessible by integration", extensions={"type": "FORBIDDEN"})


def _stale(branch: str) -> GraphQLError:
    said = f'Expected branch to point to another commit but it did not ("{branch}"). Pull and try again.'
    return GraphQLError(said, extensions={"type": "STALE_DATA"})
