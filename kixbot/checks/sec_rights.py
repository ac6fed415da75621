"""Rules about rights: roles and bindings that give more than they seem to."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import at, keyed, mappings
from kixbot.model.finding import Confidence, Severity
from kixbot.model.resource import Resource

_GROUP = "rbac.authorization.k8s.io"
_ROLES = ("Role", "ClusterRole")
_BINDINGS = ("RoleBinding", "ClusterRoleBinding")


class _Grant(NamedTuple):
    """What a rule gives: verbs on resources of groups."""

    groups: frozenset[str]
    resources: frozenset[str]
    verbs: frozenset[str]

    def gives(self, verbs: set[str], resources: set[str], group: str = "") -> bool:
        """Whether one of the verbs on one of the resources is in it, by name or by `*`."""
        return bool(self.groups & {group, "*"} and self.resources & {*resources, "*"} and self.verbs & {*verbs, "*"})


def _words(value: object) -> frozenset[str]:
    return frozenset(map(str, value)) if isinstance(value, list) else frozenset()


def _grants(role: Resource) -> Iterator[tuple[str, _Grant]]:
    for path, rule in keyed("$", role.manifest, "rules"):
        groups, resources, verbs = (_words(rule.get(field)) for field in ("apiGroups", "resources", "verbs"))
        # A rule for named objects gives no more than these.
        if not rule.get("resourceNames"):
            yield path, _Grant(groups, resources, verbs)


def _by_rule(judge: Callable[[_Grant], str | None], hint: str) -> Callable[[Context], Iterator[Hit]]:
    def find(context: Context) -> Iterator[Hit]:
        for kind in _ROLES:
            for role in context.of_kind(kind, _GROUP):
                severity = Severity.INFO if _is_operators(context, role) else None
                for path, grant in _grants(role):
                    if fact := judge(grant):
                        message = f"{role.ref.plain} {fact}"
                        yield Hit(resource=role, path=path, message=message, hint=hint, severity=severity)

    return find


def _is_operators(context: Context, role: Resource) -> bool:
    """Whether the role is that of an operator: it writes the status of custom resources that the build defines."""
    custom = {
        str(at(crd.manifest, "spec").get("group"))
        for crd in context.of_kind("CustomResourceDefinition", "apiextensions.k8s.io")
    }
    return any(
        grant.groups & custom and any(name.endswith("/status") for name in grant.resources)
        for _, grant in _grants(role)
    )


def _wildcard(grant: _Grant) -> str | None:
    if "*" in grant.verbs and "*" in grant.resources:
        return "gives every verb on every resource"
    if "*" in grant.verbs:
        return f"gives every verb on {', '.join(sorted(grant.resources))}"
    return f"gives {', '.join(sorted(grant.verbs))} on every resource" if "*" in grant.resources else None


def _is_all(grant: _Grant) -> bool:
    return "*" in grant.resources or "*" in grant.verbs


def _secrets(grant: _Grant) -> str | None:
    reads = grant.gives({"get", "list", "watch"}, {"secrets"}) and not _is_all(grant)
    return "lets its holder read every Secret" if reads else None


def _pods(grant: _Grant) -> str | None:
    return "lets its holder create pods" if grant.gives({"create"}, {"pods"}) and not _is_all(grant) else None


def _exec(grant: _Grant) -> str | None:
    inside = grant.gives({"create", "get"}, {"pods/exec", "pods/attach"}) and not _is_all(grant)
    return "lets its holder run commands inside pods" if inside else None


def _escalate(grant: _Grant) -> str | None:
    if _is_all(grant):
        return None
    roles, users = {"roles", "clusterroles"}, {"users", "groups", "serviceaccounts"}
    hooks = {"validatingwebhookconfigurations", "mutatingwebhookconfigurations"}
    ways = (
        (grant.gives({"bind", "escalate"}, roles, _GROUP), "give itself any role"),
        (grant.gives({"impersonate"}, users), "act as somebody else"),
        (
            grant.gives(
                {"update", "approve"}, {"certificatesigningrequests/approval", "signers"}, "certificates.k8s.io"
            ),
            "sign certificates of the cluster",
        ),
        (grant.gives({"create", "get"}, {"nodes/proxy"}), "reach every kubelet"),
        (
            grant.gives({"create", "update", "patch"}, hooks, "admissionregistration.k8s.io"),
            "change what the API server asks before it stores anything",
        ),
    )
    found = [what for has, what in ways if has]
    return f"lets its holder {' and '.join(found)}" if found else None


def _find_admin(context: Context) -> Iterator[Hit]:
    for kind in _BINDINGS:
        for binding in context.of_kind(kind, _GROUP):
            if at(binding.manifest, "roleRef").get("name") == "cluster-admin":
                who = ", ".join(_subject(one) for one in mappings(binding.manifest.get("subjects"))) or "nobody"
                where = f"namespace {binding.ref.namespace}" if binding.ref.namespace else "the whole cluster"
                yield Hit(
                    resource=binding,
                    path="$.roleRef",
                    message=f"{binding.ref.plain} makes {who} an administrator of {where}",
                    hint="bind a role that holds what is needed",
                )


def _subject(one: Mapping[str, Any]) -> str:
    namespace = f"{one['namespace']}/" if one.get("namespace") else ""
    return f"{one.get('kind')} {namespace}{one.get('name')}"


_ROLE = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {{name: web, namespace: shop}}
rules: [{{apiGroups: [""], resources: [{resources}], verbs: [{verbs}]}}]
"""
_BINDING = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {{name: web}}
roleRef: {{apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: {role}}}
subjects: [{{kind: ServiceAccount, name: web, namespace: shop}}]
"""
_ESCALATE = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {{name: web}}
rules: [{{apiGroups: [rbac.authorization.k8s.io], resources: [clusterroles], verbs: [{verbs}]}}]
"""


def _role(resources: str, verbs: str) -> str:
    return _ROLE.format(resources=resources, verbs=verbs)


def _check(name: str, title: str, rationale: str, find: Callable[[Context], Iterator[Hit]], example: Example) -> Check:
    return Check(
        id=f"sec/{name}",
        severity=Severity.WARNING,
        confidence=Confidence.LIKELY,
        title=title,
        rationale=rationale,
        example=example,
        find=find,
        on=_BINDINGS if find is _find_admin else _ROLES,
    )


CHECKS: tuple[Check, ...] = (
    _check(
        "cluster-admin",
        "a binding makes somebody an administrator",
        "cluster-admin may do everything, also change who may do what and read every Secret. A program hardly ever "
        "needs it.",
        _find_admin,
        Example(good=_BINDING.format(role="view"), bad=_BINDING.format(role="cluster-admin")),
    ),
    _check(
        "wildcard-rights",
        "a role gives everything by a wildcard",
        "`*` holds what exists today and what a later version or a new CRD brings: nobody has read what is granted.",
        _by_rule(_wildcard, "name the verbs and resources that are needed"),
        Example(good=_role("configmaps", "get, list"), bad=_role("configmaps", '"*"')),
    ),
    _check(
        "read-secrets",
        "a role lets its holder read every Secret",
        "Among the Secrets of a namespace are tokens of other accounts: who reads them is all of them. `list` and "
        "`watch` show values too. In the role of an operator, which needs it for its work, it is an info.",
        _by_rule(_secrets, "name the Secrets with resourceNames, and leave list and watch out"),
        Example(good=_role("configmaps", "get"), bad=_role("secrets", "get, list")),
    ),
    _check(
        "create-pods",
        "a role lets its holder create pods",
        "A pod may mount every Secret of its namespace and run as every ServiceAccount there, so this right holds "
        "theirs.",
        _by_rule(_pods, "let a controller create them, or keep the role to a namespace of its own"),
        Example(good=_role("pods", "get, list"), bad=_role("pods", "create")),
    ),
    _check(
        "exec-pods",
        "a role lets its holder run commands inside pods",
        "Inside a pod are its Secrets and its token; what is done there leaves no trace in the API but the call.",
        _by_rule(_exec, "remove pods/exec and pods/attach, or give them to people for a time"),
        Example(good=_role("pods/log", "get"), bad=_role("pods/exec", "create")),
    ),
    _check(
        "escalation-rights",
        "a role lets its holder get any other right",
        "bind and escalate lift the rule that nobody can give more than they have; impersonation, signing, kubelets "
        "and admission webhooks lead to the same end.",
        _by_rule(_escalate, "name the objects with resourceNames, or remove the verb"),
        Example(good=_ESCALATE.format(verbs="get"), bad=_ESCALATE.format(verbs="bind")),
    ),
)
