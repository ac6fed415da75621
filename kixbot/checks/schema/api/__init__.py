"""The API server's own rules, by type and field: what it refuses though every field has the right type."""

from kixbot.checks.schema.api import (
    access,
    admission,
    autoscaling,
    config,
    containers,
    definitions,
    flow,
    ingress,
    jobs,
    metadata,
    network,
    pods,
    resources,
    scheduling,
    volumes,
    workloads,
)
from kixbot.checks.schema.api.rule import Judges, merged

JUDGES: Judges = merged(
    access.JUDGES,
    admission.JUDGES,
    autoscaling.JUDGES,
    config.JUDGES,
    containers.JUDGES,
    definitions.JUDGES,
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
