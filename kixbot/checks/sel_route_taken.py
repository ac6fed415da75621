"""sel/route-taken: one host and path that two Ingresses or HTTPRoutes serve."""

from collections import defaultdict
from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.services import GATEWAY_GROUP, routed_hosts
from kixbot.checks.shape import at, keyed, mappings, text, texts
from kixbot.model.finding import Confidence, Related, Severity
from kixbot.model.resource import Resource

# What tells two rules for one path apart: ingress-nginx splits traffic by these.
_SPLIT = ("nginx.ingress.kubernetes.io/canary", "nginx.ingress.kubernetes.io/server-snippet")
_Place = tuple[Resource, str]


def _find(context: Context) -> Iterator[Hit]:
    taken: defaultdict[tuple[str, ...], list[_Place]] = defaultdict(list)
    for ingress in context.of_kind("Ingress", "networking.k8s.io"):
        if not any(one in ingress.annotations for one in _SPLIT):
            kind = text(at(ingress.manifest, "spec").get("ingressClassName"))
            for host, path, match, where in routed_hosts(ingress):
                taken["Ingress", kind, host, match, path].append((ingress, where))
    for route in context.of_kind("HTTPRoute", GATEWAY_GROUP):
        for key, where in _routed(route):
            taken["HTTPRoute", *key].append((route, where))
    for key, places in taken.items():
        first, *others = places
        for other, where in others:
            yield _hit(first, other, where, f"{key[2] or 'any host'}{key[-1]}")


def _hit(first: _Place, other: Resource, where: str, shown: str) -> Hit:
    who = "itself" if first[0].ref == other.ref else first[0].ref.plain
    return Hit(
        resource=other,
        path=where,
        message=f"{other.ref.plain} serves {shown}, which {who} serves too",
        hint="give each its own host or path; the older of the two gets the traffic",
        related=(Related(ref=first[0].ref, note="serves it too", location=first[0].place(first[1])),),
    )


def _routed(route: Resource) -> Iterator[tuple[tuple[str, ...], str]]:
    """Parent, host, kind of match and path of each plain match; one that also asks for more is no double."""
    spec = at(route.manifest, "spec")
    hosts = texts(spec.get("hostnames")) or ("",)
    own = route.ref.namespace
    parents = [
        f"{one.get('namespace', own)}/{one.get('name')}/{one.get('sectionName')}/{one.get('port')}"
        for one in mappings(spec.get("parentRefs"))
    ]
    for where, rule in keyed("$.spec", spec, "rules"):
        for match in mappings(rule.get("matches")) or ({},):
            if set(match) <= {"path"}:
                path = at(match, "path")
                kind, value = path.get("type", "PathPrefix"), path.get("value", "/")
                for parent in parents:
                    for host in hosts:
                        yield (parent, host, str(kind), str(value)), where


_EXAMPLE = """\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: web, namespace: shop}}
spec:
  rules:
    - host: shop.example.org
      http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: web, port: {{number: 80}}}}}}}}]}}
---
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: api, namespace: shop}}
spec:
  rules:
    - host: shop.example.org
      http: {{paths: [{{path: {path}, pathType: Prefix, backend: {{service: {{name: api, port: {{number: 80}}}}}}}}]}}
"""

CHECK = Check(
    id="sel/route-taken",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    title="two Ingresses or HTTPRoutes serve the same host and path",
    rationale=(
        "Only one of them gets the traffic, mostly the older one; after one is deleted and made again, the other. "
        "Rules that ingress-nginx splits by its canary annotation are left alone."
    ),
    example=Example(good=_EXAMPLE.format(path="/api"), bad=_EXAMPLE.format(path="/")),
    find=_find,
)
