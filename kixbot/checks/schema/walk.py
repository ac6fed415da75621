"""Holds a body to what its kind may hold: every fault, not just the first, each where it stands.

What Kubernetes does before it judges is done here too: an absent key of a keyed list takes its default, and null is
the same as absent, except where a CRD says that it is not.
"""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from kixbot.checks.schema.faults import (
    DUPLICATE,
    ONE_OF,
    REQUIRED,
    TYPE,
    UNKNOWN_FIELD,
    dotted,
    missing,
    not_allowed,
    shown_key,
)
from kixbot.checks.schema.node import Fault, Node, Raw
from kixbot.checks.schema.suggest import Scope, advice, find_meant
from kixbot.checks.schema.values import PLAIN, hint_for, is_one, noun, shown


def walk(body: Mapping[str, Any], node: Node, at: Raw = ()) -> list[Fault]:
    """Everything that is wrong with `body` as an object of type `node`; `at` is where it stands."""
    walker = _Walker()
    walker.visit(body, node, at)
    found = dict.fromkeys([*walker.faults, *_judged(walker, body, at)])
    return [fault for fault in found if not _only_follows(fault, walker.meant)]


def _only_follows(fault: Fault, meant: Mapping[Raw, Collection[str]]) -> bool:
    """Whether a field is missing only because it stands there misspelt, which has been said."""
    names = meant.get(fault.at, ()) if fault.rule in {REQUIRED, ONE_OF} else ()
    return any(name in fault.hint.removeprefix("add ").replace("exactly one of ", "").split(", ") for name in names)


def _judged(walker: "_Walker", body: Any, root: Raw) -> Iterator[Fault]:
    """What the rules say, once the whole shape is known.

    Rules see bodies of the right shape only: what has a wrong type is taken out before. A rule whose own fields are
    among it keeps silent, since what it would say only follows.
    """
    if not walker.instead:
        for node, value, at in walker.pending:
            for judge in node.judges:
                yield from judge(value, at)
        return
    wrong = [fault.at for fault in walker.faults if fault.rule == TYPE]
    shaped = _without(body, {at[len(root) :]: empty for at, empty in walker.instead.items()})
    near = {at[:cut] for at in wrong for cut in range(max(len(at) - 1, 0), len(at) + 1)}
    for node, _, at in walker.pending:
        if at not in near:
            value = _at(shaped, at[len(root) :])
            for judge in node.judges:
                yield from judge(value, at)


def _without(body: Any, instead: Mapping[Raw, Any]) -> Any:
    """A copy without these places; a list's item becomes the empty value, so that others keep their number."""
    if () in instead:
        return instead[()]
    below: dict[str | int, dict[Raw, Any]] = {}
    for place, empty in instead.items():
        below.setdefault(place[0], {})[place[1:]] = empty
    if isinstance(body, dict):
        kept = {key: value for key, value in body.items() if () not in below.get(key, ())}
        return {key: _without(value, below[key]) if key in below else value for key, value in kept.items()}
    if isinstance(body, list):
        return [_without(value, below[place]) if place in below else value for place, value in enumerate(body)]
    return body


def _at(body: Any, at: Raw) -> Any:
    for step in at:
        body = body[step]
    return body


_MOST_ADVICE = 50  # unknown fields of one object for which a better place is looked for


def _is_absent(value: Any, node: Node) -> bool:
    return value is None and node.null != "refused"


_EMPTY: Mapping[str, Any] = {
    "object": {},
    "map": {},
    "list": [],
    "integer": 0,
    "long": 0,
    "number": 0,
    "boolean": False,
}


class _Walker:
    def __init__(self) -> None:
        self.faults: list[Fault] = []
        self.pending: list[tuple[Node, Any, Raw]] = []
        self.instead: dict[Raw, Any] = {}
        """The empty value that rules see in place of what has the wrong type or is null in a list."""
        self._scopes: list[Scope] = []
        self._unknowns = 0
        self.meant: dict[Raw, set[str]] = {}
        """By object, the fields that stand there under a name that is like theirs."""

    def visit(self, value: Any, node: Node, at: Raw) -> None:
        match node.kind:
            case "object":
                if isinstance(value, dict):
                    self._object(value, node, at)
                else:
                    self._wrong(value, node, at)
                    return
            case "list":
                if isinstance(value, list):
                    self._list(value, node, at)
                else:
                    self._wrong(value, node, at)
                    return
            case "map":
                if isinstance(value, dict):
                    self._map(value, node, at)
                else:
                    self._wrong(value, node, at)
                    return
            case _:
                if not is_one(value, node.kind):
                    self._wrong(value, node, at)
                    return
                if node.allowed and value not in node.allowed:
                    self.faults.append(not_allowed(value, node.allowed, at))
                    return
        if node.judges:
            self.pending.append((node, value, at))

    def _object(self, value: dict[str, Any], node: Node, at: Raw) -> None:
        fields = node.fields()
        self._scopes.append(Scope(node=node, at=at))
        for key, entry in value.items():
            child = fields.get(key)
            if child is None:
                if node.item is not None:
                    if not _is_absent(entry, node.item):
                        self.visit(entry, node.item, (*at, key))
                elif not node.open:
                    self._unknown(key, node, at)
            elif (type(entry) is not PLAIN.get(child.kind) or child.allowed or child.judges) and not _is_absent(
                entry, child
            ):
                self.visit(entry, child, (*at, key))
        self._scopes.pop()
        for key in node.required:
            if key not in value or (value[key] is None and (key not in fields or fields[key].null == "absent")):
                self.faults.append(missing(key, at))

    def _map(self, value: dict[str, Any], node: Node, at: Raw) -> None:
        item = node.item
        assert item is not None, "a map has values"
        plain = None if item.allowed or item.judges else PLAIN.get(item.kind)
        for key, entry in value.items():
            if type(entry) is not plain and not _is_absent(entry, item):
                self.visit(entry, item, (*at, key))

    def _list(self, value: list[Any], node: Node, at: Raw) -> None:
        item = node.item
        assert item is not None, "a list has items"
        plain = None if item.allowed or item.judges else PLAIN.get(item.kind)
        for place, entry in enumerate(value):
            if type(entry) is not plain and not (entry is None and item.null == "value"):
                # Kubernetes reads null in a list without keys as the empty value of its type.
                blank = entry is None and item.null == "absent" and not node.keys and not node.unique
                if blank:
                    self.instead[(*at, place)] = _EMPTY.get(item.kind, "")
                self.visit(_EMPTY.get(item.kind, "") if blank else entry, item, (*at, place))
        if node.keys:
            fields = item.fields()
            if not any(key in fields and fields[key].default is not None for key in node.keys):
                for place, entry in enumerate(value):
                    if isinstance(entry, dict) and all(entry.get(key) is None for key in node.keys):
                        self.faults.append(missing(node.keys[0], (*at, place)))
        if len(value) > 1 and (node.keys or node.unique):
            self._repeated(value, node, at)

    def _repeated(self, value: list[Any], node: Node, at: Raw) -> None:
        told = [_told_by(entry, node) for entry in value]
        for key, count in Counter(one for one in told if one is not None).items():
            if count > 1:
                by = f"items are told apart by {' and '.join(node.keys)}" if node.keys else "each may stand there once"
                self.faults.append(
                    Fault(
                        rule=DUPLICATE,
                        at=at,
                        text=f"has {count} items {shown(key)} in {dotted(at)}; {by}",
                        hint=f"keep one item {shown(key)}",
                    )
                )

    def _unknown(self, key: str, node: Node, at: Raw) -> None:
        self._unknowns += 1
        hint = "remove it"
        if self._unknowns <= _MOST_ADVICE:
            hint = advice(key, self._scopes)
            if name := find_meant(key, self._scopes[-1]):
                self.meant.setdefault(at, set()).add(name)
        kind = node.name.rpartition(".")[2]
        owner = f", {'an' if kind[0] in 'AEIOU' else 'a'} {kind}" if kind else ""
        self.faults.append(
            Fault(
                rule=UNKNOWN_FIELD,
                at=(*at, key),
                text=f'has a field "{shown_key(key)}" in {dotted(at)}{owner}, which has no such field',
                hint=hint,
            )
        )

    def _wrong(self, value: Any, node: Node, at: Raw) -> None:
        self.instead[at] = _EMPTY.get(node.kind, "")
        self.faults.append(
            Fault(
                rule=TYPE,
                at=at,
                text=f"has {noun(value)} where {_expected(node)} belongs, in {dotted(at)}",
                hint=hint_for(value, node.kind),
            )
        )


def _told_by(entry: Any, node: Node) -> Any:
    """What tells an item from others; None where it has nothing that could."""
    if not node.keys:
        return entry if isinstance(entry, str | int | float) else None
    if not isinstance(entry, dict) or node.item is None:
        return None
    fields = node.item.fields()
    defaults = {key: fields[key].default for key in node.keys if key in fields}
    blank = (None, "") if node.null == "absent" else (None,)  # only built-in kinds read the empty text as absent
    values = [defaults.get(key) if entry.get(key) in blank else entry[key] for key in node.keys]
    if all(value is None for value in values):
        return None
    written = ["" if value is None else str(value) for value in values if isinstance(value, str | int | None)]
    return "/".join(written) if len(written) == len(values) else None


def _expected(node: Node) -> str:
    return {
        "object": "an object", "map": "an object", "list": "a list", "string": "a string", "integer": "an integer",
        "long": "an integer", "number": "a number", "boolean": "true or false", "quantity": "a quantity",
        "int-or-string": "an integer or a string", "time": "a time", "bytes": "base64", "any": "a value",
        "long-or-string": "an integer or a string",
    }[node.kind]  # fmt: skip
