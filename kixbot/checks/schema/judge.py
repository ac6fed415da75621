"""Every fault of a build's objects, found once for all rules."""

from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from functools import cache
from typing import Any
from weakref import WeakKeyDictionary

from kixbot.checks import schema_duplicate_env, schema_duplicate_map_key, schema_not_a_string, schema_quantity
from kixbot.checks.base import Hit
from kixbot.checks.context import Context
from kixbot.checks.schema.api import judges_for
from kixbot.checks.schema.api.metadata import judge_name
from kixbot.checks.schema.crds import Crds
from kixbot.checks.schema.faults import DUPLICATE, RESOURCES, TYPE, UNKNOWN_KIND
from kixbot.checks.schema.node import Fault
from kixbot.checks.schema.tables import Tables, api_versions_of, find_served, kinds_in, nearest
from kixbot.checks.schema.walk import walk
from kixbot.graph.walk import written
from kixbot.model.resource import BUILTIN_GROUPS, Resource

RETIRED_GROUPS = frozenset({"extensions", "settings.k8s.io"})
"""Groups that Kubernetes itself served before 1.28."""

_SPOKEN_FOR = (schema_duplicate_env, schema_duplicate_map_key, schema_not_a_string, schema_quantity)
"""Rules that say of some fields, in words of their own, what the walk says of every field."""

_found: WeakKeyDictionary[Context, Mapping[str, tuple[Hit, ...]]] = WeakKeyDictionary()


@cache
def tables(version: str) -> Tables:
    """The built-in kinds of a version of Kubernetes, with the API server's own rules."""
    return Tables(version, judges_for(nearest(version)))


def hits(context: Context, rule: str) -> Iterator[Hit]:
    """The places of a build where a rule applies. The build is walked once, for whichever rule asks first."""
    if context not in _found:
        _found[context] = _judged(context)
    yield from _found[context].get(rule, ())


def _judged(context: Context) -> Mapping[str, tuple[Hit, ...]]:
    known = tables(context.cluster.kubernetes_version)
    crds = Crds(context.of_kind("CustomResourceDefinition", "apiextensions.k8s.io"), known.type("meta.v1.ObjectMeta"))
    found: list[tuple[Resource, Fault]] = []
    for resource in context.resources:
        found += ((resource, fault) for fault in judge(resource, known, crds))
    grouped: dict[str, list[Hit]] = {}
    for rule, hit in _unspoken(found, context):
        grouped.setdefault(rule, []).append(hit)
    return {rule: tuple(listed) for rule, listed in grouped.items()}


def judge(resource: Resource, known: Tables, crds: Crds) -> Iterator[Fault]:
    """The faults of one object, against the kinds of one version and those that the build itself defines."""
    body = _as_applied(resource)
    node = known.find(resource.api_version, resource.ref.kind)
    if node is not None:
        yield from walk(body, node)
        yield from judge_name(node.name, body, known.version)
    elif resource.ref.group in BUILTIN_GROUPS or resource.ref.group in RETIRED_GROUPS:
        yield _unknown_kind(resource, known)
    else:
        yield from crds.judge(resource)


def _unknown_kind(resource: Resource, known: Tables) -> Fault:
    kind, api_version = resource.ref.kind, resource.api_version
    served = find_served(api_version, kind)
    others = api_versions_of(kind, known.version)
    close = get_close_matches(kind, kinds_in(api_version, known.version), n=1, cutoff=0.7)
    if others:
        hint = f"write apiVersion: {others[0]}"
    elif close:
        hint = f"did you mean {close[0]}?"
    else:
        hint = "correct apiVersion and kind"
    when = f"; versions {served.first} to {served.last} do" if served else ""
    return Fault(
        rule=UNKNOWN_KIND,
        at=("apiVersion",) if others else ("kind",),
        text=f"has apiVersion {api_version}, under which Kubernetes {known.version} serves no {kind}{when}",
        hint=hint,
    )


def _as_applied(resource: Resource) -> dict[str, Any]:
    """The body with an empty value under each key of a Secret whose value is made at apply."""
    body = dict(resource.manifest)
    keys = [name.removeprefix("data.").removeprefix("stringData.") for name in resource.generated]
    data = body.get("data", {})
    if keys and isinstance(data, dict):
        body["data"] = {**data, **dict.fromkeys(keys, "")}
    return body


def _unspoken(found: list[tuple[Resource, Fault]], context: Context) -> Iterator[tuple[str, Hit]]:
    spoken = None
    for resource, fault in found:
        path = written(resource.manifest, fault.at)
        if fault.rule in {TYPE, DUPLICATE, RESOURCES}:
            if spoken is None:
                spoken = {
                    (hit.resource.ref, hit.path)
                    for module in _SPOKEN_FOR
                    for hit in module.CHECK.find(context)
                    if hit.resource
                }
            if (resource.ref, path) in spoken:
                continue
        yield (
            fault.rule,
            Hit(resource=resource, path=path, message=f"{resource.ref.plain} {fault.text}", hint=fault.hint),
        )
