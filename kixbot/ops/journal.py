"""What one deploy writes into the record, step by step."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from kixbot.cluster.faults import RequestError, UnreachableError
from kixbot.cluster.interface import ref_of
from kixbot.cluster.locks import Lock
from kixbot.cluster.records import Records
from kixbot.diff.groups import groups_of
from kixbot.errors import ClusterError
from kixbot.model.activation import Activation, Hold, Phase, RecordRow
from kixbot.model.build import Build
from kixbot.model.receipt import Receipt
from kixbot.model.resource import Body, Ref
from kixbot.ops.desired import hash_of
from kixbot.ops.drift import is_unmoved
from kixbot.ops.plan import LivePlan

MESSAGE_CHARACTERS: Final = 1000


class Journal:
    """The record of the deploy that runs. Rows of objects that left the build stay until these are deleted."""

    def __init__(self, records: Records, build: Build, live: LivePlan, *, key: bytes, cluster_uid: str) -> None:
        if build.activation is None:
            raise ClusterError(f"cluster {build.cluster.name}: the build has no activation")
        self._records, self._build, self._live = records, build, live
        self.name = build.activation.name
        self.dropped_count = 0
        self.groups = {ref: group.id for ref, group in groups_of(build).items()}
        self._key = key
        self._rows = _first_rows(build, live, key, self.groups)
        source = build.evaluated.source
        self._activation = Activation(
            name=self.name,
            cluster=build.cluster.name,
            phase=Phase.APPLYING,
            source_path=build.activation.path,
            source_kind=source.kind,
            commit=source.commit,
            repository=source.remote,
            cluster_uid=cluster_uid,
            packages=tuple(package.id for package in build.evaluated.packages),
        )

    def begin(self) -> None:
        """Write Activation and parts, as Applying."""
        known = next((one for one in self._live.seen.record.activations if one.name == self.name), None)
        if known is not None:
            self._activation = replace(self._activation, activated_at=known.activated_at, receipt=known.receipt)
        self._records.write(replace(self._activation, rows=self._all_rows()))

    def wrote(self, row: RecordRow) -> None:
        """An object was written."""
        self._rows[row.ref] = row

    def touched(self, body: Body) -> None:
        """A watch saw a newer version of an object: it is the baseline's, unless a field kix owns moved meanwhile."""
        row = self._rows.get(ref_of(body))
        version = str(body["metadata"].get("resourceVersion") or "")
        if row is not None and version and is_unmoved(row, body, self._key):
            self._rows[row.ref] = replace(row, resource_version=version)

    def dropped(self, ref: Ref) -> None:
        """An object that left the build was deleted."""
        self._rows.pop(ref, None)
        self.dropped_count += 1

    def fail(self, message: str) -> None:
        """Mark the record Failed, with what was done. Never raises: the failure itself is what matters."""
        failed = replace(
            self._activation, phase=Phase.FAILED, message=message[:MESSAGE_CHARACTERS], rows=self._all_rows()
        )
        try:
            self._records.write_rows(failed)
            self._records.write_status(failed)
        except (RequestError, UnreachableError):
            return

    def finish(self, receipt: Receipt, lock: Lock, *, hold: Hold | None = None) -> None:
        """Rows, then the pointer to the current record, then phases: these follow from the pointer.

        `hold` is what refuses later deploys.
        """
        done = replace(
            self._activation,
            phase=Phase.ACTIVE,
            message="",
            receipt=receipt,
            activated_at=receipt.time,
            hold=hold,
            rows=self._all_rows(),
        )
        self._records.write_rows(done)
        lock.set_current(self.name)
        earlier = self._live.seen.record.activations
        known = next((one for one in earlier if one.name == self.name), None)
        history = tuple(known.extra.get("history", ())) if known else ()
        self._records.write_status(done, history=(*history, _short(receipt)))
        for one in earlier:
            if one.name != self.name and one.phase is not Phase.SUPERSEDED:
                self._records.set_phase(one.name, Phase.SUPERSEDED, f"superseded by {self.name}")

    def _all_rows(self) -> tuple[RecordRow, ...]:
        return tuple(self._rows[ref] for ref in sorted(self._rows))


def _short(receipt: Receipt) -> dict[str, str]:
    short = {"id": receipt.id, "time": receipt.time, "commit": receipt.commit, "actor": receipt.actor}
    return {name: value for name, value in short.items() if value is not None}


def _first_rows(build: Build, live: LivePlan, key: bytes, groups: Mapping[Ref, str]) -> dict[Ref, RecordRow]:
    """Rows before anything is written: known baselines are kept where the content is the recorded one."""
    rows: dict[Ref, RecordRow] = {}
    for step in live.steps:
        wanted = hash_of(step.resource, key)
        fresh = RecordRow(
            ref=step.ref,
            api_version=step.resource.api_version,
            content_hash=wanted,
            identity=build.identities[step.ref].hash,
            package=groups[step.ref],
            cede=step.resource.cede,
        )
        known = step.row if step.action in ("none", "refresh") else None
        if known is None or known.content_hash != wanted:
            rows[step.ref] = fresh
        else:
            rows[step.ref] = replace(known, identity=fresh.identity, package=fresh.package)
    for leftover in live.leftovers:
        rows[leftover.ref] = replace(leftover.row, identity="")
    return rows
