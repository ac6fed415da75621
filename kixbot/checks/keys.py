"""Keys of Secrets and ConfigMaps: which fields ask for one, and which keys an object is known to have."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from kixbot.checks.base import Hit
from kixbot.checks.context import Context
from kixbot.checks.pods import Pods
from kixbot.checks.shape import at, keyed, mapping, text
from kixbot.model.finding import Related
from kixbot.model.resource import Ref, Resource

Kind = Literal["Secret", "ConfigMap"]

_REFERENCE: Mapping[Kind, str] = {"Secret": "secretKeyRef", "ConfigMap": "configMapKeyRef"}
_VOLUME: Mapping[Kind, tuple[str, str]] = {"Secret": ("secret", "secretName"), "ConfigMap": ("configMap", "name")}
_ALWAYS: Mapping[tuple[Kind, str], tuple[str, ...]] = {("ConfigMap", "kube-root-ca.crt"): ("ca.crt",)}
# Written by the control plane once the Secret exists.
_TOKEN_TYPE = "kubernetes.io/service-account-token"  # noqa: S105  a type's name


@dataclass(frozen=True, slots=True, kw_only=True)
class Use:
    """A field of a pod that asks for one key of one object."""

    pods: Pods
    path: str
    target: Ref
    key: str


def missing(context: Context, kind: Kind) -> Iterator[Hit]:
    """Every use of a key that its object, which is there, is known not to have."""
    for use in _uses(context, kind):
        keys = known_keys(context, use.target)
        if keys is None or use.key in keys:
            continue
        near = context.likeness.nearest(use.key, keys)
        owner = context.by_ref.get(use.target)
        yield Hit(
            resource=use.pods.resource,
            path=use.path,
            message=f'{kind.lower()} "{use.target.name}" does not declare key "{use.key}"\n'
            f"  declared keys: {', '.join(sorted(keys)) or '(none)'}",
            hint=f'did you mean "{near}"?' if near else f"add the key to {use.target.plain}, or name one it declares",
            related=(Related(ref=use.target, note="declared here", location=owner.place("$.data")),) if owner else (),
        )


def known_keys(context: Context, ref: Ref) -> frozenset[str] | None:
    """The keys that an object has; None where that is not known, or the object is not there at all."""
    if resource := context.by_ref.get(ref):
        return _declared(resource)
    if found := context.world.find_creator(ref):
        return None if found[1].keys is None else frozenset(found[1].keys)
    if external := context.find_external(ref):
        return None if external.keys is None else frozenset(external.keys)
    for (kind, name), keys in _ALWAYS.items():
        if (ref.kind, ref.name) == (kind, name):
            return frozenset(keys)
    return None


def _declared(resource: Resource) -> frozenset[str] | None:
    if resource.manifest.get("type") == _TOKEN_TYPE:
        return None
    fields = ("data", "stringData", "binaryData")
    keys = {key for field in fields for key in mapping(resource.manifest.get(field))}
    return frozenset(keys | {generated.rpartition("data.")[2] for generated in resource.generated})


def _uses(context: Context, kind: Kind) -> Iterator[Use]:
    for pods in context.pods:
        for container in pods.containers:
            for path, entry in keyed(container.path, container.body, "env"):
                source = at(entry, "valueFrom", _REFERENCE[kind])
                where = f"{path}.valueFrom.{_REFERENCE[kind]}.key"
                yield from _use(pods, where, kind, source, source.get("name"), source.get("key"))
        for path, volume in keyed(pods.spec_path, pods.spec, "volumes"):
            yield from _items(pods, kind, path, volume, _VOLUME[kind])
            for below, source in keyed(f"{path}.projected", at(volume, "projected"), "sources"):
                yield from _items(pods, kind, below, source, (_VOLUME[kind][0], "name"))


def _items(pods: Pods, kind: Kind, path: str, owner: Mapping[str, Any], fields: tuple[str, str]) -> Iterator[Use]:
    field, name = fields
    source = at(owner, field)
    for where, entry in keyed(f"{path}.{field}", source, "items"):
        yield from _use(pods, f"{where}.key", kind, source, source.get(name), entry.get("key"))


def _use(pods: Pods, path: str, kind: Kind, source: Mapping[str, Any], name: object, key: object) -> Iterator[Use]:
    if text(name) and text(key) and source.get("optional") is not True:
        target = Ref(kind, "", pods.resource.ref.namespace, text(name))
        yield Use(pods=pods, path=path, target=target, key=text(key))
