"""sel/spread-selects-others: a rule that keeps pods apart, but not these pods."""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.pods import Pods
from kixbot.checks.selectors import compact, shown
from kixbot.checks.shape import at, keyed
from kixbot.graph.selectors import matches
from kixbot.model.finding import Confidence, Severity


def _find(context: Context) -> Iterator[Hit]:
    for pods in context.pods:
        for path, selector in _rules(pods):
            if selector is not None and not matches(selector, pods.labels):
                yield Hit(
                    resource=pods.resource,
                    path=path,
                    message=f"{pods.resource.ref.plain} spreads pods {shown(selector)}, and its own are "
                    f"{compact(pods.labels)}",
                    hint="use the labels of spec.template.metadata",
                )


def _rules(pods: Pods) -> Iterator[tuple[str, Any]]:
    for path, entry in keyed(pods.spec_path, pods.spec, "topologySpreadConstraints"):
        yield f"{path}.labelSelector", entry.get("labelSelector")
    apart = at(pods.spec, "affinity", "podAntiAffinity")
    where = f"{pods.spec_path}.affinity.podAntiAffinity"
    found = [*_terms(where, apart, "requiredDuringSchedulingIgnoredDuringExecution", "")]
    found += _terms(where, apart, "preferredDuringSchedulingIgnoredDuringExecution", "podAffinityTerm")
    # Staying away from other pods too is meant; only who does not stay away from his own is suspicious.
    if not any(matches(term, pods.labels) for _, term in found):
        yield from found


def _terms(path: str, apart: Mapping[str, Any], field: str, below: str) -> Iterator[tuple[str, Any]]:
    for where, entry in keyed(path, apart, field):
        term = at(entry, below) if below else entry
        if "namespaces" not in term and "namespaceSelector" not in term:
            yield f"{where}.{below}.labelSelector".replace("..", "."), term.get("labelSelector")


_EXAMPLE = """\
apiVersion: apps/v1
kind: Deployment
metadata: {{name: web, namespace: shop}}
spec:
  replicas: 3
  selector: {{matchLabels: {{app: web}}}}
  template:
    metadata: {{labels: {{app: web}}}}
    spec:
      topologySpreadConstraints:
        - maxSkew: 1
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: ScheduleAnyway
          labelSelector: {{matchLabels: {{app: {app}}}}}
      containers: [{{name: web, image: "ghcr.io/acme/web:1.5.0"}}]
"""

CHECK = Check(
    id="sel/spread-selects-others",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    title="a spread constraint or an anti-affinity does not select its own pods",
    rationale=(
        "The scheduler counts the pods that the selector matches. Where the workload's own are not among them, "
        "nothing keeps them apart. Several anti-affinity terms are fine if one of them selects them."
    ),
    example=Example(good=_EXAMPLE.format(app="web"), bad=_EXAMPLE.format(app="wbe")),
    find=_find,
)
