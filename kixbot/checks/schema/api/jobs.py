"""Jobs and their schedules."""

from collections.abc import Iterator
from typing import Any

from kixbot.checks.schema.api import names, times
from kixbot.checks.schema.api.rule import (
    NOT_NEGATIVE,
    Judges,
    conflict,
    exactly_one,
    named,
    needs,
    one_of,
    reads,
    table,
    unless_empty,
)
from kixbot.checks.schema.api.workloads import template_mounts
from kixbot.checks.schema.faults import dotted, missing, not_allowed
from kixbot.checks.schema.node import Fault, Raw
from kixbot.checks.shape import mapping, mappings


def _job(value: Any, at: Raw) -> Iterator[Fault]:
    spec = mapping(mapping(value.get("template")).get("spec"))
    policy = spec.get("restartPolicy")
    where = (*at, "template", "spec", "restartPolicy")
    if policy is None:
        yield missing("restartPolicy", where[:-1])
    if not spec:
        yield missing("spec", (*at, "template"))
    elif isinstance(policy, str) and policy in {"Always", ""}:
        yield not_allowed(policy, ("Never", "OnFailure"), where)
    indexed = value.get("completionMode") == "Indexed"
    if indexed and value.get("completions") is None:
        yield missing("completions", at)
    if value.get("selector") is not None and not value.get("manualSelector"):
        yield conflict((*at, "selector"), f"has a selector in {dotted(at)}, which Kubernetes itself makes", "remove it")
    if value.get("podFailurePolicy") is not None and policy != "Never":
        yield conflict(where, f"has podFailurePolicy in {dotted(at)} without restartPolicy: Never", "write Never")
    if not indexed:
        for field in ("backoffLimitPerIndex", "successPolicy"):
            if value.get(field) is not None:
                yield conflict((*at, field), f"has {field} in {dotted(at)} without completionMode: Indexed", "write it")
    containers = {item.get("name") for role in ("containers", "initContainers") for item in mappings(spec.get(role))}
    for place, rule in enumerate(mappings(mapping(value.get("podFailurePolicy")).get("rules"))):
        name = mapping(rule.get("onExitCodes")).get("containerName")
        if name is not None and name not in containers:
            yield not_allowed(
                name,
                tuple(sorted(map(str, containers))),
                (*at, "podFailurePolicy", "rules", place, "onExitCodes", "containerName"),
            )
    if value.get("maxFailedIndexes") is not None and value.get("backoffLimitPerIndex") is None:
        yield missing("backoffLimitPerIndex", at)
    if value.get("podFailurePolicy") is not None and value.get("podReplacementPolicy") == "TerminatingOrFailed":
        yield not_allowed("TerminatingOrFailed", ("Failed",), (*at, "podReplacementPolicy"))


def _exit_codes(value: Any, at: Raw) -> Iterator[Fault]:
    codes = value.get("values")
    if isinstance(codes, list):
        if not codes:
            yield missing("values", at)
        if value.get("operator") == "In" and 0 in codes:
            yield conflict((*at, "values"), f"has 0 among the values for In in {dotted(at)}", "remove 0")
        if all(isinstance(code, int) for code in codes) and codes != sorted(set(codes)):
            yield conflict((*at, "values"), f"has values in {dotted(at)} that do not ascend", "sort them, each once")


def _failure_rules(value: Any, at: Raw) -> Iterator[Fault]:
    yield from exactly_one("onExitCodes", "onPodConditions")(
        {key: one for key, one in value.items() if one not in (None, [])}, at
    )


def _cron_job(value: Any, at: Raw) -> Iterator[Fault]:
    schedule = value.get("schedule")
    if isinstance(schedule, str) and ("TZ=" in schedule) and value.get("timeZone") is not None:
        yield conflict(
            (*at, "schedule"), f"has a time zone in schedule and in timeZone of {dotted(at)}", "keep timeZone"
        )


JUDGES: Judges = table(
    {
        "batch.v1.JobSpec": {
            "": (_job, template_mounts),
            "parallelism": NOT_NEGATIVE,
            "completions": NOT_NEGATIVE,
            "backoffLimit": NOT_NEGATIVE,
            "activeDeadlineSeconds": NOT_NEGATIVE,
            "ttlSecondsAfterFinished": NOT_NEGATIVE,
        },
        "batch.v1.PodFailurePolicyRule": {"": _failure_rules},
        "batch.v1.PodFailurePolicyOnPodConditionsPattern": {
            "type": named(names.qualified),
            "status": unless_empty(one_of("True", "False", "Unknown")),
        },
        "batch.v1.PodFailurePolicyOnExitCodesRequirement": {"": _exit_codes},
        "batch.v1.CronJobSpec": {
            "": (needs("schedule"), _cron_job),
            "schedule": reads(times.cron),
            "timeZone": reads(times.time_zone),
            "startingDeadlineSeconds": NOT_NEGATIVE,
            "successfulJobsHistoryLimit": NOT_NEGATIVE,
            "failedJobsHistoryLimit": NOT_NEGATIVE,
        },
    }
)
