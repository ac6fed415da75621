"""sec/automount-token: a pod that gets an API token nobody gave a right to."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.pods import Pods
from kixbot.checks.shape import mappings, text
from kixbot.model.finding import Confidence, Severity

_FIELD = "automountServiceAccountToken"
_DEFAULT = "default"
_BINDINGS = ("RoleBinding", "ClusterRoleBinding")


def _find(context: Context) -> Iterator[Hit]:
    bound = _bound(context)
    for pods in context.pods:
        namespace = pods.resource.ref.namespace
        account = text(pods.spec.get("serviceAccountName")) or text(pods.spec.get("serviceAccount")) or _DEFAULT
        if pods.is_opaque or not _mounts(context, pods, account) or (namespace, account) in bound:
            continue
        yield Hit(
            resource=pods.resource,
            path=pods.spec_path,
            message=f"{pods.resource.ref.plain} mounts the token of ServiceAccount {namespace}/{account}, to which no "
            "binding in this cluster gives a right",
            hint=f"set {_FIELD}: false in the pod spec",
        )


def _mounts(context: Context, pods: Pods, account: str) -> bool:
    """Whether the token is mounted: the pod's own setting goes before the ServiceAccount's, and the default is yes."""
    if _FIELD in pods.spec:
        return pods.spec[_FIELD] is not False
    known = context.find("ServiceAccount", account, pods.resource.ref.namespace)
    if known is None:
        return account == _DEFAULT  # another's absence is the finding of ref/service-account, or its setting unknown
    return known.manifest.get(_FIELD) is not False


def _bound(context: Context) -> set[tuple[str, str]]:
    """Namespace and name of every ServiceAccount that a binding names."""
    return {
        (text(subject.get("namespace")) or binding.ref.namespace, text(subject.get("name")))
        for kind in _BINDINGS
        for binding in context.of_kind(kind, "rbac.authorization.k8s.io")
        for subject in mappings(binding.manifest.get("subjects"))
        if subject.get("kind") == "ServiceAccount"
    }


_EXAMPLE = """\
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  automountServiceAccountToken: {value}
  containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]
"""

CHECK = Check(
    id="sec/automount-token",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    title="a pod mounts an API token that it has no use for",
    rationale=(
        "Whoever takes over the container can talk to the API server as its ServiceAccount. A pod whose account is "
        "bound to no role has no use for the token. The pod's own setting goes before that of its ServiceAccount."
    ),
    example=Example(good=_EXAMPLE.format(value="false"), bad=_EXAMPLE.format(value="true")),
    find=_find,
)
