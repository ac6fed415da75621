"""ref/ingress-tls-host: a host that is served without the certificate that the Ingress asks for."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import at, keyed, mappings, text, texts
from kixbot.model.finding import Confidence, Severity


def _find(context: Context) -> Iterator[Hit]:
    for ingress in context.of_kind("Ingress", "networking.k8s.io"):
        spec = at(ingress.manifest, "spec")
        entries = mappings(spec.get("tls"))
        hosts = [host for entry in entries for host in texts(entry.get("hosts"))]
        # An entry without hosts is the certificate of all of them.
        if not entries or any(not entry.get("hosts") for entry in entries):
            continue
        for path, rule in keyed("$.spec", spec, "rules"):
            host = text(rule.get("host"))
            if host and not any(_covers(one, host) for one in hosts):
                near = context.likeness.nearest(host, hosts)
                yield Hit(
                    resource=ingress,
                    path=f"{path}.host",
                    message=f"{ingress.ref.plain} serves host {host}, which no entry of its tls names",
                    hint=f'did you mean "{near}"?' if near else f"add {host} to the hosts of an entry of tls",
                )


def _covers(pattern: str, host: str) -> bool:
    return pattern == host or (pattern.startswith("*.") and host.partition(".")[2] == pattern[2:])


_EXAMPLE = """\
apiVersion: networking.k8s.io/v1
kind: Ingress
metadata: {{name: web, namespace: shop}}
spec:
  tls: [{{hosts: [shop.example.org], secretName: shop-tls}}]
  rules:
    - host: {host}
      http: {{paths: [{{path: /, pathType: Prefix, backend: {{service: {{name: web, port: {{number: 80}}}}}}}}]}}
"""

CHECK = Check(
    id="ref/ingress-tls-host",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    title="an Ingress with TLS serves a host that its TLS does not name",
    rationale=(
        "The host is served with the controller's own certificate, or over plain HTTP only: browsers warn, and a "
        "redirect to HTTPS leads nowhere."
    ),
    example=Example(good=_EXAMPLE.format(host="shop.example.org"), bad=_EXAMPLE.format(host="www.example.org")),
    find=_find,
)
