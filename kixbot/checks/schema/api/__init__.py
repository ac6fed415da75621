"""The API server's own rules, by type and field: what it refuses though every field has the right type."""

from kixbot.checks.schema.api import (
    access,
    admission,
    autoscaling,
    config,
    containers,
    definitions,
    devices,
    flow,
    ingress,
    jobs,
    metadata,
    names,
    network,
    pods,
    resources,
    scheduling,
    volumes,
    workloads,
)
from kixbot.checks.schema.api.rule import Judges, merged, named, table, unless_empty

JUDGES: Judges = merged(
    access.JUDGES,
    admission.JUDGES,
    autoscaling.JUDGES,
    config.JUDGES,
    containers.JUDGES,
    definitions.JUDGES,
    devices.JUDGES,
    flow.JUDGES,
    ingress.JUDGES,
    jobs.JUDGES,
    metadata.JUDGES,
    network.JUDGES,
    pods.JUDGES,
    resources.JUDGES,
    scheduling.JUDGES,
    volumes.JUDGES,
    workloads.JUDGES,
)
"""Every rule. (`core.v1.Container`, "") holds those for the whole object."""

_CHANGED: tuple[tuple[int, int, Judges], ...] = (
    (
        0,
        31,
        table(
            {
                "core.v1.EnvVar": {"name": named(names.env_name_of_old)},
                "core.v1.EnvFromSource": {"prefix": unless_empty(named(names.env_name_of_old))},
            }
        ),
    ),
    (metadata.RELAXED, 99, table({"networking.v1.IngressServiceBackend": {"name": named(names.dns_label)}})),
)
"""Rules that are others in some versions: the first and the last minor version, and what holds there instead."""


def judges_for(version: str) -> Judges:
    """The rules of a known version, `1.34`."""
    minor = int(version.partition(".")[2])
    found = dict(JUDGES)
    for first, last, judges in _CHANGED:
        if first <= minor <= last:
            found.update(judges)
    return found
