"""The rights that kix needs in a cluster, no more, by what it shall do there.

observe reads the record, and what status shows. plan also reads what a plan compares; it may patch nothing, so that
its plans compare projections and say "not simulated". deploy writes what the build and the record hold.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from kixbot.cluster.crds import ACTIVATION, CRD, CRDS, PACKAGE_INSTANCE
from kixbot.cluster.records import KEY_NAME
from kixbot.model.build import Build
from kixbot.model.resource import Body
from kixbot.ops.leftovers import NEVER

RoleName = Literal["observe", "plan", "deploy"]
Rule = dict[str, Any]

RBAC: Final = "rbac.authorization.k8s.io"
_READ: Final = ("get", "list")
_WRITE: Final = ("get", "list", "watch", "create", "patch", "delete")


def roles(build: Build, role: RoleName, *, record_namespace: str, subject: Mapping[str, Any]) -> tuple[Body, ...]:
    """A Role for the record, a ClusterRole for the rest, and their bindings to `subject`."""
    name = f"kix:{build.cluster.name}:{role}"
    inside = _record_rules(build.cluster.name, role)
    outside = _cluster_rules(build, role)
    place = {"name": name, "namespace": record_namespace}
    return (
        _body("Role", place, rules=inside),
        _body("RoleBinding", place, roleRef=_reference("Role", name), subjects=[dict(subject)]),
        _body("ClusterRole", {"name": name}, rules=outside),
        _body("ClusterRoleBinding", {"name": name}, roleRef=_reference("ClusterRole", name), subjects=[dict(subject)]),
    )


def _body(kind: str, metadata: Mapping[str, Any], **fields: Any) -> Body:
    return {"apiVersion": f"{RBAC}/v1", "kind": kind, "metadata": dict(metadata), **fields}


def _reference(kind: str, name: str) -> dict[str, str]:
    return {"apiGroup": RBAC, "kind": kind, "name": name}


def _rule(group: str, resources: Iterable[str], verbs: Iterable[str], names: Iterable[str] = ()) -> Rule:
    named = {"resourceNames": sorted(names)} if names else {}
    return {"apiGroups": [group], "resources": sorted(resources), **named, "verbs": list(verbs)}


def _record_rules(cluster: str, role: RoleName) -> list[Rule]:
    """What stands in the record namespace. A create cannot be limited to a name."""
    lease, group = "coordination.k8s.io", ACTIVATION.group
    if role != "deploy":
        return [
            _rule("", ["configmaps"], ["list"]),
            _rule(lease, ["leases"], ["get"], [cluster]),
            _rule(group, [ACTIVATION.plural], _READ),
        ]
    return [
        _rule("", ["configmaps"], ["list", "create", "patch", "delete"]),
        _rule("", ["secrets"], ["get"], [KEY_NAME]),
        _rule("", ["secrets"], ["create"]),
        _rule(lease, ["leases"], ["get", "patch", "delete"], [cluster]),
        _rule(lease, ["leases"], ["create"]),
        _rule(group, [ACTIVATION.plural], ["get", "list", "create", "patch", "delete"]),
        _rule(group, [f"{ACTIVATION.plural}/status"], ["patch"]),
    ]


def _cluster_rules(build: Build, role: RoleName) -> list[Rule]:
    kinds = {(resource.ref.group, resource.ref.kind) for resource in build.resources}
    verbs: dict[tuple[str, str], set[str]] = defaultdict(set)
    plurals = _plurals(build)
    for group, kind in kinds:
        if role == "observe" and (group, kind) == ("", "Secret"):
            continue
        wanted = set(_WRITE if role == "deploy" else _READ) - ({"delete"} if kind in NEVER else set())
        verbs[group, plurals.get((group, kind)) or plural_of(kind)] |= wanted
    if role != "observe":
        for one in build.evaluated.externals:
            if one.verify:
                verbs[one.group or "", plurals.get((one.group or "", one.kind)) or plural_of(one.kind)] |= {"get"}
    verbs["", "namespaces"] |= {"get"}
    if role == "deploy":
        _add_deploy(kinds, verbs)
    grouped: dict[tuple[str, tuple[str, ...]], list[str]] = defaultdict(list)
    for (group, plural), found in verbs.items():
        grouped[group, tuple(sorted(found, key=_order))].append(plural)
    return [_rule(group, plurals_of, found) for (group, found), plurals_of in sorted(grouped.items())]


def _add_deploy(kinds: set[tuple[str, str]], verbs: dict[tuple[str, str], set[str]]) -> None:
    verbs["", "namespaces"] |= {"create", "patch"}  # the record's own, on the first deploy
    verbs[CRD.group, CRD.plural] |= {"get", "create", "patch", "watch"}  # those of kix, where they are missing
    verbs["", "pods"] |= {"list"}  # why a workload is not up
    verbs["", "pods/log"] |= {"get"}
    verbs["", "events"] |= {"list"}
    if (PACKAGE_INSTANCE.group, PACKAGE_INSTANCE.kind) in kinds:
        verbs[PACKAGE_INSTANCE.group, f"{PACKAGE_INSTANCE.plural}/status"] |= {"patch"}
    if ("", "PersistentVolumeClaim") in kinds:
        verbs["storage.k8s.io", "storageclasses"] |= {"list"}
    for kind in ("Role", "ClusterRole"):
        # Whoever makes roles must hold their rights or may escalate; a binding needs `bind` on what it refers to.
        if (RBAC, kind) in kinds:
            verbs[RBAC, plural_of(kind)] |= {"escalate"}
    if {(RBAC, "RoleBinding"), (RBAC, "ClusterRoleBinding")} & kinds:
        verbs[RBAC, "roles"] |= {"bind"}
        verbs[RBAC, "clusterroles"] |= {"bind"}


def _order(verb: str) -> tuple[int, str]:
    return ([*_WRITE, verb].index(verb), verb)


def _plurals(build: Build) -> dict[tuple[str, str], str]:
    """Plurals that the CRDs of the build, and those of kix, name."""
    bodies = [*CRDS, *(one.manifest for one in build.resources if one.ref.kind == CRD.kind)]
    found: dict[tuple[str, str], str] = {}
    for body in bodies:
        spec = body.get("spec") or {}
        names = spec.get("names") or {}
        found[str(spec.get("group")), str(names.get("kind"))] = str(names.get("plural"))
    return found


def plural_of(kind: str) -> str:
    """The resource of a kind by the rule that built-in kinds and nearly all others follow."""
    name = kind.lower()
    if name == "endpoints":
        return name
    if name.endswith(("s", "x", "ch")):
        return f"{name}es"
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}s"
