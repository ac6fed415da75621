"""Rules about probes: missing ones, and a liveness probe that does what the readiness probe does."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.pods import Container, Pods
from kixbot.checks.shape import at
from kixbot.model.finding import Severity

_HANDLERS = ("exec", "grpc", "httpGet", "tcpSocket")
_TIMES = ("failureThreshold", "initialDelaySeconds", "periodSeconds", "timeoutSeconds")


def _serving(context: Context) -> Iterator[tuple[Pods, Container]]:
    """Ordinary containers of lasting pods that a Service selects; where ports are declared, those that have some."""
    for pods in context.pods:
        if pods.is_batch or pods.is_opaque or not context.services_of(pods):
            continue
        ordinary = [one for one in pods.containers if one.role == "containers"]
        declared = [one for one in ordinary if one.port_numbers()]
        yield from ((pods, one) for one in declared or ordinary)


def _find_readiness(context: Context) -> Iterator[Hit]:
    for pods, one in _serving(context):
        if not at(one.body, "readinessProbe"):
            service = context.services_of(pods)[0].ref.plain
            yield Hit(
                resource=pods.resource,
                path=f"{one.path}.readinessProbe",
                message=f"{pods.resource.ref.plain} container '{one.name}' has no readiness probe, and {service} sends "
                "it traffic as soon as it starts",
                hint="add a readinessProbe that answers once the program can serve",
            )


def _find_liveness(context: Context) -> Iterator[Hit]:
    for pods, one in _serving(context):
        if not at(one.body, "livenessProbe"):
            yield Hit(
                resource=pods.resource,
                path=f"{one.path}.livenessProbe",
                message=f"{pods.resource.ref.plain} container '{one.name}' has no liveness probe",
                hint="add one if the program can hang without ending; it must not depend on other programs",
            )


def _find_same(context: Context) -> Iterator[Hit]:
    for pods in context.pods:
        for one in pods.containers:
            live, ready = at(one.body, "livenessProbe"), at(one.body, "readinessProbe")
            asked = [{field: probe.get(field) for field in _HANDLERS} for probe in (live, ready)]
            timed = [{field: probe.get(field) for field in _TIMES} for probe in (live, ready)]
            if any(asked[0].values()) and asked[0] == asked[1] and timed[0] == timed[1]:
                yield Hit(
                    resource=pods.resource,
                    path=f"{one.path}.livenessProbe",
                    message=f"{pods.resource.ref.plain} container '{one.name}' has the same liveness and readiness "
                    "probe, with the same times",
                    hint="let liveness fail later (failureThreshold, periodSeconds), or ask something simpler",
                    # A startup probe keeps the liveness probe from restarting a slow start.
                    severity=Severity.INFO if at(one.body, "startupProbe") else None,
                )


_EXAMPLE = """\
apiVersion: v1
kind: Service
metadata: {{name: web, namespace: shop}}
spec: {{selector: {{app: web}}, ports: [{{port: 80, targetPort: 8080}}]}}
---
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop, labels: {{app: web}}}}
spec:
  containers:
    - name: web
      image: ghcr.io/acme/web:1.5.0
      ports: [{{containerPort: 8080}}]
{probes}"""
_READY = "      readinessProbe: {httpGet: {path: /ready, port: 8080}}\n"
_LIVE = "      livenessProbe: {httpGet: {path: %s, port: 8080}}\n"

CHECKS: tuple[Check, ...] = (
    Check(
        id="rel/readiness-probe",
        severity=Severity.WARNING,
        title="a container that serves a Service has no readiness probe",
        rationale=(
            "Without one a pod counts as ready the moment its process starts: requests arrive before it listens, and "
            "a rolling update replaces pods that work by pods that do not. Judged are containers with declared ports, "
            "else all; init containers, Jobs and pods without a Service need none."
        ),
        example=Example(good=_EXAMPLE.format(probes=_READY), bad=_EXAMPLE.format(probes="")),
        find=_find_readiness,
    ),
    Check(
        id="rel/liveness-probe",
        severity=Severity.INFO,
        title="a container that serves a Service has no liveness probe",
        rationale=(
            "A program that hangs is restarted only by a liveness probe. One that ends when it fails needs none, and a "
            "bad probe restarts programs that are merely slow: therefore an info."
        ),
        example=Example(good=_EXAMPLE.format(probes=_LIVE % "/live"), bad=_EXAMPLE.format(probes="")),
        find=_find_liveness,
    ),
    Check(
        id="rel/same-probes",
        severity=Severity.WARNING,
        title="liveness and readiness probes are the same",
        rationale=(
            "A pod that is not ready for a moment should get no traffic; with equal probes it is restarted instead, "
            "and under load all pods are, one after the other. With a startup probe it is an info."
        ),
        example=Example(
            good=_EXAMPLE.format(probes=_READY + _LIVE % "/live"), bad=_EXAMPLE.format(probes=_READY + _LIVE % "/ready")
        ),
        find=_find_same,
    ),
)
