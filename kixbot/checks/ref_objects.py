"""Rules about references to missing objects that need no words of their own: one row a rule, by kind of target."""

from textwrap import dedent
from typing import NamedTuple

from kixbot.checks.base import Check, Example
from kixbot.checks.context import WORKLOADS
from kixbot.checks.dangling import rule

_ELSEWHERE = "Optional references and objects named as external are left alone."


def _pod(field: str) -> str:
    return (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: web, namespace: shop}\nspec:\n"
        f"  {field}\n"
        '  containers: [{name: web, image: "ghcr.io/acme/web:1.5.0"}]\n'
    )


def _pair(there: str, user: str, *, good: str, bad: str) -> Example:
    """An object and its user, whose NAME is right or a slip."""
    text = f"{dedent(there)}---\n{dedent(user)}"
    return Example(good=text.replace("NAME", good), bad=text.replace("NAME", bad))


_EXTERNAL = """\
apiVersion: external-secrets.io/v1
kind: ExternalSecret
metadata: {name: db, namespace: shop}
spec: {data: []}
"""
_CONFIG = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: shop}\ndata: {workers: "4"}\n'
_SERVICE = "apiVersion: v1\nkind: Service\nmetadata: {name: web, namespace: shop}\nspec: {ports: [{port: 80}]}\n"
_ACCOUNT = "apiVersion: v1\nkind: ServiceAccount\nmetadata: {name: web, namespace: shop}\n"
_CLAIM = """\
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: data, namespace: shop}
spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
"""
_INGRESS = """\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {name: web, namespace: shop}
spec:
  defaultBackend: {service: {name: NAME, port: {number: 80}}}
"""
_HPA = """\
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: web, namespace: shop}
spec:
  minReplicas: 2
  maxReplicas: 5
  scaleTargetRef: {apiVersion: apps/v1, kind: Deployment, name: NAME}
"""
_DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: "ghcr.io/acme/web:1.5.0"}]}
"""
_GATEWAY = """\
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: edge, namespace: shop}
spec: {gatewayClassName: any, listeners: [{name: http, port: 80, protocol: HTTP}]}
"""
_GATEWAY_CLASS = """\
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: any}
spec: {controllerName: example.org/any}
"""
_ROUTE = """\
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: web, namespace: shop}
spec: {parentRefs: [{name: NAME}]}
"""
_ISSUER = (
    "apiVersion: cert-manager.io/v1\nkind: Issuer\nmetadata: {name: ca, namespace: shop}\nspec: {selfSigned: {}}\n"
)
_CERTIFICATE = """\
apiVersion: cert-manager.io/v1
kind: Certificate
metadata: {name: web, namespace: shop}
spec: {secretName: web-tls, issuerRef: {name: NAME}}
"""
_ROLE = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: reader, namespace: shop}
rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
"""
_BINDING = """\
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: web, namespace: shop}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: NAME}
subjects: [{kind: Group, name: "system:authenticated"}]
"""
_STORAGE_CLASS = (
    "apiVersion: storage.k8s.io/v1\nkind: StorageClass\nmetadata: {name: fast}\nprovisioner: example.org/disk\n"
)
_CLASSED_CLAIM = _CLAIM.replace("spec: {", "spec: {storageClassName: NAME, ")
_INGRESS_CLASS = (
    "apiVersion: networking.k8s.io/v1\nkind: IngressClass\nmetadata: {name: nginx}\nspec: {controller: k8s.io/nginx}\n"
)
_CLASSED_INGRESS = _INGRESS.replace("spec:\n", "spec:\n  ingressClassName: NAME\n").replace(
    "{name: NAME, port", "{name: web, port"
)
_RUNTIME_CLASS = "apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: gvisor}\nhandler: runsc\n"
_DATABASE = """\
apiVersion: postgresql.cnpg.io/v1
kind: Pooler
metadata: {name: pool, namespace: shop}
spec: {cluster: {name: NAME}, instances: 2, type: rw}
"""
_CLUSTER = """\
apiVersion: postgresql.cnpg.io/v1
kind: Cluster
metadata: {name: db, namespace: shop}
spec: {instances: 3, storage: {size: 1Gi}}
"""


class _Row(NamedTuple):
    """A rule in short; `outcome` says what happens in the cluster."""

    id: str
    kinds: tuple[str, ...]
    title: str
    outcome: str
    example: Example


_ROWS = (
    _Row(
        "ref/secret",
        ("Secret",),
        "a Secret is referred to that does not exist",
        "A pod that needs it does not start; an Ingress or Gateway serves no certificate. A Secret that cert-manager, "
        "External Secrets, Sealed Secrets or CloudNativePG will create counts as there.",
        _pair(_EXTERNAL, _pod("imagePullSecrets: [{name: NAME}]"), good="db", bad="dv"),
    ),
    _Row(
        "ref/config-map",
        ("ConfigMap",),
        "a ConfigMap is referred to that does not exist",
        "A pod that needs it does not start.",
        _pair(_CONFIG, _pod("volumes: [{name: config, configMap: {name: NAME}}]"), good="web", bad="wbe"),
    ),
    _Row(
        "ref/service",
        ("Service",),
        "a Service is referred to that does not exist",
        "An Ingress or route answers 503, a webhook or API cannot be reached, pods of a StatefulSet get no names.",
        _pair(_SERVICE, _INGRESS, good="web", bad="wbe"),
    ),
    _Row(
        "ref/service-account",
        ("ServiceAccount",),
        "a ServiceAccount is referred to that does not exist",
        "The API server refuses every pod of the workload; a binding grants its role to nobody.",
        _pair(_ACCOUNT, _pod("serviceAccountName: NAME"), good="web", bad="wbe"),
    ),
    _Row(
        "ref/persistent-volume-claim",
        ("PersistentVolumeClaim",),
        "a PersistentVolumeClaim is referred to that does not exist",
        "The pod stays pending. Claims that a StatefulSet makes from its templates count as there.",
        _pair(
            _CLAIM,
            _pod("volumes: [{name: data, persistentVolumeClaim: {claimName: NAME}}]"),
            good="data",
            bad="date",
        ),
    ),
    _Row(
        "ref/storage-class",
        ("StorageClass",),
        "a StorageClass is referred to that does not exist",
        "The claim stays pending for ever. Classes that the cluster's flavor brings count as there, and where its "
        "storage is external nothing is said.",
        _pair(_STORAGE_CLASS, _CLASSED_CLAIM, good="fast", bad="fats"),
    ),
    _Row(
        "ref/ingress-class",
        ("IngressClass",),
        "an IngressClass is referred to that does not exist",
        "No controller takes up the Ingress.",
        _pair(f"{_SERVICE}---\n{_INGRESS_CLASS}", _CLASSED_INGRESS, good="nginx", bad="ngnix"),
    ),
    _Row(
        "ref/runtime-class",
        ("RuntimeClass",),
        "a RuntimeClass is referred to that does not exist",
        "The API server refuses every pod of the workload.",
        _pair(_RUNTIME_CLASS, _pod("runtimeClassName: NAME"), good="gvisor", bad="gviser"),
    ),
    _Row(
        "ref/role",
        ("Role", "ClusterRole"),
        "a binding names a role that does not exist",
        "The binding is accepted and grants nothing. The roles that every cluster has are known.",
        _pair(_ROLE, _BINDING, good="reader", bad="raeder"),
    ),
    _Row(
        "ref/workload",
        tuple(sorted(WORKLOADS)),
        "an autoscaler or another object names a workload that does not exist",
        "Nothing is scaled: the autoscaler only reports FailedGetScale.",
        _pair(_DEPLOYMENT, _HPA, good="web", bad="wbe"),
    ),
    _Row(
        "ref/gateway",
        ("Gateway", "GatewayClass"),
        "a route or a Gateway names a parent that does not exist",
        "The route is attached to nothing and gets no traffic.",
        _pair(f"{_GATEWAY_CLASS}---\n{_GATEWAY}", _ROUTE, good="edge", bad="egde"),
    ),
    _Row(
        "ref/issuer",
        ("Issuer", "ClusterIssuer"),
        "a certificate names an issuer that does not exist",
        "The certificate is never issued, and what mounts its Secret does not start.",
        _pair(_ISSUER, _CERTIFICATE, good="ca", bad="cs"),
    ),
)
_OWN_WORDS = frozenset({"PriorityClass", "Namespace", "CustomResourceDefinition"})
_KNOWN = _OWN_WORDS.union(*(row.kinds for row in _ROWS))

CHECKS: tuple[Check, ...] = (
    *(
        rule(
            row.id,
            kinds=frozenset(row.kinds),
            others=_KNOWN,
            title=row.title,
            rationale=f"{row.outcome} {_ELSEWHERE}",
            example=row.example,
        )
        for row in _ROWS
    ),
    rule(
        "ref/object",
        kinds=None,
        others=_KNOWN,
        title="an object of another kind is referred to that does not exist",
        rationale=f"What refers to it waits for it, or does less than it says. {_ELSEWHERE}",
        example=_pair(_CLUSTER, _DATABASE, good="db", bad="dbs"),
    ),
)
