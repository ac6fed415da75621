"""The GitHub transport: PyGithub's requester, with our own retries, paging and errors.

PyGithub repeats a POST on any 5xx by default, so one lost answer makes two comments; and it follows a page link by its
path alone, whatever host it names. Both are done here instead: a POST that may have happened is never sent twice
(the caller looks first), and a link to another host is refused.
"""

from collections.abc import Iterator, Mapping
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from kixbot.errors import ForgeError
from kixbot.forges.interface import NotFoundError, PermissionDeniedError
from kixbot.forges.once import UncertainWriteError
from kixbot.retry import Clock, RetryLaterError, forge_policy

# Seconds to wait after a secondary limit that names no time. GitHub's REST guide says "at least one minute"; blocks of
# 72 s have been seen, so each further wait is longer (`retry.forge_policy`).
SECONDARY_WAIT = 60.0
PER_PAGE = 100


class StaleDataError(ForgeError):
    """GraphQL answered STALE_DATA: the branch is not at the expected head."""


class GitHubClient:
    """One token's view of one GitHub API. `api_url` and `graphql_url` are the addresses the CI gave."""

    def __init__(self, *, token: str, api_url: str, graphql_url: str | None, clock: Clock) -> None:
        from github import Auth, Github  # noqa: PLC0415  200 ms, only where a forge is opened

        self._host = urlsplit(api_url).netloc
        self._clock = clock
        self._requester = Github(
            auth=Auth.Token(token),
            base_url=api_url.rstrip("/"),
            retry=None,
            seconds_between_requests=0,
            seconds_between_writes=0,
            per_page=PER_PAGE,
            lazy=True,
        ).requester
        if graphql_url and urlsplit(graphql_url).netloc != self._host:
            raise ForgeError(
                f"{graphql_url}: the GraphQL address is on another host than {api_url}",
                hint="set GITHUB_API_URL and GITHUB_GRAPHQL_URL to the same server",
            )
        # On GitHub Enterprise /api/v3 goes with /api/graphql, which a suffix cannot tell.
        self._graphql_path = urlsplit(graphql_url).path if graphql_url else None

    def get(self, path: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """The JSON of one GET."""
        return self._send("GET", path, parameters=parameters, repeatable=True)[1]

    def pages(self, path: str, parameters: Mapping[str, Any] | None = None, *, key: str | None = None) -> Iterator[Any]:
        """The items of all pages; `key` names the list where a page is an object."""
        target, query = path, {"per_page": PER_PAGE, **(parameters or {})}
        while target:
            headers, page = self._send("GET", target, parameters=query, repeatable=True)
            yield from (page[key] if key else page)
            target, query = self._next_page(headers.get("link", "")), {}

    def write(self, verb: str, path: str, body: Mapping[str, Any], *, repeatable: bool) -> Any:
        """The JSON of one write. `repeatable`: sending it twice leaves the same as once.

        Raises UncertainWriteError when it is not repeatable and the answer got lost.
        """
        return self._send(verb, path, body=body, repeatable=repeatable)[1]

    def graphql(self, query: str, variables: Mapping[str, Any], *, repeatable: bool = True) -> Any:
        """The `data` of one GraphQL request. Raises StaleDataError, NotFoundError, PermissionDeniedError."""
        target = self._graphql_path or self._requester.graphql_url
        body = {"query": query, "variables": dict(variables)}
        _, answer = self._send("POST", target, body=body, repeatable=repeatable)
        errors = answer.get("errors") or []
        if errors:
            raise _graphql_error(errors)
        return answer["data"]

    def _next_page(self, link: str) -> str:
        for part in link.split(","):
            address, _, relation = part.partition(";")
            if 'rel="next"' in relation:
                url = address.strip().strip("<>")
                if urlsplit(url).netloc != self._host:
                    raise ForgeError(f"the next page is on another host: {url}", hint="nothing was sent there")
                return url
        return ""

    def _send(
        self,
        verb: str,
        path: str,
        *,
        parameters: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        repeatable: bool,
    ) -> tuple[Mapping[str, str], Any]:
        for attempt in forge_policy(self._clock):
            with attempt:
                return self._once(verb, path, parameters, body, repeatable=repeatable)
        raise ForgeError(f"{verb} {path}: no answer")

    def _once(
        self,
        verb: str,
        path: str,
        parameters: Mapping[str, Any] | None,
        body: Mapping[str, Any] | None,
        *,
        repeatable: bool,
    ) -> tuple[Mapping[str, str], Any]:
        from github import GithubException  # noqa: PLC0415
        from requests import RequestException  # noqa: PLC0415  PyGithub's own transport

        what = f"{verb} {urlsplit(path).path}"
        try:
            return self._requester.requestJsonAndCheck(
                verb, path, parameters=dict(parameters) if parameters else None, input=dict(body) if body else None
            )
        except GithubException as error:
            raise self._translate(what, error, repeatable=repeatable) from None
        except RequestException as error:
            lost = ForgeError(f"{what}: no answer: {type(error).__name__}", hint="is the forge reachable from here?")
            raise (RetryLaterError(lost) if repeatable else _uncertain(what)) from None
        except (AssertionError, ValueError) as error:
            raise ForgeError(f"{what}: the answer is not what GitHub sends: {type(error).__name__}") from None

    def _translate(self, what: str, error: Any, *, repeatable: bool) -> Exception:
        status = int(error.status)
        headers = {name.lower(): value for name, value in (error.headers or {}).items()}
        said = _message(error.data)
        if status == 429 or (status == 403 and ("retry-after" in headers or "rate limit" in said.lower())):
            # A limited request was not carried out, so even a POST may be sent again.
            return RetryLaterError(ForgeError(f"{what}: rate limited: {said}"), after=self._wait(headers))
        if status == 401:
            return ForgeError(f"{what}: the token is not valid", hint="pass a token that has not expired")
        if status == 403:
            needed = _permission(headers.get("x-accepted-github-permissions", ""))
            return PermissionDeniedError(f"{what}: the token may not: {said}", permission=needed or what)
        if status == 404:
            return NotFoundError(f"{what}: not found", hint="does it exist, and may the token see it?")
        if status >= 500:
            failed = ForgeError(f"{what}: GitHub answered {status}", hint="see githubstatus.com and run the job again")
            return RetryLaterError(failed) if repeatable else _uncertain(what)
        return ForgeError(f"{what}: refused with {status}: {said}")

    def _wait(self, headers: Mapping[str, str]) -> float:
        after = headers.get("retry-after", "")
        if after.isdigit():
            return float(after)
        if after:
            try:
                return max(0.0, parsedate_to_datetime(after).timestamp() - self._clock.now())
            except ValueError:
                return SECONDARY_WAIT
        reset = headers.get("x-ratelimit-reset", "")
        if headers.get("x-ratelimit-remaining") == "0" and reset.isdigit():
            # One second more: it is not told when in that second the reset comes.
            return max(1.0, int(reset) - self._clock.now() + 1)
        return SECONDARY_WAIT


def _uncertain(what: str) -> UncertainWriteError:
    return UncertainWriteError(f"{what}: the answer got lost, so it may have happened")


def _permission(header: str) -> str:
    """`pull_requests=write; issues=write` as a workflow writes it: `pull-requests: write` (alternatives by "or")."""
    wanted = [part.strip().replace("_", "-").replace("=", ": ") for part in header.split(";") if part.strip()]
    return " or ".join(wanted)


def _message(data: Any) -> str:
    """The words of an error body, with the reasons a 422 carries; nothing else of it."""
    if not isinstance(data, Mapping):
        return ""
    reasons = [
        str(item.get("message") or item.get("code") or "") if isinstance(item, Mapping) else str(item)
        for item in data.get("errors") or ()
    ]
    return ": ".join(part for part in (str(data.get("message", "")), ", ".join(filter(None, reasons))) if part)


def _graphql_error(errors: Any) -> ForgeError:
    kinds = {str(error.get("type", "")) for error in errors}
    said = "; ".join(str(error.get("message", "")) for error in errors)
    if "STALE_DATA" in kinds:
        return StaleDataError(said)
    if "NOT_FOUND" in kinds:
        return NotFoundError(said)
    if "FORBIDDEN" in kinds or "INSUFFICIENT_SCOPES" in kinds:
        return PermissionDeniedError(f"the token may not: {said}", permission=said)
    return ForgeError(f"GitHub refused: {said}")
