"""What a place in a body may hold, whether Kubernetes or a CRD says so."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Raw = tuple[str | int, ...]
"""Where something stands, by map keys and list places."""

Kind = Literal[
    "any", "object", "map", "list", "string", "integer", "long", "number", "boolean", "quantity", "int-or-string",
    "time", "bytes", "long-or-string",
]  # fmt: skip
"""`object` has fields, `map` equal values under any key; `integer` has 32 bits, `long` 64."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One thing that is wrong. `text` goes on after the object's name: `has no image in …`.

    `at` is where, below the place where the walk began.
    """

    rule: str
    at: Raw
    text: str
    hint: str


Judge = Callable[[Any, Raw], Iterator[Fault]]
"""A rule about one value: the value, and where it stands."""


def no_fields() -> Mapping[str, "Node"]:
    """The fields of what has none."""
    return {}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Node:
    """What one place may hold.

    `name` is the type's, for messages. `fields` gives an object's fields; it is called when first needed, since types
    may hold themselves. `item` is what a list or a map holds, `keys` tell a keyed list's items apart, `unique` makes a
    list a set. `open` objects keep fields they do not know. `null` says what null is: nothing at all, a
    value of its own, or a mistake; CRDs know the last two.
    `default` is what the API server fills in, None where nothing. `judges` see every value of the right type.
    """

    kind: Kind
    name: str = ""
    fields: Callable[[], Mapping[str, "Node"]] = no_fields
    item: "Node | None" = None
    keys: tuple[str, ...] = ()
    unique: bool = False
    required: Sequence[str] = ()
    allowed: tuple[Any, ...] = ()
    open: bool = False
    null: Literal["absent", "value", "refused"] = "absent"
    default: Any = None
    judges: tuple[Judge, ...] = field(default=(), repr=False)
