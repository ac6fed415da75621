"""The rules that the walk speaks for, each with its page. A fault's id is that of the rule here."""

from collections.abc import Callable, Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.schema import faults
from kixbot.checks.schema.judge import hits
from kixbot.model.finding import Severity


def _finder(rule: str) -> Callable[[Context], Iterator[Hit]]:
    def find(context: Context) -> Iterator[Hit]:
        return hits(context, rule)

    return find


def _check(rule: str, title: str, rationale: str, good: str, bad: str) -> Check:
    return Check(
        id=rule,
        severity=Severity.ERROR,
        title=title,
        rationale=rationale,
        example=Example(good=good, bad=bad),
        find=_finder(rule),
    )


_POD = """\
apiVersion: v1
kind: Pod
metadata: {name: web, namespace: shop}
spec:
  restartPolicy: Always
  containers:
    - name: web
      image: ghcr.io/acme/web:1.5.0
"""


def _pod(more: str) -> str:
    return f"{_POD}{more}"


def _config(metadata: str) -> str:
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{{metadata}}}\n"


_PORTS = "      ports:\n        - {name: http, containerPort: 8080}\n"
_MOUNT = "      volumeMounts:\n        - {name: %s, mountPath: /cache}\n  volumes:\n    - {name: cache, emptyDir: {}}\n"
_CRON = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: report, namespace: shop}
spec:
  schedule: "%s"
  jobTemplate:
    spec:
      template:
        spec: {restartPolicy: Never, containers: [{name: report, image: "ghcr.io/acme/report:1.0"}]}
"""
_DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: %s}}
    spec: {containers: [{name: web, image: "ghcr.io/acme/web:1.5.0"}]}
"""
_SPREAD = """\
  topologySpreadConstraints:
    - {maxSkew: 1, topologyKey: kubernetes.io/hostname, whenUnsatisfiable: ScheduleAnyway}
"""
_SERVICE = """\
apiVersion: v1
kind: Service
metadata: {name: web, namespace: shop}
spec:
  type: %s
  ports: [{port: 80, nodePort: 30080}]
"""

_PDB = """\
apiVersion: %s
kind: PodDisruptionBudget
metadata: {name: web, namespace: shop}
spec: {minAvailable: 1, selector: {matchLabels: {app: web}}}
"""

_POOL = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pools.example.org}
spec:
  group: example.org
  scope: Namespaced
  names: {kind: Pool, plural: pools}
  versions:
    - name: v1
      served: true
      storage: true
      schema:
        openAPIV3Schema:
          type: object
          properties:
            spec:
              type: object
              properties: {min: {type: integer, minimum: 1}, max: {type: integer}}
              x-kubernetes-validations: [{rule: "self.min <= self.max", message: "min must not exceed max"}]
---
apiVersion: example.org/v1
kind: Pool
metadata: {name: main, namespace: shop}
spec: {min: %d, max: %d}
"""

CHECKS: tuple[Check, ...] = (
    _check(
        faults.UNKNOWN_KIND,
        "a kind of Kubernetes' own that this version does not serve",
        "Kinds come and go between minor versions. The API server answers 404 for one that it does not serve.",
        _PDB % "policy/v1",
        _PDB % "policy/v1beta1",
    ),
    _check(
        faults.UNKNOWN_FIELD,
        "a field that its object does not have",
        "The API server drops a field that it does not know, or refuses it where it is asked to be strict. Either way "
        "what was meant does not happen: a misspelt or misplaced `securityContext` protects nothing.",
        _pod("      securityContext: {allowPrivilegeEscalation: false}\n"),
        _pod("  securityContext: {allowPrivilegeEscalation: false}\n"),
    ),
    _check(
        faults.TYPE,
        "a value of the wrong type",
        "A list where an object belongs, text where a number belongs, a number beyond its 32 bits: the API server "
        "cannot decode the object and refuses it.",
        _pod("  activeDeadlineSeconds: 600\n"),
        _pod('  activeDeadlineSeconds: "600"\n'),
    ),
    _check(
        faults.REQUIRED,
        "a field that must be there is absent or empty",
        "The API server refuses an object without its required fields, and mostly also one where they are empty.",
        _pod(_PORTS),
        _pod(_PORTS.replace(", containerPort: 8080", "")),
    ),
    _check(
        faults.ENUM,
        "a value that is not one of those that its field takes",
        "Some fields take a few words only, in exactly this spelling. The published schema does not list them, so most "
        "tools let anything pass; the API server does not.",
        _POD,
        _POD.replace("Always", "always"),
    ),
    _check(
        faults.DUPLICATE,
        "a list holds one item twice",
        "Lists whose items are told apart by a key, and lists that are sets, may hold each item once. Server-side "
        "apply refuses others, since it could not say who owns which.",
        _pod(_SPREAD),
        _pod(_SPREAD + _SPREAD.partition("\n")[2]),
    ),
    _check(
        faults.CRD,
        "a CRD that the API server refuses",
        "A CRD is named after its plural and group, stores exactly one version, and describes each version by a "
        "structural schema: every field has a type.",
        _POOL % (1, 2),
        (_POOL % (1, 2)).replace("min: {type: integer, minimum: 1}", "min: {minimum: 1}"),
    ),
    _check(
        faults.VALUE,
        "a value that the CRD of its kind excludes",
        "CRDs state bounds, lengths, patterns and formats, and the API server refuses custom resources that break "
        "them. The CRDs of the build itself are what its custom resources are held to.",
        _POOL % (1, 2),
        _POOL % (0, 2),
    ),
    _check(
        faults.CEL,
        "a custom resource that breaks a rule of its CRD",
        "CRDs may hold rules in CEL (x-kubernetes-validations). All of them are evaluated; one that uses a function "
        "kix does not have, or speaks of the object's former state, is left out.",
        _POOL % (1, 2),
        _POOL % (5, 2),
    ),
    _check(
        faults.NAME,
        "a name that its object cannot have",
        "Names become parts of host names, paths and labels, and so may hold few characters, mostly lower case "
        "letters, digits and '-'.",
        _config("name: web-config, namespace: shop"),
        _config("name: web_config, namespace: shop"),
    ),
    _check(
        faults.LABEL,
        "a label or an annotation that the API server refuses",
        "Keys of labels and annotations have at most 63 characters after an optional domain. Values of labels have at "
        "most 63 letters, digits, '-', '_' and '.'; annotations hold any text.",
        _config("name: web, namespace: shop, annotations: {note: the front end}"),
        _config("name: web, namespace: shop, labels: {note: the front end}"),
    ),
    _check(
        faults.FORMAT,
        "a text that its field cannot read",
        "Schedules, addresses, address ranges, paths and percentages are texts with a grammar of their own, which the "
        "API server checks when the object is applied.",
        _CRON % "0 3 * * *",
        _CRON % "0 3 * *",
    ),
    _check(
        faults.RANGE,
        "a number outside what its field takes",
        "Ports go from 1 to 65535, weights from 1 to 100, counts are not negative. The API server refuses others.",
        _pod(_PORTS),
        _pod(_PORTS.replace("8080", "99999")),
    ),
    _check(
        faults.ONE_OF,
        "none or several of fields of which one must be set",
        "A probe has one way of asking, a variable one source, a volume one kind. The API server refuses two at once.",
        _pod("      livenessProbe: {tcpSocket: {port: 80}}\n"),
        _pod("      livenessProbe: {tcpSocket: {port: 80}, httpGet: {port: 80}}\n"),
    ),
    _check(
        faults.CONFLICT,
        "fields that do not go together",
        "Some fields only make sense with certain values of others, and the API server refuses them elsewhere.",
        _SERVICE % "NodePort",
        _SERVICE % "ClusterIP",
    ),
    _check(
        faults.UNIQUE,
        "a name or port that may occur once occurs twice",
        "What others refer to by name must be there once: the ports of a pod or a Service, its containers, the files "
        "of a volume.",
        _pod(_PORTS + "        - {name: admin, containerPort: 8081}\n"),
        _pod(_PORTS + "        - {name: http, containerPort: 8081}\n"),
    ),
    _check(
        faults.SELECTOR,
        "a selector that the API server refuses",
        "The selector of a Deployment, StatefulSet or DaemonSet must match the labels of its own pods and may not be "
        "empty; operators such as In and Exists take a certain number of values.",
        _DEPLOYMENT % "web",
        _DEPLOYMENT % "shop",
    ),
    _check(
        faults.RESOURCES,
        "requests and limits that contradict each other or name nothing",
        "A container may not request more than its limit, and resources other than the standard ones carry a domain.",
        _pod("      resources: {requests: {cpu: 100m}, limits: {cpu: 200m}}\n"),
        _pod('      resources: {requests: {cpu: "2"}, limits: {cpu: "1"}}\n'),
    ),
    _check(
        faults.VOLUME_MOUNT,
        "a container mounts a volume that the pod does not have",
        "Every mount names a volume of its pod, or a claim template of its StatefulSet.",
        _pod(_MOUNT % "cache"),
        _pod(_MOUNT % "cash"),
    ),
)
