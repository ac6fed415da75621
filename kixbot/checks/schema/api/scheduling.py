"""Where pods may run: tolerations, affinity, spread."""

from collections.abc import Iterator
from typing import Any

from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.rule import (
    POSITIVE,
    Judges,
    between,
    conflict,
    each,
    named,
    needs,
    table,
)
from kixbot.checks.schema.faults import SELECTOR, dotted
from kixbot.checks.schema.node import Fault, Raw
from kixbot.checks.schema.values import shown
from kixbot.checks.shape import mappings


def _toleration(value: Any, at: Raw) -> Iterator[Fault]:
    operator, key = value.get("operator") or "Equal", value.get("key")
    if not key and operator != "Exists":
        yield conflict(
            at, f"has no key in {dotted(at)}, and so must have the operator Exists", "add key, or write Exists"
        )
    if operator == "Exists" and value.get("value"):
        yield conflict((*at, "value"), f"has a value with the operator Exists in {dotted(at)}", "remove value")
    if value.get("tolerationSeconds") is not None and value.get("effect") != "NoExecute":
        yield conflict(
            (*at, "effect"), f"has tolerationSeconds without the effect NoExecute in {dotted(at)}", "write NoExecute"
        )
    if isinstance(key, str) and key:
        yield from named(names.qualified)(key, (*at, "key"))
    if operator == "Equal" and isinstance(text := value.get("value"), str):
        yield from named(names.label_value)(text, (*at, "value"))


def _node_requirement(value: Any, at: Raw) -> Iterator[Fault]:
    operator, values = value.get("operator"), value.get("values") or []
    wanted = {
        "In": "one or more",
        "NotIn": "one or more",
        "Exists": "no",
        "DoesNotExist": "no",
        "Gt": "one",
        "Lt": "one",
    }
    right = {"one or more": len(values) > 0, "no": not values, "one": len(values) == 1}
    if operator in wanted and not right[wanted[operator]]:
        yield Fault(
            rule=SELECTOR,
            at=at,
            text=f"has {len(values)} values for the operator {operator} in {dotted(at)}",
            hint=f"{operator} takes {wanted[operator]} values",
        )


def _node_fields(value: Any, at: Raw) -> Iterator[Fault]:
    for place, item in enumerate(mappings(value)):
        if item.get("key") != "metadata.name":
            yield Fault(
                rule=SELECTOR,
                at=(*at, place, "key"),
                text=f"has {shown(item.get('key'))} in {dotted(at)}, where only metadata.name can be matched",
                hint="write it under matchExpressions",
            )
        elif any(names.dns_subdomain(str(one)) for one in item.get("values") or ()):
            yield from each(named(names.dns_subdomain))(item.get("values"), (*at, place, "values"))
        elif item.get("operator") not in {"In", "NotIn"} or len(item.get("values") or ()) != 1:
            yield Fault(
                rule=SELECTOR,
                at=(*at, place),
                text=f"matches no one node in {dotted(at)}",
                hint="write In and one name",
            )


def _node_keys(value: Any, at: Raw) -> Iterator[Fault]:
    for place, item in enumerate(mappings(value)):
        if isinstance(key := item.get("key"), str):
            yield from named(names.qualified)(key, (*at, place, "key"))


def _required_terms(value: Any, at: Raw) -> Iterator[Fault]:
    for place, term in enumerate(mappings(value)):
        yield from _node_labels(term.get("matchExpressions"), (*at, place, "matchExpressions"))


def _node_labels(value: Any, at: Raw) -> Iterator[Fault]:
    for place, item in enumerate(mappings(value)):
        if item.get("operator") in {"In", "NotIn", "Gt", "Lt"}:
            for number, one in enumerate(item.get("values") or ()):
                if isinstance(one, str):
                    yield from named(names.label_value)(one, (*at, place, "values", number))


def _spread(value: Any, at: Raw) -> Iterator[Fault]:
    if value.get("minDomains") is not None and value.get("whenUnsatisfiable") != "DoNotSchedule":
        yield conflict(
            (*at, "minDomains"), f"has minDomains without DoNotSchedule in {dotted(at)}", "write DoNotSchedule"
        )
    if value.get("matchLabelKeys") and value.get("labelSelector") is None:
        yield conflict((*at, "matchLabelKeys"), f"has matchLabelKeys without labelSelector in {dotted(at)}", "add it")


JUDGES: Judges = table(
    {
        "core.v1.Toleration": {"": _toleration},
        "core.v1.NodeSelector": {"": needs("nodeSelectorTerms"), "nodeSelectorTerms": _required_terms},
        "core.v1.NodeSelectorRequirement": {"": _node_requirement},
        "core.v1.NodeSelectorTerm": {"matchFields": _node_fields, "matchExpressions": _node_keys},
        "core.v1.PreferredSchedulingTerm": {"weight": between(1, 100), "": needs("weight")},
        "core.v1.WeightedPodAffinityTerm": {"weight": between(1, 100)},
        "core.v1.PodAffinityTerm": {
            "": needs("topologyKey"),
            "topologyKey": named(names.qualified),
            "namespaces": each(named(names.dns_label)),
        },
        "core.v1.TopologySpreadConstraint": {
            "": (needs("topologyKey", "whenUnsatisfiable"), _spread),
            "matchLabelKeys": each(named(names.qualified)),
            "maxSkew": POSITIVE,
            "minDomains": POSITIVE,
        },
    }
)
