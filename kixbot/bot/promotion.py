"""In which order clusters are deployed, which of them this run may touch, and whether a predecessor lets one go on."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from kixbot.model.activation import Activation, Phase
from kixbot.settings.model import ClusterSettings

Trigger = Literal["merge", "schedule", "manual"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A cluster that is not tried in this run, and why."""

    sentence: str


def in_order(clusters: Mapping[str, ClusterSettings]) -> tuple[str, ...]:
    """Names so that each stands behind all of its `after`, otherwise as written. Settings refuse a circle."""
    done: list[str] = []
    while len(done) < len(clusters):
        ready = [name for name, one in clusters.items() if name not in done and set(one.after) <= set(done)]
        if not ready:
            return (*done, *(name for name in clusters if name not in done))
        done.append(ready[0])
    return tuple(done)


def find_wait(cluster: ClusterSettings, name: str, trigger: Trigger, named: Iterable[str]) -> Wait | None:
    """Why this run leaves a cluster alone by its `deploy` setting, None when it may go on."""
    asked = trigger == "manual" or name in named
    if cluster.deploy == "manual" and trigger != "manual":
        return Wait(sentence='deploy = "manual", so a person starts it')
    if cluster.deploy == "approval" and not asked:
        return Wait(sentence='deploy = "approval", so a job with its environment deploys it')
    return None


def find_gate(
    predecessor: str, current: Activation | None, *, expected: str | None, soak: int, now: datetime
) -> Wait | None:
    """Why a predecessor holds its successor back, None when it lets it go.

    `expected` is the store path of the predecessor's build at this commit: an older activation that is still Active
    says nothing of the commit at hand. `soak` is in seconds.
    """
    if current is None:
        return Wait(sentence=f"{predecessor} is not deployed yet")
    if current.phase is not Phase.ACTIVE:
        return Wait(sentence=f"{predecessor} is {current.phase.value}")
    if current.source_path != expected:
        return Wait(sentence=f"{predecessor} does not run this commit")
    if soak and current.activated_at:
        active = (now - datetime.fromisoformat(current.activated_at)).total_seconds()
        if active < soak:
            return Wait(sentence=f"{predecessor} has been Active for {int(active)} of {soak} seconds")
    return None
