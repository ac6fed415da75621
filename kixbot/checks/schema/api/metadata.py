"""Names, labels, annotations and label selectors.

Which syntax the names of a kind have: `pkg/apis/*/validation` of k8s.io/kubernetes.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.rule import Judges, each, keys, named, needs, table
from kixbot.checks.schema.faults import LABEL, NAME, SELECTOR, dotted, shown_key
from kixbot.checks.schema.node import Fault, Raw
from kixbot.checks.schema.values import shown

_SYNTAX: Mapping[str, names.Syntax] = {
    "core.v1.Namespace": names.dns_label,
    "core.v1.Service": names.dns_1035_label,
    "rbac.v1.ClusterRole": names.path_segment,
    "rbac.v1.ClusterRoleBinding": names.path_segment,
    "rbac.v1.Role": names.path_segment,
    "rbac.v1.RoleBinding": names.path_segment,
    "apiregistration.v1.APIService": names.path_segment,
    "storage.v1.VolumeAttachment": names.dns_subdomain,
}
"""Kinds whose names are not a DNS subdomain."""

_LONGEST: Mapping[str, tuple[int, str]] = {
    "batch.v1.CronJob": (52, "its Jobs add 11 characters"),
    "batch.v1.Job": (63, "its pods carry it as a label"),
    "storage.v1.CSIDriver": (63, "nodes carry it in labels"),
}


RELAXED = 36
"""The minor version from which a Service's name may begin with a digit."""


def judge_name(type_name: str, body: Mapping[str, Any], version: str = "1.28") -> Iterator[Fault]:
    """The name of an object of that version, `1.34`. A custom resource's `type_name` is empty."""
    metadata = body.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    at: Raw = ("metadata", "name")
    if not isinstance(name, str):
        return
    syntax = _SYNTAX.get(type_name, names.dns_subdomain)
    if type_name == "core.v1.Service" and int(version.partition(".")[2]) >= RELAXED:
        syntax = names.dns_label
    if problem := syntax(name):
        yield from named(lambda _: problem)(name, at) if not name else named(syntax)(name, at)
    longest, why = _LONGEST.get(type_name, (253, ""))
    if len(name) > longest and not problem:
        yield Fault(
            rule=NAME,
            at=at,
            text=f"has a name of {len(name)} characters, which may be {longest} long at most: {why}",
            hint="take a shorter name",
        )
    if type_name == "scheduling.v1.PriorityClass" and name.startswith("system-"):
        yield Fault(rule=NAME, at=at, text='has a name in "system-", which is Kubernetes\' own', hint="rename it")


def labels(value: Any, at: Raw) -> Iterator[Fault]:
    """Keys and values of labels, wherever labels are written."""
    for key, text in value.items():
        if problem := names.qualified(key):
            yield _label(at, key, f'has the label "{shown_key(key)}" in {dotted(at)}, which {problem}')
        elif isinstance(text, str) and (problem := names.label_value(text)):
            yield _label(at, key, f"has {shown(text)} as the label {key} in {dotted(at)}, which {problem}")


def _label(at: Raw, key: str, text: str) -> Fault:
    return Fault(rule=LABEL, at=(*at, key), text=text, hint="put free text into annotations")


_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


def _requirement(value: Any, at: Raw) -> Iterator[Fault]:
    operator, values = value.get("operator"), value.get("values") or []
    if isinstance(operator, str) and operator not in _OPERATORS:
        yield Fault(
            rule=SELECTOR,
            at=(*at, "operator"),
            text=f"has the operator {shown(operator)} in {dotted(at)}",
            hint=f"write one of {', '.join(_OPERATORS)}",
        )
    elif operator in {"In", "NotIn"} and not values:
        yield Fault(
            rule=SELECTOR, at=at, text=f"has {operator} without values in {dotted(at)}", hint="add the list values"
        )
    elif operator in {"In", "NotIn"}:
        for place, text in enumerate(values):
            yield from named(names.label_value)(text, (*at, "values", place))
    elif operator in {"Exists", "DoesNotExist"} and values:
        yield Fault(
            rule=SELECTOR, at=at, text=f"has {operator} with values in {dotted(at)}", hint="remove values, or write In"
        )
    if isinstance(key := value.get("key"), str):
        yield from named(names.qualified)(key, (*at, "key"))


JUDGES: Judges = table(
    {
        "meta.v1.ObjectMeta": {
            "labels": labels,
            "annotations": keys(names.qualified_folded, LABEL),
            "finalizers": each(named(names.finalizer)),
        },
        "meta.v1.OwnerReference": {"": needs("apiVersion", "kind", "name", "uid")},
        "meta.v1.LabelSelector": {"matchLabels": labels},
        "meta.v1.LabelSelectorRequirement": {"": _requirement},
        "core.v1.ReplicationControllerSpec": {"selector": labels},
        "core.v1.PodSpec": {"nodeSelector": labels},
    }
)
