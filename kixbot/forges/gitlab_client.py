"""The GitLab transport: python-gitlab's session, with our own retries and errors.

python-gitlab retries a 429 for as long as it is told to and never the status lock's 409; both are decided here, by the
same policy as for GitHub. A page link is followed only on the server that was asked.
"""

from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from kixbot.errors import ForgeError
from kixbot.forges.interface import NotFoundError, PermissionDeniedError
from kixbot.forges.once import UncertainWriteError
from kixbot.retry import Clock, RetryLaterError, forge_policy

PER_PAGE = 100  # the most a page may hold (doc/api/rest)
LOCK_WAIT = 2.0  # the status lock is held for at most 20 tries of 0.5 s each on the server's side


class RefusedError(ForgeError):
    """GitLab answered 400, 409 or 422; `said` is its own sentence."""

    def __init__(self, message: str, *, status: int, said: str) -> None:
        super().__init__(message)
        self.status = status
        self.said = said


class GitLabClient:
    """One token's view of one GitLab. `api_url` is CI_API_V4_URL (`https://host/api/v4`)."""

    def __init__(self, *, token: str, job_token: bool, api_url: str, clock: Clock) -> None:
        from gitlab import Gitlab  # noqa: PLC0415  120 ms, only where a forge is opened

        server, marker, rest = api_url.rstrip("/").rpartition("/api/v4")
        if not marker or rest:
            raise ForgeError(f"{api_url}: not a GitLab API address", hint="https://HOST/api/v4, as CI_API_V4_URL says")
        self._server = urlsplit(api_url).netloc
        self._clock = clock
        # GitLab refuses a job token in any other header than JOB-TOKEN.
        self._gitlab = Gitlab(
            server,
            private_token=None if job_token else token,
            job_token=token if job_token else None,
            per_page=PER_PAGE,
            keep_base_url=True,
            timeout=30,
        )
        # Its errors leave the headers out, and Retry-After is needed.
        self._retry_after = ""
        self._gitlab.session.hooks["response"].append(self._note_headers)

    def get(self, path: str, query: Mapping[str, Any] | None = None) -> Any:
        """The JSON of one GET."""
        return self._send("get", path, query=query).json()

    def pages(self, path: str, query: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """The items of all pages, by the Link header."""
        target, parameters = path, {"per_page": PER_PAGE, **(query or {})}
        while target:
            answer = self._send("get", target, query=parameters)
            yield from answer.json()
            link = answer.links.get("next", {}).get("url", "")
            if link and urlsplit(link).netloc != self._server:
                raise ForgeError(f"the next page is on another host: {link}", hint="nothing was sent there")
            target, parameters = (path, dict(parse_qsl(urlsplit(link).query))) if link else ("", {})

    def write(self, verb: str, path: str, body: Mapping[str, Any], *, repeatable: bool) -> Any:
        """The JSON of one write. Raises UncertainWriteError when it is not repeatable and its answer got lost."""
        return self._send(verb, path, body=body, repeatable=repeatable).json()

    def _send(
        self,
        verb: str,
        path: str,
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        repeatable: bool = True,
    ) -> Any:
        for attempt in forge_policy(self._clock):
            with attempt:
                return self._once(verb, path, query, body, repeatable=repeatable)
        raise ForgeError(f"{verb} {path}: no answer")

    def _once(
        self, verb: str, path: str, query: Mapping[str, Any] | None, body: Mapping[str, Any] | None, *, repeatable: bool
    ) -> Any:
        from gitlab.exceptions import GitlabError, GitlabHttpError  # noqa: PLC0415
        from requests import RequestException  # noqa: PLC0415  python-gitlab's own transport

        what = f"{verb.upper()} {path}"
        try:
            return self._gitlab.http_request(
                verb,
                path,
                query_data=dict(query or {}),
                post_data=dict(body) if body is not None else None,
                obey_rate_limit=False,
                retry_transient_errors=False,
            )
        except GitlabHttpError as error:
            raise self._translate(what, error, repeatable=repeatable) from None
        except GitlabError as error:
            raise _unauthorised(what, error) from None
        except RequestException as error:
            lost = ForgeError(f"{what}: no answer: {type(error).__name__}", hint="is the forge reachable from here?")
            raise (RetryLaterError(lost) if repeatable else UncertainWriteError(lost.message)) from None

    def _translate(self, what: str, error: Any, *, repeatable: bool) -> Exception:
        status, said = int(error.response_code or 0), str(error.error_message or "")
        if status == 429:
            return RetryLaterError(ForgeError(f"{what}: rate limited"), after=self._wait())
        if status == 409 and "lock" in said.lower():
            # One lock per project and commit; a post that met it was not carried out.
            return RetryLaterError(RefusedError(f"{what}: {said}", status=status, said=said), after=LOCK_WAIT)
        if status == 403:
            return PermissionDeniedError(
                f"{what}: the token may not: {said}",
                permission="api",
                hint="use a project access token with the scope `api`; the job token may write deployments only",
            )
        if status == 404:
            return NotFoundError(f"{what}: not found", hint="does it exist, and may the token see it?")
        if status >= 500:
            failed = ForgeError(f"{what}: GitLab answered {status}", hint="run the job again")
            return RetryLaterError(failed) if repeatable else UncertainWriteError(failed.message)
        return RefusedError(f"{what}: refused with {status}: {said}", status=status, said=said)

    def _note_headers(self, answer: Any, *_: Any, **__: Any) -> None:
        self._retry_after = answer.headers.get("Retry-After", "")

    def _wait(self) -> float | None:
        return float(self._retry_after) if self._retry_after.isdigit() else None


def _unauthorised(what: str, error: Any) -> ForgeError:
    if getattr(error, "response_code", None) == 401:
        return PermissionDeniedError(
            f"{what}: the token is not valid here", permission="api", hint="pass a token of this project"
        )
    return ForgeError(f"{what}: the answer is not what GitLab sends: {type(error).__name__}")
