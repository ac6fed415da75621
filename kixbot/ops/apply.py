"""One object into the cluster: as `kix`, its generated values as `kix-secret`, its bookkeeping as `kix-record.…`."""

import base64
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from kixbot.cluster.faults import (
    BusyError,
    ConflictError,
    KindNotServedError,
    NamespaceMissingError,
    NotFoundError,
    RequestError,
    SchemaError,
    StaleError,
    UnreachableError,
)
from kixbot.cluster.interface import ApiKind, Cluster
from kixbot.diff.baseline import Baseline, baseline_of, encode, fingerprint
from kixbot.diff.ownership import Path, owned_paths, render_path
from kixbot.identity import is_secret
from kixbot.model.activation import FIELD_MANAGER, SECRET_MANAGER, RecordRow, record_manager
from kixbot.model.plan import Conflict
from kixbot.model.resource import Body, Ref, Resource
from kixbot.ops.desired import bookkeeping, generated_keys, hash_of, is_skewed, missing_keys, paths_by_text, sent_body
from kixbot.ops.owners import hand_over
from kixbot.ops.steps import Step, conflicts_of
from kixbot.retry import Clock, RetryLaterError, cluster_policy

GENERATED_BYTES: Final = 24  # 32 characters of base64url: 192 bits
NEW_KIND_SECONDS: Final = 5.0  # a just-made CRD's schema takes a moment to be served


class ConflictedError(Exception):
    """An apply met fields of other managers that are not ceded."""

    def __init__(self, conflicts: tuple[Conflict, ...]) -> None:
        super().__init__("conflict")
        self.conflicts = conflicts


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where objects are written and in whose name.

    `identities` and `groups` are each object's identity hash and the package it is shown under. `new_kinds` says
    whether this deploy makes CRDs.
    """

    cluster: Cluster
    name: str
    activation: str
    key: bytes
    identities: Mapping[Ref, str]
    groups: Mapping[Ref, str]
    force: bool = False
    new_kinds: bool = False
    clock: Clock = field(default_factory=Clock)


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """An object after its write, with its row for the record."""

    body: dict[str, Any]
    row: RecordRow
    left_out: tuple[Path, ...]


def write(target: Target, step: Step) -> Written:
    """Write one object and its bookkeeping.

    Raises ConflictedError on a conflict that is not ceded, faults otherwise. What may pass by itself is tried again.
    """
    kind = _await_kind(target, step)
    left_out = step.left_out
    if step.action == "refresh" and step.live is not None:
        body: dict[str, Any] = dict(step.live)
    else:
        if step.resource.generated:
            _ensure_generated(target, kind, step)
        if step.transfer and step.live is not None:
            hand_over(target.cluster, kind, step.resource, step.live, step.transfer)
        body, left_out = _apply(target, kind, step)
    return _keep_books(target, kind, step, body, left_out)


def _await_kind(target: Target, step: Step) -> ApiKind:
    found = step.kind
    deadline = target.clock.now() + NEW_KIND_SECONDS
    while found is None:
        discovery = target.cluster.discover(refresh=True)
        found = discovery.find_ref(step.ref, step.resource.api_version)
        if found is None:
            if target.clock.now() >= deadline:
                raise KindNotServedError(
                    f"{step.ref.plain}: the cluster does not serve {step.resource.api_version} {step.ref.kind}",
                    hint="install its CRD, or add it to the build",
                )
            target.clock.sleep(0.2)
    return found


def _apply(target: Target, kind: ApiKind, step: Step) -> tuple[dict[str, Any], tuple[Path, ...]]:
    """Apply; on a conflict once more without the ceded leaves, never without the subtree above them."""
    body = sent_body(step.resource, step.left_out)
    try:
        return _send_healed(target, kind, step, body), step.left_out
    except StaleError as error:
        raise StaleError(f"{step.ref.plain}: changed while its fields were put back", hint="deploy again") from error
    except ConflictError as error:
        fresh = replace(step, live=target.cluster.get(kind, step.ref.name, step.ref.namespace))
        conflicts = conflicts_of(fresh, error)
        if any(conflict.verdict != "ceded" for conflict in conflicts):
            raise ConflictedError(conflicts) from error
        held = _paths_named(fresh, {conflict.path.removeprefix("$") for conflict in conflicts})
        left_out = tuple(sorted({*step.left_out, *held}, key=render_path))
        return attempt(target, step, lambda: _send(target, kind, sent_body(step.resource, left_out))), left_out


def _send_healed(target: Target, kind: ApiKind, step: Step, body: Body) -> dict[str, Any]:
    """Send; where entries of owners are of another API version, rewrite these, guarded, and send once more.

    Only their version moves. Otherwise every apply at the new version fails with "field not declared in schema" for a
    field that nobody wrote: the new version's default.
    """
    try:
        return attempt(target, step, lambda: _send(target, kind, body, step.guard))
    except SchemaError:
        live = _find(target, kind, step)
        if live is None or not is_skewed(live, kind.api_version):
            raise
        metadata = live["metadata"]
        entries = [{**entry, "apiVersion": kind.api_version} for entry in metadata["managedFields"]]
        healed = target.cluster.replace_owners(
            kind,
            step.ref.name,
            entries,
            namespace=step.ref.namespace,
            resource_version=metadata["resourceVersion"],
        )
        guard = healed["metadata"]["resourceVersion"] if step.guard else step.guard
        return attempt(target, step, lambda: _send(target, kind, body, guard))


def _paths_named(step: Step, fields: set[str]) -> tuple[Path, ...]:
    return tuple(path for text, path in paths_by_text(step.live).items() if text in fields)


def _send(target: Target, kind: ApiKind, body: Body, guard: str = "") -> dict[str, Any]:
    """`guard` is the resourceVersion of the only object whose fields may be taken."""
    if guard:
        body = {**body, "metadata": {**body["metadata"], "resourceVersion": guard}}
    return target.cluster.apply(kind, body, manager=FIELD_MANAGER, force=target.force or bool(guard))


def attempt(target: Target, step: Step, request: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """Send, trying again what the table of faults says may pass; schema faults only while our own CRD is fresh."""
    started = target.clock.now()
    result: dict[str, Any] = {}
    for one in cluster_policy(target.clock):
        with one:
            try:
                result = request()
            except (BusyError, UnreachableError) as error:
                raise RetryLaterError(error) from error
            except (KindNotServedError, NamespaceMissingError, SchemaError) as error:
                if not target.new_kinds or target.clock.now() - started > NEW_KIND_SECONDS:
                    raise named(error, step) from error
                raise RetryLaterError(error, after=0.2) from error
            except ConflictError:
                raise
            except RequestError as error:
                raise named(error, step) from error
    return result


def named(error: RequestError, step: Step) -> RequestError:
    """The same fault with the object in front, where the message lacks it."""
    if step.ref.plain not in error.message:
        error.message = f"{step.ref.plain}: {error.message}"
        error.args = (error.message,)
    return error


def _ensure_generated(target: Target, kind: ApiKind, step: Step) -> None:
    """Make the values that are absent: all by one apply as `kix-secret`, later keys by a guarded merge patch.

    Never again by apply, which would delete the others; a value rotated by hand stays.
    """
    live = _find(target, kind, step)
    metadata = {"name": step.ref.name, "namespace": step.ref.namespace}
    if live is None:
        body = {
            "apiVersion": step.resource.api_version,
            "kind": step.ref.kind,
            "metadata": metadata,
            "type": step.resource.manifest.get("type", "Opaque"),
            "data": _values(step.resource, generated_keys(step.resource)),
        }
        attempt(target, step, lambda: target.cluster.apply(kind, body, manager=SECRET_MANAGER))
        return
    missing = missing_keys(step.resource, live)
    if missing:
        guard = {"resourceVersion": live["metadata"]["resourceVersion"], "uid": live["metadata"]["uid"]}
        patch = {"metadata": guard, "data": _values(step.resource, missing)}
        target.cluster.merge_patch(kind, step.ref.name, patch, namespace=step.ref.namespace, manager=SECRET_MANAGER)


def _values(resource: Resource, names: Iterable[str]) -> dict[str, str]:
    """A value for each key: the manifest's own where it has one (a user name, say, which is no secret), else made."""
    given = resource.manifest.get("data") or {}
    return {name: given.get(name) or _value() for name in names}


def _value() -> str:
    return base64.b64encode(secrets.token_urlsafe(GENERATED_BYTES).encode()).decode()


def _find(target: Target, kind: ApiKind, step: Step) -> dict[str, Any] | None:
    try:
        return target.cluster.get(kind, step.ref.name, step.ref.namespace)
    except NotFoundError:
        return None


def _keep_books(target: Target, kind: ApiKind, step: Step, body: dict[str, Any], left_out: tuple[Path, ...]) -> Written:
    known = _kept_baseline(target, step)
    value = value_hash(step.resource, body, target.key) if known is None else known.value_hash
    identity = target.identities[step.ref]
    books = bookkeeping(
        step.resource, body, cluster=target.name, activation=target.activation, identity=identity, applied_hash=value
    )
    try:
        kept = attempt(
            target,
            step,
            lambda: target.cluster.apply(kind, books, manager=record_manager(target.name), force=True),
        )
    except StaleError as error:
        raise StaleError(
            f"{step.ref.plain}: deleted and made anew by somebody while it was deployed", hint="deploy again"
        ) from error
    row = row_of(target, step.resource, kept, value, left_out)
    if known is not None:
        row = replace(row, owned=known.owned, resource_version=known.resource_version)
    return Written(body=kept, row=row, left_out=left_out)


def _kept_baseline(target: Target, step: Step) -> RecordRow | None:
    """The row whose baseline stays, where the bookkeeping alone is rewritten: what drifted meanwhile is still drift."""
    row = step.row
    if step.action != "refresh" or row is None or not row.value_hash:
        return None
    left_out = tuple(render_path(path) for path in step.left_out)
    return row if row.content_hash == hash_of(step.resource, target.key) and row.left_out == left_out else None


def row_of(target: Target, resource: Resource, body: Body, value: str, left_out: tuple[Path, ...]) -> RecordRow:
    """The record's row of an object as it now is."""
    return RecordRow(
        ref=resource.ref,
        api_version=resource.api_version,
        uid=body["metadata"]["uid"],
        content_hash=hash_of(resource, target.key),
        identity=target.identities[resource.ref],
        package=target.groups[resource.ref],
        left_out=tuple(render_path(path) for path in left_out),
        resource_version=body["metadata"]["resourceVersion"],
        owned=encode(_baseline(resource, body)),
        value_hash=value,
        cede=resource.cede,
    )


def value_hash(resource: Resource, body: Body, key: bytes) -> str:
    """A hash of the values kix owns in the live object; keyed for Secrets."""
    return fingerprint(body, _baseline(resource, body), key if is_secret(resource.manifest) else None)


def _baseline(resource: Resource, body: Body) -> Baseline:
    return baseline_of(owned_paths(body, FIELD_MANAGER), resource.manifest)
