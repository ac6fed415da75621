"""RBAC, admission, aggregation, flow control."""

from collections.abc import Iterator
from typing import Any

from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.rule import (
    Judges,
    conflict,
    named,
    needs,
    table,
)
from kixbot.checks.schema.faults import dotted, missing, not_allowed
from kixbot.checks.schema.node import Fault, Judge, Raw
from kixbot.checks.shape import mapping, mappings

_RBAC = "rbac.authorization.k8s.io"


def _policy_rules(*, namespaced: bool) -> Judge:
    def judge(value: Any, at: Raw) -> Iterator[Fault]:
        for place, rule in enumerate(mappings(value)):
            where = (*at, place)
            yield from needs("verbs")(rule, where)
            if urls := rule.get("nonResourceURLs"):
                if namespaced:
                    yield conflict(
                        (*where, "nonResourceURLs"),
                        "has nonResourceURLs, which only a ClusterRole may have",
                        "remove them",
                    )
                elif any(rule.get(field) for field in ("apiGroups", "resources", "resourceNames")):
                    yield conflict(where, f"has resources and nonResourceURLs in one rule of {dotted(at)}", "write two")
                del urls
            else:
                yield from needs("apiGroups", "resources")(rule, where)

    return judge


def _subjects(value: Any, at: Raw) -> Iterator[Fault]:
    """A cluster-wide binding has no namespace of its own that its subjects could take."""
    for place, subject in enumerate(mappings(value)):
        if subject.get("kind") == "ServiceAccount" and not subject.get("namespace"):
            yield missing("namespace", (*at, place))


def _role_ref(*kinds: str) -> Judge:
    def judge(value: Any, at: Raw) -> Iterator[Fault]:
        target = mapping(value.get("roleRef"))
        where = (*at, "roleRef")
        if target.get("apiGroup") not in (None, "", _RBAC):
            yield not_allowed(target["apiGroup"], (_RBAC,), (*where, "apiGroup"))
        if isinstance(kind := target.get("kind"), str) and kind not in kinds:
            yield not_allowed(kind, kinds, (*where, "kind"))
        if not target.get("name"):
            yield missing("name", where)
        elif isinstance(name := target["name"], str):
            yield from named(names.path_segment)(name, (*where, "name"))

    return judge


def _subject(value: Any, at: Raw) -> Iterator[Fault]:
    kind, group = value.get("kind"), value.get("apiGroup")
    if not value.get("name"):
        yield missing("name", at)
    if kind == "ServiceAccount":
        if isinstance(name := value.get("name"), str) and name:
            yield from named(names.dns_subdomain)(name, (*at, "name"))
        if group:
            yield not_allowed(group, ("",), (*at, "apiGroup"))
    elif kind in {"User", "Group"}:
        if group not in (None, "", _RBAC):
            yield not_allowed(group, (_RBAC,), (*at, "apiGroup"))
    elif isinstance(kind, str):
        yield not_allowed(kind, ("User", "Group", "ServiceAccount"), (*at, "kind"))


def _aggregation(value: Any, at: Raw) -> Iterator[Fault]:
    yield from needs("clusterRoleSelectors")(value, at)


JUDGES: Judges = table(
    {
        "rbac.v1.Role": {"rules": _policy_rules(namespaced=True)},
        "rbac.v1.ClusterRole": {"rules": _policy_rules(namespaced=False)},
        "rbac.v1.AggregationRule": {"": _aggregation},
        "rbac.v1.RoleBinding": {"": _role_ref("Role", "ClusterRole")},
        "rbac.v1.ClusterRoleBinding": {"": _role_ref("ClusterRole"), "subjects": _subjects},
        "rbac.v1.Subject": {"": _subject},
    }
)
