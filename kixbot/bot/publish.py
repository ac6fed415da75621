"""Writing to the forge on behalf of a run: the sticky comment, statuses, deployments.

A token that may not write (a fork's, a read-only one) is no failure of the check: what could not be written is said
once per permission and stands in the job summary. Nothing is written for a commit that is no longer the head.
"""

import re
from collections.abc import Callable
from typing import TypeVar

from kixbot.forges.interface import Forge, PermissionDeniedError
from kixbot.forges.values import Comment, Deployment, DeploymentState, Status, StatusState
from kixbot.output.budget import clip_context, clip_units
from kixbot.output.marker import Marker, find_marker
from kixbot.output.terminal import escape

T = TypeVar("T")

# Logins that only machines have: GitHub Apps end in [bot]; GitLab's project and group tokens are named so.
_BOT = re.compile(r".+\[bot\]|(project|group)_\d+_bot(_\w+)?")


class Publisher:
    """Writes as one run. `say` gets a line when something cannot be written."""

    def __init__(self, forge: Forge, *, label: str, run_url: str | None, say: Callable[[str], None]) -> None:
        self._forge = forge
        self._label = label
        self._run_url = run_url
        self._say = say
        self.denied: list[str] = []

    def status(self, sha: str, name: str, state: StatusState, description: str) -> None:
        """A commit status `kix/<name>` (with a label `kix/<label>/<name>`), its texts cut to what the forge takes."""
        limits = self._forge.limits
        url = self._run_url if self._run_url and len(self._run_url) <= (limits.target_url or 2048) else None
        status = Status(
            context=clip_context(self.context(name), limits.status_context),
            state=state,
            description=clip_units(escape(description), limits.status_description),
            target_url=url,
        )
        self._try(lambda: self._forge.set_status(sha, status), "statuses: write")

    def context(self, name: str) -> str:
        """The context of a status; a label is part of it, since two labels on one commit would overwrite each other."""
        return f"kix/{self._label}/{name}" if self._label else f"kix/{name}"

    def comment(self, number: int, body: str, marker: Marker, *, only_update: bool = False) -> Comment | None:
        """The one comment of `marker` on a pull request, written or brought up to date; None when nothing is written.

        It is found by author and marker, so that neither a person who quotes it nor another bot with the same login
        is written over. The same marker by another token's bot is folded away. `only_update`: write no new one.
        """
        return self._try(lambda: self._comment(number, body, marker, only_update=only_update), "pull-requests: write")

    def _comment(self, number: int, body: str, marker: Marker, *, only_update: bool) -> Comment | None:
        if self._forge.get_pull_request(number).head_sha != marker.head:
            self._say(f"pull request {number}: has newer commits, so no comment is written for {marker.head[:12]}")
            return None
        viewer = self._forge.get_viewer()
        own: Comment | None = None
        for comment in self._forge.list_comments(number):
            found = find_marker(comment.body)
            if found is None or not found.is_same_comment(marker):
                continue
            if comment.author == viewer and own is None:
                own = comment
                if marker.is_older_than(found):
                    self._say(f"pull request {number}: a later run has written the comment already")
                    return None
            elif comment.author != viewer and _BOT.fullmatch(comment.author) and not comment.minimised:
                self._try(self._fold(number, comment), "pull-requests: write")
        if own is not None:
            return own if own.body == body else self._forge.update_comment(number, own.id, body)
        return None if only_update else self._forge.create_comment(number, body)

    def _fold(self, number: int, comment: Comment) -> Callable[[], None]:
        return lambda: self._forge.minimise_comment(number, comment.id)

    def result_comment(self, number: int, body: str, marker: Marker) -> Comment | None:
        """A comment on a merged pull request: as `comment`, but its head no longer matters."""

        def write() -> Comment | None:
            viewer = self._forge.get_viewer()
            for comment in self._forge.list_comments(number):
                found = find_marker(comment.body)
                if comment.author == viewer and found is not None and found.is_same_comment(marker):
                    return self._forge.update_comment(number, comment.id, body)
            return self._forge.create_comment(number, body)

        return self._try(write, "pull-requests: write")

    def deployment(self, *, sha: str, environment: str, task: str, description: str) -> Deployment | None:
        """A forge deployment, None when the token may not make one."""
        return self._try(
            lambda: self._forge.create_deployment(sha=sha, environment=environment, task=task, description=description),
            "deployments: write",
        )

    def deployment_state(self, deployment: Deployment | None, state: DeploymentState, description: str) -> None:
        """Moves a deployment on, if there is one."""
        if deployment is not None:
            text = clip_units(escape(description), self._forge.limits.status_description)
            self._try(
                lambda: self._forge.set_deployment_state(deployment, state, description=text, log_url=self._run_url),
                "deployments: write",
            )

    def _try(self, write: Callable[[], T], permission: str) -> T | None:
        if permission in self.denied:
            return None
        try:
            return write()
        except PermissionDeniedError as error:
            self.denied.append(permission)
            if error.permission not in self.denied:
                self.denied.append(error.permission)
            self._say(f"warning: {error.message}; {error.hint}. The job's summary holds what was to be written")
            return None
