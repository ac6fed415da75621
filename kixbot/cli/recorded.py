"""Builds of what a record was made from: the working tree where it still is that, else the record's commit."""

import re
from collections.abc import Callable
from contextlib import closing

from kixbot.cli.session import Session
from kixbot.cli.target import find_target, open_target, request_of
from kixbot.errors import KixError
from kixbot.model.build import Build
from kixbot.model.drift import Drift
from kixbot.ops.build import build
from kixbot.ops.drift import find_drift
from kixbot.ops.observe import Observation
from kixbot.ops.rollback import commit_of, read_record, target_of
from kixbot.sources.opening import BuildRequest

_COMMIT = re.compile(r"[0-9a-f]{40}")


def with_applied_values(session: Session, cluster: str, seen: Observation, *, known: tuple[Build, ...] = ()) -> Drift:
    """The drift, with applied values as far as `known`, the working tree or the record's commit have them.

    Nothing is built where nothing drifted. A tree that does not build, or a commit that is not here, leaves the old
    value "not available".
    """
    drift = find_drift(seen, known)
    found = known
    for source in (lambda: _working_tree(session, cluster, known), lambda: _recorded(session, cluster, seen)):
        if not drift.lacks_values:
            break
        found = (*found, *_tried(session, source))
        drift = find_drift(seen, found)
    return drift


def _working_tree(session: Session, cluster: str, known: tuple[Build, ...]) -> tuple[Build, ...]:
    return () if known else (build(_request(session, cluster, None)).build,)


def _recorded(session: Session, cluster: str, seen: Observation) -> tuple[Build, ...]:
    current = seen.record.current
    commit = None if current is None else current.commit
    if commit is None or not _COMMIT.fullmatch(commit):
        return ()
    return (build(_request(session, cluster, commit)).build,)


def _request(session: Session, cluster: str, ref: str | None) -> BuildRequest:
    request = request_of(session)
    return BuildRequest(directory=request.directory, config=request.config, targets=(cluster,), ref=ref)


def _tried(session: Session, source: Callable[[], tuple[Build, ...]]) -> tuple[Build, ...]:
    try:
        return source()
    except KixError as error:
        session.console.detail(f"applied values: {error.message}")
        return ()


def activation_commit(session: Session, targets: tuple[str, ...], name: str) -> str:
    """The commit of an activation that was ever current in the cluster. Raises RefusedError, faults."""
    target = find_target(session, targets[0] if targets else None)
    with closing(open_target(session, target)) as edge:
        record = read_record(edge, target.name, record_namespace=target.settings.record_namespace)
    return commit_of(target_of(record, target.name, name))
