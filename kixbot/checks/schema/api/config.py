"""ConfigMaps, Secrets, quotas, limits and classes."""

import json
import re
from base64 import b64decode
from collections.abc import Iterator
from typing import Any

from kixbot.checks.quantities import find_amount
from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.metadata import labels
from kixbot.checks.schema.api.resources import resource_names
from kixbot.checks.schema.api.rule import (
    NOT_NEGATIVE,
    POSITIVE,
    Judges,
    conflict,
    keys,
    named,
    needs,
    one_of,
    reads,
    table,
    unique,
    unless_empty,
)
from kixbot.checks.schema.faults import RESOURCES, UNIQUE, dotted, missing, not_allowed, shown_key
from kixbot.checks.schema.node import Fault, Raw
from kixbot.checks.shape import mapping, mappings

_REQUIRED_KEYS = {
    "kubernetes.io/dockercfg": (".dockercfg",),
    "kubernetes.io/dockerconfigjson": (".dockerconfigjson",),
    "kubernetes.io/ssh-auth": ("ssh-privatekey",),
    "kubernetes.io/tls": ("tls.crt", "tls.key"),
}


_LIMIT_TYPES = ("Container", "Pod", "PersistentVolumeClaim")
_LEVELS = ("privileged", "baseline", "restricted")
_VERSION = re.compile(r"latest|v1\.[0-9]+")


def _config_map(value: Any, at: Raw) -> Iterator[Fault]:
    for key in sorted(set(mapping(value.get("data"))) & set(mapping(value.get("binaryData")))):
        yield Fault(
            rule=UNIQUE,
            at=(*at, "binaryData", key),
            text=f"has {shown_key(key)} in data and in binaryData",
            hint="remove one of them",
        )


def _secret(value: Any, at: Raw) -> Iterator[Fault]:
    kind = value.get("type")
    data = mapping(value.get("data"))
    for key in _REQUIRED_KEYS.get(kind, ()) if isinstance(kind, str) else ():
        if key not in data:
            yield missing(key, (*at, "data"))
        elif key.startswith(".docker") and not _is_json_object(data[key]):
            yield conflict(
                (*at, "data", key), f"has content in data.{key} that is no JSON object", "write Docker's config"
            )
    if kind == "kubernetes.io/basic-auth" and not {"username", "password"} & set(data):
        yield missing("username or password", (*at, "data"))
    if kind == "kubernetes.io/service-account-token":
        annotations = mapping(mapping(value.get("metadata")).get("annotations"))
        if not annotations.get("kubernetes.io/service-account.name"):
            yield missing("kubernetes.io/service-account.name", (*at, "metadata", "annotations"))


def _pod_security(value: Any, at: Raw) -> Iterator[Fault]:
    """The labels that say which Pod Security Standard a namespace holds its pods to."""
    labels_at = (*at, "labels")
    for key, level in mapping(value.get("labels")).items():
        _, slash, mode = key.partition("pod-security.kubernetes.io/")
        if slash and mode in {"enforce", "audit", "warn"} and level not in _LEVELS:
            yield not_allowed(level, _LEVELS, (*labels_at, key))
        elif slash and mode.endswith("-version") and not _VERSION.fullmatch(str(level)):
            yield not_allowed(level, ("latest", "v1.34"), (*labels_at, key))


def _amounts(value: Any, at: Raw) -> Iterator[Fault]:
    for name, amount in value.items():
        found = find_amount(amount)
        if found is not None and found.value < 0:
            yield Fault(
                rule=RESOURCES,
                at=(*at, name),
                text=f"has less than 0 of {name} in {dotted(at)}",
                hint="write 0 or more",
            )


def _is_json_object(encoded: Any) -> bool:
    try:
        return isinstance(json.loads(b64decode(encoded)), dict)
    except (ValueError, TypeError, RecursionError):
        return False


_STANDARD_QUOTA = frozenset(
    {
        "cpu", "memory", "ephemeral-storage", "storage", "requests.cpu", "requests.memory",
        "requests.ephemeral-storage", "requests.storage", "limits.cpu", "limits.memory", "limits.ephemeral-storage",
        "pods", "persistentvolumeclaims", "resourcequotas", "services", "replicationcontrollers", "secrets",
        "configmaps", "services.nodeports", "services.loadbalancers",
    }
)  # fmt: skip


def _quota_names(value: Any, at: Raw) -> Iterator[Fault]:
    yield from _amounts(value, at)
    for name in value:
        if "/" in name or name in _STANDARD_QUOTA or name.startswith(("hugepages-", "requests.hugepages-")):
            problem = names.qualified(name)
        else:
            problem = "is neither a standard resource nor one with a domain"
        if problem:
            yield Fault(
                rule=RESOURCES,
                at=(*at, name),
                text=f'has the resource "{shown_key(name)}" in {dotted(at)}, which {problem}',
                hint="write a resource such as requests.cpu, pods or count/deployments.apps",
            )


_SCOPES = ("Terminating", "NotTerminating", "BestEffort", "NotBestEffort", "PriorityClass", "CrossNamespacePodAffinity",
           "VolumeAttributesClass")  # fmt: skip


def _scope(value: Any, at: Raw) -> Iterator[Fault]:
    name, operator = value.get("scopeName"), value.get("operator")
    values = value.get("values") or []
    if isinstance(name, str) and name not in _SCOPES:
        yield not_allowed(name, _SCOPES, (*at, "scopeName"))
    if operator in {"In", "NotIn"} and not values:
        yield missing("values", at)
    if operator in {"Exists", "DoesNotExist"} and values:
        yield conflict((*at, "values"), f"has values with {operator} in {dotted(at)}", "remove values")
    if name in _SCOPES[:4] and operator in {"In", "NotIn", "DoesNotExist"}:
        yield not_allowed(operator, ("Exists",), (*at, "operator"))


def _limits(value: Any, at: Raw) -> Iterator[Fault]:
    """Within one entry: min ≤ defaultRequest ≤ default ≤ max, and a ratio of at least 1."""
    order = ("min", "defaultRequest", "default", "max")
    bounds = {field: mapping(value.get(field)) for field in order}
    for field in (*order, "maxLimitRequestRatio"):
        named_here = mapping(value.get(field))
        if value.get("type") == "PersistentVolumeClaim":
            named_here = {name: amount for name, amount in named_here.items() if name != "storage"}
        yield from resource_names(named_here, (*at, field))
    if value.get("type") == "Pod":
        for field in ("default", "defaultRequest"):
            if value.get(field):
                yield conflict((*at, field), f"has {field} for type Pod in {dotted(at)}", "write it for type Container")
    for low_at, low in enumerate(order):
        for high in order[low_at + 1 :]:
            for name, amount in bounds[low].items():
                one, other = find_amount(amount), find_amount(bounds[high].get(name))
                if one is not None and other is not None and one.value > other.value:
                    yield Fault(
                        rule=RESOURCES,
                        at=(*at, low, name),
                        text=f"has {low} {amount} of {name} above {high} {bounds[high][name]} in {dotted(at)}",
                        hint=f"lower {low} or raise {high}",
                    )
    for name, amount in mapping(value.get("maxLimitRequestRatio")).items():
        ratio = find_amount(amount)
        widest = None
        least, most = find_amount(bounds["min"].get(name)), find_amount(bounds["max"].get(name))
        if least is not None and most is not None and least.value != 0:
            widest = most.value / least.value
        if ratio is not None and widest is not None and ratio.value > widest:
            yield Fault(
                rule=RESOURCES,
                at=(*at, "maxLimitRequestRatio", name),
                text=f"has a ratio for {name} in {dotted(at)} above that of max to min",
                hint=f"write at most {widest.normalize():f}",
            )
        if ratio is not None and ratio.value < 1:
            yield Fault(
                rule=RESOURCES,
                at=(*at, "maxLimitRequestRatio", name),
                text=f"has a ratio below 1 for {name} in {dotted(at)}",
                hint="write 1 or more",
            )
    if value.get("type") == "PersistentVolumeClaim":
        bound = {*bounds["min"], *bounds["max"]}
        if "storage" not in bound:
            yield missing("storage", (*at, "max"))


def _limit_type(value: Any, at: Raw) -> Iterator[Fault]:
    if isinstance(value, str) and (names.qualified(value) or ("/" not in value and value not in _LIMIT_TYPES)):
        yield not_allowed(value, _LIMIT_TYPES, at)


def _limit_types(value: Any, at: Raw) -> Iterator[Fault]:
    seen: set[str] = set()
    for place, item in enumerate(mappings(value)):
        kind = str(item.get("type"))
        if kind in seen:
            yield Fault(
                rule=UNIQUE, at=(*at, place, "type"), text=f"has type {kind} twice in {dotted(at)}", hint="join them"
            )
        seen.add(kind)


def _taint(value: Any, at: Raw) -> Iterator[Fault]:
    yield from needs("key", "effect")(value, at)
    if isinstance(key := value.get("key"), str) and key:
        yield from named(names.qualified)(key, (*at, "key"))
    if isinstance(text := value.get("value"), str):
        yield from named(names.label_value)(text, (*at, "value"))


def _tolerations(value: Any, at: Raw) -> Iterator[Fault]:
    for place, item in enumerate(value):
        if item in value[:place]:
            yield Fault(rule=UNIQUE, at=(*at, place), text=f"has one toleration twice in {dotted(at)}", hint="keep one")


def _event(value: Any, at: Raw) -> Iterator[Fault]:
    about = mapping(value.get("involvedObject")).get("namespace") or ""
    own = mapping(value.get("metadata")).get("namespace") or ""
    if own and about != own:
        yield conflict(
            (*at, "involvedObject", "namespace"),
            f"is in the namespace {own} and speaks of an object in {about or 'none'}",
            f"write namespace: {own} under involvedObject",
        )


def _priority(value: Any, at: Raw) -> Iterator[Fault]:
    if isinstance(number := value.get("value"), int) and number > 1_000_000_000:
        yield Fault(
            rule="api/range",
            at=(*at, "value"),
            text=f"has the value {number}, above 1000000000, which only Kubernetes' own classes have",
            hint="write 1000000000 or less",
        )


JUDGES: Judges = table(
    {
        "core.v1.ConfigMap": {"": _config_map, "data": keys(names.config_key), "binaryData": keys(names.config_key)},
        "core.v1.Secret": {"": _secret, "data": keys(names.config_key), "stringData": keys(names.config_key)},
        "core.v1.ResourceQuotaSpec": {"hard": _quota_names},
        "core.v1.ScopedResourceSelectorRequirement": {"": _scope},
        "core.v1.LimitRangeItem": {
            "": (needs("type"), _limits),
            "type": _limit_type,
        },
        "core.v1.LimitRangeSpec": {"limits": _limit_types},
        "core.v1.Event": {"": _event},
        "core.v1.Taint": {"": _taint, "effect": one_of("NoSchedule", "PreferNoSchedule", "NoExecute")},
        "scheduling.v1.PriorityClass": {"": _priority},
        "node.v1.RuntimeClass": {"": needs("handler"), "handler": named(names.dns_label)},
        "node.v1.Overhead": {"podFixed": (_amounts, resource_names)},
        "node.v1.Scheduling": {"tolerations": _tolerations, "nodeSelector": labels},
        "core.v1.NodeSpec": {
            "taints": unique("key", "effect"),
            "podCIDR": unless_empty(reads(names.cidr)),
        },
        "core.v1.Namespace": {"metadata": _pod_security},
        "coordination.v1.LeaseSpec": {"leaseDurationSeconds": POSITIVE, "leaseTransitions": NOT_NEGATIVE},
    }
)
