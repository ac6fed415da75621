"""ref/service-name: the name of a Service, written into a variable or a file, that leads nowhere."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.services import has_port, ports_of
from kixbot.checks.shape import at, keyed, mapping, text
from kixbot.model.finding import Confidence, Related, Severity
from kixbot.model.path import member
from kixbot.model.resource import Ref, Resource

_LABEL = r"[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
_HOST = re.compile(
    rf"(?<![A-Za-z0-9._$(){{}}-])(?P<host>{_LABEL}(?:\.{_LABEL}){{1,3}})\.svc"
    rf"(?:\.{_LABEL}(?:\.{_LABEL})*)?\.?(?::(?P<port>[0-9]{{1,5}}))?(?![A-Za-z0-9_-])"
)
_BARE = re.compile(rf"{_LABEL}\Z")
_HOST_KEY = re.compile(r"(?:\A|_)(?:HOST|HOSTNAME|ADDR|ADDRESS|SERVER|ENDPOINT)\Z")
_LONGEST = 64 * 1024  # characters of one value that are read


class _Text(NamedTuple):
    resource: Resource
    path: str
    name: str
    value: str


def _find(context: Context) -> Iterator[Hit]:
    for one in _texts(context):
        seen: set[tuple[str, str]] = set()
        for found in _HOST.finditer(one.value):
            name, namespace = found["host"].split(".")[-2:]
            if (name, namespace) not in seen:
                seen.add((name, namespace))
                yield from _judge(context, one, Ref("Service", "", namespace, name), found["port"])
        if _HOST_KEY.search(one.name) and _BARE.match(one.value):
            yield from _judge_bare(context, one)


def _judge(context: Context, one: _Text, target: Ref, port: str | None) -> Iterator[Hit]:
    if target.namespace not in context.world.namespaces or context.world.find_creator(target):
        return
    service = context.by_ref.get(target)
    if service is None:
        if context.world.is_outside(target) or context.begins_custom(target.namespace, target.name):
            return
        near = context.likeness.nearest(target.name, context.names_of(target))
        yield Hit(
            resource=one.resource,
            path=one.path,
            message=f"{one.resource.ref.plain} names {target.plain}, which no resource in this cluster creates",
            hint=f'did you mean "{near}"?' if near else "name a Service of the cluster, or declare it as external",
        )
    elif port and not has_port(service, int(port)) and at(service.manifest, "spec").get("clusterIP") != "None":
        declared = ", ".join(str(entry.get("port")) for _, entry in ports_of(service)) or "(none)"
        yield Hit(
            resource=one.resource,
            path=one.path,
            message=f"{one.resource.ref.plain} names port {port} of {target.plain}, which has no such port\n"
            f"  declared ports: {declared}",
            hint="use a port of the Service, not one of its pods",
            related=(Related(ref=target, note="ports", location=service.place("$.spec.ports")),),
        )


def _judge_bare(context: Context, one: _Text) -> Iterator[Hit]:
    """A variable such as DB_HOST whose value is almost, but not quite, a Service of the namespace."""
    target = Ref("Service", "", one.resource.ref.namespace, one.value)
    names = context.names_of(target)
    if one.value in names or one.value == "localhost" or context.world.is_outside(target):
        return
    near = context.likeness.nearest(one.value, names)
    if near:
        yield Hit(
            resource=one.resource,
            path=one.path,
            message=f"{one.resource.ref.plain} sets {one.name} to {one.value}, and no Service of namespace "
            f"{target.namespace} is called so",
            hint=f'did you mean "{near}"?',
            confidence=Confidence.HINT,
        )


def _texts(context: Context) -> Iterator[_Text]:
    for pods in context.pods:
        for container in pods.containers:
            for path, entry in keyed(container.path, container.body, "env"):
                if value := text(entry.get("value")):
                    yield _Text(pods.resource, f"{path}.value", text(entry.get("name")), value[:_LONGEST])
            for field in ("command", "args"):
                values = container.body.get(field)
                for number, value in enumerate(values if isinstance(values, list) else ()):
                    if isinstance(value, str):
                        yield _Text(pods.resource, f"{container.path}.{field}[{number}]", "", value[:_LONGEST])
    for resource in context.of_kind("ConfigMap"):
        for key, value in mapping(resource.manifest.get("data")).items():
            if isinstance(value, str):
                yield _Text(resource, member("$.data", key), key, value[:_LONGEST])


_EXAMPLE = """\
apiVersion: v1
kind: Service
metadata: {{name: db, namespace: shop}}
spec: {{ports: [{{port: 5432}}]}}
---
apiVersion: v1
kind: Pod
metadata: {{name: web, namespace: shop}}
spec:
  containers:
    - name: web
      image: ghcr.io/acme/web:1.5.0
      env: [{{name: DATABASE_URL, value: "postgres://{host}.svc.cluster.local:5432/app"}}]
"""

CHECK = Check(
    id="ref/service-name",
    severity=Severity.WARNING,
    confidence=Confidence.LIKELY,
    title="a Service that is named in a variable, an argument or a ConfigMap does not exist",
    rationale=(
        "No tool sees a host name in a string as a reference, so a renamed Service or a slip shows only when the "
        "program looks it up. Read are names of the form NAME.NAMESPACE.svc, with their port; a variable such as "
        "DB_HOST with a bare name counts where a Service of its namespace is called almost so. Services that operators "
        "make are known."
    ),
    example=Example(good=_EXAMPLE.format(host="db.shop"), bad=_EXAMPLE.format(host="database.shop")),
    find=_find,
)
