"""Controllers of pods: selectors that match their templates, strategies, Jobs, schedules, autoscaling, disruption."""

from collections.abc import Callable, Iterator
from typing import Any

from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.pods import judge_mounts
from kixbot.checks.schema.api.rule import (
    NOT_NEGATIVE,
    Fields,
    Judges,
    conflict,
    named,
    needs,
    one_of,
    reads,
    table,
    unless_empty,
)
from kixbot.checks.schema.faults import SELECTOR, dotted, missing, not_allowed
from kixbot.checks.schema.node import Fault, Judge, Raw
from kixbot.checks.shape import mapping, mappings, text
from kixbot.graph.selectors import matches


def _controller(*, selector: bool = True) -> Judge:
    """A spec with a selector and a template whose labels it matches, and whose pods always restart."""

    def judge(value: Any, at: Raw) -> Iterator[Fault]:
        wanted = value.get("selector")
        if selector and isinstance(wanted, dict):
            if not wanted.get("matchLabels") and not wanted.get("matchExpressions"):
                yield Fault(
                    rule=SELECTOR,
                    at=(*at, "selector"),
                    text=f"has an empty selector in {dotted(at)}",
                    hint="add matchLabels with labels of the template",
                )
            elif _well_formed(wanted):
                yield from _matching(wanted, value, at)
        elif wanted and isinstance(wanted, dict):
            yield from _matching({"matchLabels": wanted}, value, at)
        yield from _template(value, at)

    return judge


def _well_formed(selector: Any) -> bool:
    rules = mappings(selector.get("matchExpressions"))
    operators = {"In": True, "NotIn": True, "Exists": False, "DoesNotExist": False}
    return all(operators.get(text(rule.get("operator"))) is bool(rule.get("values")) for rule in rules)


def _matching(wanted: Any, value: Any, at: Raw) -> Iterator[Fault]:
    labels = mapping(mapping(mapping(value.get("template")).get("metadata")).get("labels"))
    if not matches(wanted, {key: one for key, one in labels.items() if isinstance(one, str)}):
        yield Fault(
            rule=SELECTOR,
            at=(*at, "selector"),
            text=f"has a selector in {dotted(at)} that the labels of its own template do not match",
            hint="repeat the labels of selector.matchLabels in template.metadata.labels",
        )


def _template(value: Any, at: Raw) -> Iterator[Fault]:
    template = mapping(value.get("template"))
    if not template.get("spec"):
        yield missing("spec", (*at, "template"))
    policy = mapping(template.get("spec")).get("restartPolicy")
    if isinstance(policy, str) and policy in {"Never", "OnFailure"}:
        yield not_allowed(policy, ("Always",), (*at, "template", "spec", "restartPolicy"))
    if mapping(template.get("spec")).get("activeDeadlineSeconds") is not None:
        yield conflict(
            (*at, "template", "spec", "activeDeadlineSeconds"),
            f"has activeDeadlineSeconds in {dotted(at)}.template.spec, which only Jobs and bare pods may have",
            "remove it",
        )


def _mounts(make: Callable[[Any], Any]) -> Judge:
    def judge(value: Any, at: Raw) -> Iterator[Fault]:
        spec = make(value)
        if isinstance(spec, dict):
            made = frozenset(
                text(mapping(one.get("metadata")).get("name")) for one in mappings(value.get("volumeClaimTemplates"))
            )
            yield from judge_mounts(spec, (*at, "template", "spec"), made)

    return judge


template_mounts = _mounts(lambda value: mapping(value.get("template")).get("spec"))


def _pod_mounts(value: Any, at: Raw) -> Iterator[Fault]:
    if isinstance(spec := value.get("spec"), dict):
        yield from judge_mounts(spec, (*at, "spec"))
    else:
        yield missing("spec", at)


def _template_spec(value: Any, at: Raw) -> Iterator[Fault]:
    if not mapping(value.get("template")).get("spec"):
        yield missing("spec", (*at, "template"))


def _strategy(value: Any, at: Raw) -> Iterator[Fault]:
    rolling = value.get("rollingUpdate")
    if value.get("type") in {"Recreate", "OnDelete"} and rolling is not None:
        yield conflict(
            (*at, "rollingUpdate"),
            f"has rollingUpdate with type {value['type']} in {dotted(at)}",
            "remove rollingUpdate",
        )


def _none(value: object) -> bool:
    return value == 0 or (isinstance(value, str) and value.rstrip("%") == "0" and value.endswith("%"))


def _rolling(value: Any, at: Raw) -> Iterator[Fault]:
    """With neither more nor fewer pods allowed, nothing could ever roll."""
    unavailable, surge = value.get("maxUnavailable"), value.get("maxSurge")
    if _none(unavailable) and _none(surge):
        yield conflict(
            (*at, "maxUnavailable"), f"has 0 as maxUnavailable and as maxSurge in {dotted(at)}", "raise one of them"
        )


def _daemon_rolling(value: Any, at: Raw) -> Iterator[Fault]:
    unavailable, surge = value.get("maxUnavailable"), value.get("maxSurge")
    if _none(unavailable) and (surge is None or _none(surge)):
        yield conflict((*at, "maxUnavailable"), f"has 0 as maxUnavailable in {dotted(at)}", "write 1 or more")
    if surge is not None and not _none(surge) and not (unavailable is not None and _none(unavailable)):
        yield conflict((*at, "maxSurge"), f"has maxSurge without maxUnavailable: 0 in {dotted(at)}", "add it")


def share(value: Any, at: Raw) -> Iterator[Fault]:
    """A count or a percentage, not below 0."""
    if isinstance(value, str):
        yield from reads(names.percent)(value, at)
    else:
        yield from NOT_NEGATIVE(value, at)


def at_most_all(value: Any, at: Raw) -> Iterator[Fault]:
    """A percentage of at most 100%."""
    yield from share(value, at)
    if isinstance(value, str) and names.percent(value) is None and float(value[:-1]) > 100:
        yield Fault(rule="api/range", at=at, text=f"has {value} in {dotted(at)}", hint="write 100% or less")


def _deployment(value: Any, at: Raw) -> Iterator[Fault]:
    deadline, ready = value.get("progressDeadlineSeconds", 600), value.get("minReadySeconds") or 0
    if isinstance(deadline, int) and isinstance(ready, int) and deadline <= ready:
        yield conflict(
            (*at, "progressDeadlineSeconds"),
            f"has progressDeadlineSeconds {deadline} in {dotted(at)}, which must exceed minReadySeconds {ready}",
            "raise it",
        )


_COUNTS: Fields = {"replicas": NOT_NEGATIVE, "minReadySeconds": NOT_NEGATIVE, "revisionHistoryLimit": NOT_NEGATIVE}


_CONTROLLER: Fields = {**_COUNTS, "": (_controller(), template_mounts)}


JUDGES: Judges = table(
    {
        "core.v1.Pod": {"": _pod_mounts},
        "core.v1.PodTemplate": {"": (needs("template"), _template_spec, template_mounts)},
        **{
            name: {"": needs("spec")}
            for name in (
                "core.v1.ReplicationController",
                "apps.v1.ReplicaSet",
                "apps.v1.DaemonSet",
                "apps.v1.StatefulSet",
                "apps.v1.Deployment",
                "batch.v1.Job",
                "batch.v1.CronJob",
                "autoscaling.v1.HorizontalPodAutoscaler",
                "autoscaling.v2.HorizontalPodAutoscaler",
                "batch.v1.JobTemplateSpec",
            )
        },
        "core.v1.ReplicationControllerSpec": {
            **_COUNTS,
            "": (needs("template"), _controller(selector=False), template_mounts),
        },
        "apps.v1.ReplicaSetSpec": {**_CONTROLLER},
        "apps.v1.DaemonSetSpec": {**_CONTROLLER},
        "apps.v1.StatefulSetSpec": {**_CONTROLLER, "serviceName": unless_empty(named(names.dns_label))},
        "apps.v1.StatefulSetPersistentVolumeClaimRetentionPolicy": {
            "whenDeleted": unless_empty(one_of("Retain", "Delete")),
            "whenScaled": unless_empty(one_of("Retain", "Delete")),
        },
        "apps.v1.DeploymentSpec": {
            **_COUNTS,
            "": (_controller(), template_mounts, _deployment),
            "progressDeadlineSeconds": NOT_NEGATIVE,
        },
        "apps.v1.DeploymentStrategy": {"": _strategy},
        "apps.v1.DaemonSetUpdateStrategy": {"": _strategy},
        "apps.v1.StatefulSetUpdateStrategy": {"": _strategy},
        "apps.v1.RollingUpdateDeployment": {"": _rolling, "maxUnavailable": at_most_all, "maxSurge": share},
        "apps.v1.RollingUpdateDaemonSet": {"": _daemon_rolling, "maxUnavailable": at_most_all, "maxSurge": at_most_all},
        "apps.v1.RollingUpdateStatefulSetStrategy": {"partition": NOT_NEGATIVE, "maxUnavailable": at_most_all},
        "apps.v1.StatefulSetOrdinals": {"start": NOT_NEGATIVE},
    }
)
