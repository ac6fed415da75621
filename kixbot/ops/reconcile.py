"""Putting drifted fields back: which steps of a plan do it, and by what right.

A forced apply is sent only where every conflict of an unforced dry-run lies in a field that the record says kix
applied, and that is not ceded. A field that kix never held stays a conflict, and stops the deploy.
"""

from collections.abc import Mapping
from dataclasses import replace

from kixbot.cluster.faults import RejectedError
from kixbot.cluster.interface import Cluster
from kixbot.diff.baseline import Baseline
from kixbot.diff.fields import render_path
from kixbot.model.build import Build
from kixbot.model.drift import Drift
from kixbot.model.resource import Ref
from kixbot.ops.drift import baselines
from kixbot.ops.observe import Observation
from kixbot.ops.owners import explained
from kixbot.ops.parallel import each
from kixbot.ops.steps import Step, simulate


def put_back(
    build: Build, steps: tuple[Step, ...], seen: Observation, drift: Drift, cluster: Cluster
) -> tuple[Step, ...]:
    """The steps with those of drifted objects turned into writes: a dry-run more for each whose content is current.

    Raises what dry-runs raise.
    """
    drifted = {one.ref for one in drift.resources}
    known = baselines(seen, drifted)

    def decide(step: Step) -> Step:
        if step.ref not in drifted or step.live is None:
            return step
        try:
            asked = step if step.action in ("change", "adopt") else simulate(step, seen, cluster, build)
        except RejectedError as error:
            raise explained(error, step.live) from error
        return _entitled(asked, known)

    return each(decide, steps)


def _entitled(step: Step, known: Mapping[Ref, Baseline]) -> Step:
    """The step as a forced write of exactly the object that was seen, where all its conflicts are fields of ours."""
    baseline = known.get(step.ref)
    clashes = [one for one in step.conflicts if one.verdict == "conflict"]
    if baseline is None or not clashes or step.live is None:
        return step
    ours = {f"${render_path(path)}" for path in baseline.paths}
    if not all(one.path in ours for one in clashes):
        return step
    left = tuple(one for one in step.conflicts if one.verdict != "conflict")
    taken = tuple(one.path for one in clashes)
    return replace(step, conflicts=left, taken=taken, guard=str(step.live["metadata"]["resourceVersion"]))
