"""Flow control of the API server itself."""

from collections.abc import Iterator
from typing import Any

from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.rule import (
    NOT_NEGATIVE,
    Judges,
    between,
    conflict,
    each,
    named,
    needs,
    one_of,
    reads,
    table,
)
from kixbot.checks.schema.faults import dotted, missing, not_allowed
from kixbot.checks.schema.node import Fault, Judge, Raw


def _flow_rules(value: Any, at: Raw) -> Iterator[Fault]:
    if not value.get("resourceRules") and not value.get("nonResourceRules"):
        yield missing("resourceRules or nonResourceRules", at)


_VERBS = ("*", "get", "list", "watch", "create", "update", "patch", "delete", "deletecollection", "proxy")


def _star_or(syntax: names.Syntax) -> Judge:
    def judge(value: Any, at: Raw) -> Iterator[Fault]:
        if value != "*":
            yield from named(syntax)(value, at)

    return judge


def _precedence(value: Any, at: Raw) -> Iterator[Fault]:
    """1 is for the schema `exempt`, which Kubernetes itself makes; 0 reads as absent."""
    if value != 0:
        yield from between(2, 10000)(value, at)


def _flow_verbs(value: Any, at: Raw) -> Iterator[Fault]:
    for place, verb in enumerate(value.get("verbs") or ()):
        if verb not in _VERBS:
            yield not_allowed(verb, _VERBS, (*at, "verbs", place))


def _flow_url(value: Any, at: Raw) -> Iterator[Fault]:
    if isinstance(value, str) and value != "*":
        yield from reads(names.absolute_path)(value, at)


def _queues(value: Any, at: Raw) -> Iterator[Fault]:
    queues, hand = value.get("queues") or 64, value.get("handSize") or 8
    if isinstance(queues, int) and isinstance(hand, int) and hand > queues:
        yield conflict(
            (*at, "handSize"), f"has handSize {hand} above queues {queues} in {dotted(at)}", "lower handSize"
        )


def _flow_scope(value: Any, at: Raw) -> Iterator[Fault]:
    if not value.get("namespaces") and not value.get("clusterScope"):
        yield missing("namespaces", at)


def _flow_subject(value: Any, at: Raw) -> Iterator[Fault]:
    fields = {"User": "user", "Group": "group", "ServiceAccount": "serviceAccount"}
    kind = value.get("kind")
    if isinstance(kind, str) and kind not in fields:
        yield not_allowed(kind, tuple(fields), (*at, "kind"))
    for name, field in fields.items():
        if kind == name and not value.get(field):
            yield missing(field, at)
        elif kind != name and kind in fields and value.get(field) is not None:
            yield conflict((*at, field), f"has {field} with kind {kind} in {dotted(at)}", f"remove {field}")


def _level(value: Any, at: Raw) -> Iterator[Fault]:
    kind = value.get("type")
    if kind == "Limited" and value.get("limited") is None:
        yield missing("limited", at)
    if kind == "Exempt" and value.get("limited") is not None:
        yield conflict((*at, "limited"), f"has limited with type Exempt in {dotted(at)}", "remove limited")


def _response(value: Any, at: Raw) -> Iterator[Fault]:
    if value.get("type") == "Queue" and value.get("queuing") is None:
        yield missing("queuing", at)
    if value.get("type") == "Reject" and value.get("queuing") is not None:
        yield conflict((*at, "queuing"), f"has queuing with type Reject in {dotted(at)}", "remove queuing")


JUDGES: Judges = table(
    {
        "flowcontrol.v1.FlowSchema": {"": needs("spec")},
        "flowcontrol.v1.FlowSchemaSpec": {"": needs("priorityLevelConfiguration"), "matchingPrecedence": _precedence},
        "flowcontrol.v1.PolicyRulesWithSubjects": {"": (needs("subjects"), _flow_rules)},
        "flowcontrol.v1.ResourcePolicyRule": {
            "": (needs("verbs", "apiGroups", "resources"), _flow_scope, _flow_verbs),
            "namespaces": each(_star_or(names.dns_label)),
        },
        "flowcontrol.v1.NonResourcePolicyRule": {
            "": (needs("verbs", "nonResourceURLs"), _flow_verbs),
            "nonResourceURLs": each(_flow_url),
        },
        "flowcontrol.v1.Subject": {"": _flow_subject},
        "flowcontrol.v1.PriorityLevelConfigurationReference": {"": needs("name"), "name": named(names.dns_subdomain)},
        "flowcontrol.v1.PriorityLevelConfiguration": {"": needs("spec")},
        "flowcontrol.v1.PriorityLevelConfigurationSpec": {"": _level, "type": one_of("Exempt", "Limited")},
        "flowcontrol.v1.LimitedPriorityLevelConfiguration": {
            "": needs("limitResponse"),
            "nominalConcurrencyShares": NOT_NEGATIVE,
        },
        "flowcontrol.v1.LimitResponse": {"": (needs("type"), _response), "type": one_of("Queue", "Reject")},
        "flowcontrol.v1.QueuingConfiguration": {
            "": _queues,
            "queues": NOT_NEGATIVE,
            "handSize": NOT_NEGATIVE,
            "queueLengthLimit": NOT_NEGATIVE,
        },
        "flowcontrol.v1.ServiceAccountSubject": {
            "": needs("name", "namespace"),
            "name": _star_or(names.dns_subdomain),
            "namespace": named(names.dns_label),
        },
        "flowcontrol.v1.GroupSubject": {"": needs("name")},
        "flowcontrol.v1.UserSubject": {"": needs("name")},
        "flowcontrol.v1.FlowDistinguisherMethod": {"type": one_of("ByUser", "ByNamespace")},
    }
)
