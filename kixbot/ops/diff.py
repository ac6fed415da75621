"""Diff: what changes from one build to another. Needs no cluster and no client."""

from kixbot.diff.planner import plan
from kixbot.errors import SourceError
from kixbot.model.build import Build
from kixbot.model.plan import Plan


def diff_builds(old: Build | None, new: Build) -> Plan:
    """The plan from `old` (None: nothing) to `new`.

    Raises SourceError where the new build has faults that leave it without an activation.
    """
    if new.activation is None:
        name = f"cluster {new.cluster.name}" if new.cluster.name else "manifests"
        raise SourceError(f"{name}: the build has faults, so it has no activation", hint="kix check lists them")
    return plan(old, new)
