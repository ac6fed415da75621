"""A hold on a cluster: set by a rollback or by hand, it refuses deploys until it is released or its time is over."""

from datetime import datetime

from kixbot.cluster.interface import Cluster
from kixbot.cluster.records import Record, Records
from kixbot.errors import RefusedError
from kixbot.model.activation import DEFAULT_RECORD_NAMESPACE, Hold


def require_no_hold(record: Record, *, cluster: str, now: datetime) -> None:
    """Raises RefusedError with who holds the cluster, since when and why."""
    hold = standing(record, now=now)
    if hold is not None:
        until = f" until {hold.until}" if hold.until else ""
        since = f" since {hold.since}" if hold.since else ""
        raise RefusedError(
            f"cluster {cluster}: held by {hold.who}{since}{until}: {hold.why}", hint=f"kix release {cluster}"
        )


def standing(record: Record, *, now: datetime) -> Hold | None:
    """The hold on the current record, None when there is none or its time is over.

    A time that cannot be read never ends it: a person has to.
    """
    hold = None if record.current is None else record.current.hold
    if hold is None or hold.until is None:
        return hold
    try:
        end = datetime.fromisoformat(hold.until)
    except ValueError:
        return hold
    return hold if end.tzinfo is None or end > now else None


def release(cluster: Cluster, name: str, *, record_namespace: str = DEFAULT_RECORD_NAMESPACE) -> Hold:
    """Take the hold off, and give what it was. Raises RefusedError when nothing holds the cluster, faults else."""
    records = Records(cluster, cluster=name, namespace=record_namespace)
    current = records.read().current
    if current is None or current.hold is None:
        raise RefusedError(f"cluster {name}: nothing holds it")
    records.release(current.name)
    return current.hold
