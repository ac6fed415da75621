"""What an API server says no with, as error classes, and the table that tells them apart.

Rows were seen on kube-apiserver 1.34.3: status, reason and causes decide first; texts only where the API server gives
nothing else (a schema fault of server-side apply is a 500 without a reason).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Any

from kixbot.errors import ClusterError


class Again(Enum):
    """What a failed request calls for."""

    NEVER = "never"  # the same request fails the same way
    RETRY = "retry"  # the same request may pass in a moment: a webhook, a leader election, too many requests
    REREAD = "reread"  # read the object again first: its resourceVersion is stale
    WAIT = "wait"  # for something of this build: a Namespace or a CRD


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldConflict:
    """One field that another manager owns. `field` is the API server's own path (`.spec.replicas`)."""

    field: str
    manager: str
    subresource: str | None
    message: str


class RequestError(ClusterError):
    """A request the API server answered with an error."""

    again = Again.NEVER

    def __init__(self, message: str, *, hint: str | None = None, status: int = 0) -> None:
        super().__init__(message, hint=hint)
        self.status = status


class NotFoundError(RequestError):
    """The object is not there."""


class KindNotServedError(RequestError):
    """The API server does not know the kind (404 as plain text)."""

    again = Again.WAIT


class NamespaceMissingError(NotFoundError):
    """The object's namespace is not there."""

    again = Again.WAIT


class TerminatingError(RequestError):
    """The namespace is being deleted; nothing new may be made in it."""


class ConflictError(RequestError):
    """Fields are owned by other managers."""

    def __init__(
        self, message: str, *, conflicts: tuple[FieldConflict, ...], hint: str | None = None, status: int = 409
    ) -> None:
        super().__init__(message, hint=hint, status=status)
        self.conflicts = conflicts


class StaleError(RequestError):
    """The resourceVersion or uid that was sent is not the live one."""

    again = Again.REREAD


class ExistsError(RequestError):
    """The object is there already."""


class ImmutableError(RequestError):
    """A field that may not change was changed; only making the object anew can do it."""


class RejectedError(RequestError):
    """The API server or a webhook refuses the object as it is."""


class SchemaError(RequestError):
    """The object does not fit its schema (unknown field, wrong type, duplicate list key)."""


class ForbiddenError(RequestError):
    """The credentials may not do this (403)."""


class UnauthorizedError(RequestError):
    """The credentials are not accepted (401)."""


class GoneError(RequestError):
    """The resourceVersion to watch from is too old (410)."""

    again = Again.REREAD


class TooLargeError(RequestError):
    """The object exceeds what the API server or etcd takes."""


class BusyError(RequestError):
    """The API server cannot answer now: throttled, no leader, a webhook that is down."""

    again = Again.RETRY


class UnreachableError(ClusterError):
    """No answer at all: no connection, a broken one, or a deadline passed."""

    again = Again.RETRY


# Texts of 422 causes that mean "immutable", by what the API server writes (1.34.3).
IMMUTABLE_TEXTS = (
    "field is immutable",
    "updates to statefulset spec for fields other than",
    "is immutable after creation",
    "pod updates may not change fields other than",
    "cannot change roleref",
    "updates to parameters are forbidden",
    "may not be changed in an update",
    "may not change once set",
)
SCHEMA_TEXTS = (
    "failed to create typed patch object",
    "field not declared in schema",
    "duplicate entries for key",
)
BUSY_TEXTS = (
    "failed calling webhook",
    "conversion webhook for",
    "etcdserver: leader changed",
    "etcdserver: request timed out",
    "etcdserver: too many requests",
)


def fault_of(status: int, content_type: str, body: Mapping[str, Any] | None, text: str, *, what: str) -> RequestError:
    """The error for an answer. `body` is the decoded Status object, None when the answer was no JSON.

    `what` says the request in words (`apply Deployment/web@shop`); it starts the message.
    """
    message = _bounded(str((body or {}).get("message") or text.strip() or f"HTTP {status}"))
    said = f"{what}: {message}"
    reason = str((body or {}).get("reason") or "")
    causes = tuple(((body or {}).get("details") or {}).get("causes") or ())
    match status:
        case 401:
            return UnauthorizedError(f"{what}: the API server does not accept the credentials", status=status,
                                     hint="log in again, or name another context with --context")  # fmt: skip
        case 403:
            if any(cause.get("reason") == "NamespaceTerminating" for cause in causes):
                return TerminatingError(said, status=status, hint="wait until the namespace is gone, then deploy again")
            return ForbiddenError(said, status=status, hint="kix needs this right; ask for it or use another context")
        case 404:
            return _not_found(said, body=body, content_type=content_type, what=what)
        case 409:
            return _conflict(said, reason=reason, causes=causes)
        case 410:
            return GoneError(said, status=status)
        case 413:
            return TooLargeError(said, status=status, hint=TOO_LARGE_HINT)
        case 422 | 400:
            return _invalid(said, causes=causes, status=status)
        case _:
            return _server_side(said, text=message, status=status)


def _bounded(text: str) -> str:
    """An API server may quote a whole object; the first part says what is wrong."""
    return text if len(text) <= MESSAGE_CHARACTERS else f"{text[:MESSAGE_CHARACTERS]}… ({len(text)} characters)"


MESSAGE_CHARACTERS = 1000
TOO_LARGE_HINT = "etcd takes 1.5 MiB an object; split it, or serve the data from an image or a volume"


def _not_found(said: str, *, body: Mapping[str, Any] | None, content_type: str, what: str) -> RequestError:
    if body is None or "json" not in content_type:
        return KindNotServedError(f"{what}: the API server does not serve this kind", status=404,
                                  hint="is its CRD in the cluster or in the build?")  # fmt: skip
    if (body.get("details") or {}).get("kind") == "namespaces":
        return NamespaceMissingError(said, status=404)
    return NotFoundError(said, status=404)


def _conflict(said: str, *, reason: str, causes: tuple[Mapping[str, Any], ...]) -> RequestError:
    fields = tuple(_field_conflict(cause) for cause in causes if cause.get("reason") == "FieldManagerConflict")
    if fields:
        return ConflictError(said, conflicts=fields)
    if reason == "AlreadyExists":
        return ExistsError(said, status=409)
    return StaleError(said, status=409)


def _field_conflict(cause: Mapping[str, Any]) -> FieldConflict:
    """Messages are `conflict with "m" using v [at time]` or `conflict with "m" with subresource "scale" using v`."""
    message = str(cause.get("message") or "")
    quoted = message.split('"')
    manager = quoted[1] if len(quoted) > 2 else message
    subresource = quoted[3] if len(quoted) > 4 and quoted[2].strip() == "with subresource" else None
    return FieldConflict(field=str(cause.get("field") or ""), manager=manager, subresource=subresource, message=message)


def _invalid(said: str, *, causes: tuple[Mapping[str, Any], ...], status: int) -> RequestError:
    kinds = ("FieldValueInvalid", "FieldValueForbidden")
    for cause in causes:
        text = str(cause.get("message") or "").lower()
        if cause.get("reason") in kinds and any(known in text for known in IMMUTABLE_TEXTS):
            return ImmutableError(said, status=status, hint="the object has to be made anew for this change")
    return RejectedError(said, status=status)


def _server_side(said: str, *, text: str, status: int) -> RequestError:
    if any(known in text for known in SCHEMA_TEXTS):
        return SchemaError(said, status=status)
    if "request is too large" in text:
        return TooLargeError(said, status=status, hint=TOO_LARGE_HINT)
    if status in (429, 502, 503, 504) or (status == 500 and any(known in text for known in BUSY_TEXTS)):
        return BusyError(said, status=status)
    return RejectedError(said, status=status) if status < 500 else RequestError(said, status=status)
