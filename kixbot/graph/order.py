"""Order-only references: what must come first without being part of what a resource is.

Namespaces, CRDs, webhooks, CA injection, and service names written in strings.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from kixbot.graph.selectors import service_selects
from kixbot.graph.walk import Raw, fields, map_at, strings, written
from kixbot.graph.world import CRD, World
from kixbot.model.resource import BUILTIN_GROUPS, Ref, Resource

_WEBHOOKS = ("ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
_INJECT = "cert-manager.io/inject-ca-from"

# A host name, maybe with a port, that stands alone in a string.
_LABEL = r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?"
_HOST = re.compile(
    rf"(?<![A-Za-z0-9._-])({_LABEL}(?:\.{_LABEL})*)\.?(?::([0-9]{{1,5}}))?(?![A-Za-z0-9_-]|\.[A-Za-z0-9])"
)
_BEFORE_HOST = frozenset("@=,;\"' \t\n")
_HOST_KEY = re.compile(r"(?:addr|address|endpoint|host|hostname|server|service|uri|url)\Z", re.IGNORECASE)


class Ordered(NamedTuple):
    """A resource that comes first; `required`: its absence is a dangling reference."""

    target: Ref
    path: str
    required: bool


def ordered(source: Resource, world: World) -> Iterator[Ordered]:
    """Every order-only reference of `source`. A CRD has none but to nothing: what it refers to never orders."""
    kind = source.ref.kind_group
    if source.ref.namespace:
        namespace = Ref(kind="Namespace", group="", namespace="", name=source.ref.namespace)
        yield Ordered(namespace, "$.metadata.namespace", True)
    if kind == CRD:
        return
    if source.ref.group not in BUILTIN_GROUPS:
        yield from _custom(source, world)
    if kind in _WEBHOOKS:
        yield from _behind(source, world)
    yield from _injected(source)
    if kind != "Secret":
        yield from _hosts(source, world)


def _custom(source: Resource, world: World) -> Iterator[Ordered]:
    kind, group = source.ref.kind, source.ref.group
    crd = world.find_crd(kind, group)
    if crd is not None:
        yield Ordered(crd.ref, "$.kind", False)
    elif not world.is_served(group):
        # The plural, and so the CRD's real name, is not known without it.
        yield Ordered(Ref(kind=CRD, group="apiextensions.k8s.io", namespace="", name=f"{kind}.{group}"), "$.kind", True)
    for service in world.of_kind("APIService", ""):
        if map_at(service.manifest, "spec").get("group") == group:
            yield Ordered(service.ref, "$.apiVersion", False)
    for configuration in _WEBHOOKS:
        for webhook in world.of_kind(configuration, ""):
            if any(field.value == group for field in fields(webhook.manifest, "webhooks[].rules[].apiGroups[]")):
                yield Ordered(webhook.ref, "$.apiVersion", False)


def _behind(source: Resource, world: World) -> Iterator[Ordered]:
    """The workloads behind a webhook's Service; the Service itself is a row of the table."""
    for field in fields(source.manifest, "webhooks[].clientConfig.service"):
        if not isinstance(field.value, Mapping):
            continue
        namespace, name = str(field.value.get("namespace")), str(field.value.get("name"))
        service = world.find(Ref(kind="Service", group="", namespace=namespace, name=name))
        if service is None:
            continue
        path = written(source.manifest, (*field.raw, "name"))
        for ref, pods in world.workloads(namespace):
            if service_selects(service, pods.labels):
                yield Ordered(ref, path, False)


def _injected(source: Resource) -> Iterator[Ordered]:
    namespace, slash, name = str(source.annotations.get(_INJECT, "")).partition("/")
    if slash:
        target = Ref(kind="Certificate", group="cert-manager.io", namespace=namespace, name=name)
        yield Ordered(target, written(source.manifest, ("metadata", "annotations", _INJECT)), True)


def _hosts(source: Resource, world: World) -> Iterator[Ordered]:
    for text, raw in strings(source.manifest):
        if raw[:2] == ("metadata", "labels") or (len(raw) == 2 and raw[0] == "metadata"):
            continue
        for service in _named(text, raw, source, world):
            yield Ordered(service, written(source.manifest, raw), False)


def _named(text: str, raw: Raw, source: Resource, world: World) -> Iterator[Ref]:
    own = source.ref.namespace
    if own and (service := world.find_service(text, own)):
        if _HOST_KEY.search(_key_of(source.manifest, raw)):
            yield service
        return
    if "." not in text and ":" not in text:
        return
    for found in _HOST.finditer(text):
        labels = found[1].split(".")
        if "svc" in labels[2:]:
            at = labels.index("svc", 2)
            service = world.find_service(labels[at - 2], labels[at - 1])
        elif len(labels) == 2:
            service = world.find_service(labels[0], labels[1])
        elif len(labels) == 1 and own and found[2] and _starts_host(text, found.start()):
            service = world.find_service(labels[0], own, port=int(found[2]))
        else:
            service = None
        if service is not None:
            yield service


def _starts_host(text: str, at: int) -> bool:
    return at == 0 or text[at - 1] in _BEFORE_HOST or text[:at].endswith("//")


def _key_of(body: Any, raw: Raw) -> str:
    """What a string is called: the name of an environment variable, else the map key that holds it."""
    if raw[-1] == "value":
        for step in raw[:-1]:
            body = body[step]
        if isinstance(name := body.get("name"), str):
            return name
    return raw[-1] if isinstance(raw[-1], str) else ""
