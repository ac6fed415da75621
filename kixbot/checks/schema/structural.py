"""CRDs' schemas as nodes: what the API server makes of `openAPIV3Schema`.

Rules: https://kubernetes.io/docs/tasks/extend-kubernetes/custom-resources/custom-resource-definitions/ (structural
schemas, pruning, defaulting). A schema that is not structural is read as far as it goes; the rule for CRDs says so.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Any

from kixbot.checks.schema.api import names
from kixbot.checks.schema.api.rule import conflict, filled, named, segments
from kixbot.checks.schema.cel import judge_rules
from kixbot.checks.schema.constraints import violations
from kixbot.checks.schema.faults import dotted
from kixbot.checks.schema.node import Fault, Judge, Kind, Node, Raw
from kixbot.checks.shape import mapping

PRESERVE = "x-kubernetes-preserve-unknown-fields"
EMBEDDED = "x-kubernetes-embedded-resource"
INT_OR_STRING = "x-kubernetes-int-or-string"
VALIDATIONS = "x-kubernetes-validations"

_KINDS: Mapping[str, Kind] = {
    "string": "string", "integer": "long", "number": "number", "boolean": "boolean", "array": "list",
    "object": "object",
}  # fmt: skip
_SCALAR = ("minimum", "maximum", "multipleOf", "minLength", "maxLength", "pattern", "format", "enum", "minItems",
           "maxItems", "uniqueItems", "minProperties", "maxProperties", "allOf", "anyOf", "oneOf", "not")  # fmt: skip


_ANY_OBJECT = Node(kind="object", open=True)


def root(schema: Mapping[str, Any], metadata: Node) -> Node:
    """The node of a custom resource. `metadata` is the one of every object; status is not kix's to write."""
    whole = node_of(schema, metadata)

    def fields() -> Mapping[str, Node]:
        return {
            **whole.fields(),
            "apiVersion": Node(kind="string"),
            "kind": Node(kind="string"),
            "metadata": metadata,
            "status": Node(kind="any"),
        }

    named = mapping(mapping(mapping(schema.get("properties")).get("metadata")).get("properties")).get("name")
    judges = whole.judges
    if isinstance(named, dict):
        judges = (*judges, partial(_name, named))
    return Node(
        kind="object",
        fields=fields,
        item=whole.item,
        required=tuple(one for one in whole.required if one not in {"apiVersion", "kind", "metadata", "status"}),
        open=whole.open,
        null="refused",
        judges=judges,
    )


def _name(schema: Mapping[str, Any], value: Any, at: Raw) -> Iterator[Fault]:
    if isinstance(name := mapping(value.get("metadata")).get("name"), str):
        yield from violations(schema, name, (*at, "metadata", "name"))


def node_of(schema: Mapping[str, Any], metadata: Node = _ANY_OBJECT) -> Node:
    """The node of one schema; what lies below is read when a body first has it. `metadata` is that of every object."""
    kind = _kind(schema)
    keys: tuple[str, ...] = ()
    if schema.get("x-kubernetes-list-type") == "map":
        keys = _texts(schema.get("x-kubernetes-list-map-keys"))
    return Node(
        kind=kind,
        fields=_lazily(partial(_fields, schema, metadata)),
        item=_item(schema, kind, metadata),
        keys=tuple(sorted(keys)),
        unique=schema.get("x-kubernetes-list-type") == "set",
        required=_required(schema),
        open=_is_open(schema),
        null="value" if schema.get("nullable") is True else "refused",
        default=schema.get("default"),
        judges=_judges(schema),
    )


def _kind(schema: Mapping[str, Any]) -> Kind:
    if schema.get(INT_OR_STRING) is True:
        return "long-or-string"
    return _KINDS.get(str(schema.get("type")), "any")


def _is_open(schema: Mapping[str, Any]) -> bool:
    return schema.get(PRESERVE) is True or schema.get("additionalProperties") is True


def _required(schema: Mapping[str, Any]) -> tuple[str, ...]:
    named = _texts(schema.get("required"))
    if schema.get(EMBEDDED) is True:
        named = tuple(dict.fromkeys((*named, "apiVersion", "kind")))
    return named


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()


def _fields(schema: Mapping[str, Any], metadata: Node) -> Mapping[str, Node]:
    found = {
        name: node_of(inner, metadata)
        for name, inner in mapping(schema.get("properties")).items()
        if isinstance(inner, dict)
    }
    if schema.get(EMBEDDED) is True:
        found["apiVersion"] = Node(kind="string", null="refused", judges=(_group_version,))
        found["kind"] = Node(kind="string", null="refused", judges=(filled, named(names.kind)))
        found["metadata"] = Node(
            kind=metadata.kind,
            name=metadata.name,
            fields=metadata.fields,
            open=metadata.open,
            judges=(*metadata.judges, partial(_segment, "name")),
        )
    return found


def _segment(field: str, value: Any, at: Raw) -> Iterator[Fault]:
    yield from segments(value, at, field)


def _group_version(value: Any, at: Raw) -> Iterator[Fault]:
    yield from filled(value, at)
    if isinstance(value, str) and value.count("/") > 1:
        yield conflict(at, f"has an apiVersion in {dotted(at)} that is not GROUP/VERSION", "write apps/v1")


def _item(schema: Mapping[str, Any], kind: Kind, metadata: Node) -> Node | None:
    inner = schema.get("items" if kind == "list" else "additionalProperties")
    if isinstance(inner, dict):
        return node_of(inner, metadata)
    return Node(kind="any") if kind == "list" else None


def _judges(schema: Mapping[str, Any]) -> tuple[Judge, ...]:
    judges: list[Judge] = []
    if any(schema.get(one) is not None for one in _SCALAR):
        judges.append(partial(violations, schema))
    if isinstance(rules := schema.get(VALIDATIONS), list) and rules:
        judges.append(partial(judge_rules, schema))
    return tuple(judges)


def _lazily(make: Callable[[], Mapping[str, Node]]) -> Callable[[], Mapping[str, Node]]:
    made: list[Mapping[str, Node]] = []

    def get() -> Mapping[str, Node]:
        if not made:
            made.append(make())
        return made[0]

    return get


def with_defaults(value: Any, node: Node) -> Any:
    """A copy in which absent fields have their defaults, also those within defaults."""
    if node.kind == "object" and isinstance(value, dict):
        fields = node.fields()
        filled = {}
        for name, entry in value.items():
            inner = fields.get(name, node.item)
            if entry is None and name in fields and fields[name].null == "refused":
                continue  # what has no null reads it as absent where a default stands
            filled[name] = with_defaults(entry, inner) if inner is not None else entry
        for name, inner in fields.items():
            if name not in filled and inner.default is not None:
                filled[name] = with_defaults(inner.default, inner)
            elif name in value and name not in filled and inner.default is None:
                filled[name] = None
        return filled
    if node.kind == "list" and isinstance(value, list) and node.item is not None:
        return [with_defaults(entry, node.item) for entry in value]
    return value
