"""CRDs: names, versions, structural schemas.

Rules: `pkg/apis/apiextensions/validation` of k8s.io/apiextensions-apiserver.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.rule import Judges, each, named, needs, one_of, reads, table, unique, unless_empty
from kixbot.checks.schema.faults import CRD, NAME, dotted, missing
from kixbot.checks.schema.node import Fault, Node, Raw
from kixbot.checks.schema.structural import PRESERVE, node_of
from kixbot.checks.schema.values import shown
from kixbot.checks.schema.walk import walk
from kixbot.checks.shape import mapping, mappings

_TYPES = frozenset({"string", "integer", "number", "boolean", "array", "object"})


def _definition(value: Any, at: Raw) -> Iterator[Fault]:
    spec = mapping(value.get("spec"))
    plural, group = mapping(spec.get("names")).get("plural"), spec.get("group")
    name = mapping(value.get("metadata")).get("name")
    if isinstance(plural, str) and isinstance(group, str) and isinstance(name, str) and name != f"{plural}.{group}":
        yield Fault(
            rule=NAME,
            at=(*at, "metadata", "name"),
            text=f"has the name {shown(name)}, which must be its plural and group",
            hint=f"name it {plural}.{group}",
        )
    versions = spec.get("versions")
    stored = [one for one in mappings(versions) if one.get("storage") is True]
    if isinstance(versions, list) and len(stored) != 1:
        yield Fault(
            rule=CRD,
            at=(*at, "spec", "versions"),
            text=f"has {len(stored)} versions with storage: true",
            hint="write storage: true in exactly one version",
        )


def _version(value: Any, at: Raw) -> Iterator[Fault]:
    schema = mapping(value.get("schema")).get("openAPIV3Schema")
    where = (*at, "schema", "openAPIV3Schema")
    if not isinstance(schema, dict):
        yield missing("openAPIV3Schema", (*at, "schema"))
    elif schema.get("type") != "object":
        yield _crd(
            (*where, "type"), f"has a schema of type {shown(schema.get('type'))} in {dotted(at)}", "write object"
        )
    else:
        yield from _structural(schema, where)


def _structural(schema: Mapping[str, Any], at: Raw) -> Iterator[Fault]:
    """Every node has a type, and no two ways of saying what lies below."""
    kind = schema.get("type") if isinstance(schema.get("type"), str) else None
    free = schema.get("x-kubernetes-int-or-string") is True or schema.get(PRESERVE) is True
    if not kind and not free:
        yield _crd(at, f"has a schema without a type for {dotted(at[-1:])}", "add type")
    elif kind and kind not in _TYPES:
        yield _crd(
            (*at, "type"), f"has the type {shown(kind)} in a schema", f"write one of {', '.join(sorted(_TYPES))}"
        )
    if schema.get(PRESERVE) is False:
        yield _crd((*at, PRESERVE), f"has {PRESERVE}: false in a schema", "write true, or leave it out")
    if schema.get("default") is not None:
        for fault in walk({"default": schema["default"]}, _default_of(schema), at):
            yield _crd((*at, "default"), f"has a default in a schema that {fault.text}", fault.hint)
    if kind == "array" and not isinstance(schema.get("items"), dict):
        yield missing("items", at)
    properties, others = schema.get("properties"), schema.get("additionalProperties")
    if properties and others:
        yield _crd(
            (*at, "additionalProperties"), "has properties and additionalProperties in one schema", "keep one of them"
        )
    if schema.get("x-kubernetes-list-type") == "map" and not schema.get("x-kubernetes-list-map-keys"):
        yield missing("x-kubernetes-list-map-keys", at)
    if schema.get("uniqueItems") is True:
        yield _crd((*at, "uniqueItems"), "has uniqueItems in a schema", "write x-kubernetes-list-type: set")
    for field in ("$ref", "definitions", "dependencies", "patternProperties", "additionalItems"):
        if schema.get(field) not in (None, {}, ""):
            yield _crd((*at, field), f"has {field} in a schema, which CRDs may not use", f"remove {field}")
    for name, inner in mapping(properties).items():
        if isinstance(inner, dict):
            yield from _structural(inner, (*at, "properties", name))
    for field in ("items", "additionalProperties"):
        if isinstance(inner := schema.get(field), dict):
            yield from _structural(inner, (*at, field))


def _default_of(schema: Mapping[str, Any]) -> Node:
    node = node_of(schema)
    return Node(kind="object", fields=lambda: {"default": node})


def _crd(at: Raw, text: str, hint: str) -> Fault:
    return Fault(rule=CRD, at=at, text=text, hint=hint)


def _domain(text: str) -> str | None:
    return names.dns_subdomain(text) or (None if "." in text else "must be a domain with a '.'")


def _preserves(value: Any, at: Raw) -> Iterator[Fault]:
    if value is True:
        yield _crd(at, f"has {at[-1]}, which apiextensions.k8s.io/v1 refuses", "write it into the schema")


JUDGES: Judges = table(
    {
        "apiextensions.v1.CustomResourceDefinition": {"": (needs("spec"), _definition)},
        "apiextensions.v1.CustomResourceDefinitionSpec": {
            "": needs("group", "scope", "versions"),
            "group": named(_domain),
            "scope": one_of("Cluster", "Namespaced"),
            "versions": unique("name"),
            "preserveUnknownFields": _preserves,
        },
        "apiextensions.v1.CustomResourceDefinitionNames": {
            "": needs("kind", "plural"),
            "plural": named(names.dns_1035_label),
            "kind": named(names.kind),
            "singular": unless_empty(named(names.dns_1035_label)),
            "listKind": unless_empty(named(names.kind)),
            "shortNames": each(named(names.dns_1035_label)),
            "categories": each(named(names.dns_1035_label)),
        },
        "apiextensions.v1.CustomResourceDefinitionVersion": {
            "": (needs("name"), _version),
            "name": named(names.dns_1035_label),
        },
        "apiextensions.v1.CustomResourceSubresourceScale": {
            "": needs("specReplicasPath", "statusReplicasPath"),
            "specReplicasPath": reads(names.spec_path),
            "statusReplicasPath": reads(names.status_path),
        },
        "apiextensions.v1.CustomResourceColumnDefinition": {
            "": needs("name", "type", "jsonPath"),
            "type": one_of("boolean", "date", "integer", "number", "string"),
            "jsonPath": reads(names.json_path),
        },
    }
)
