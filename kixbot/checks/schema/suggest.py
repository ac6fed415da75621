"""What an unknown field may have meant: a name close to it, or a place near by where a field of that name belongs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

from kixbot.checks.schema.node import Node, Raw

_DEEPEST = 3  # levels below an object in which a misplaced field is looked for
_ALIKE = 0.75  # share by difflib from which a name counts as a misspelling


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """An object that the walk is in, and where it stands."""

    node: Node
    at: Raw


def advice(key: str, scopes: Sequence[Scope]) -> str:
    """What to do about the unknown field `key` of the innermost of `scopes`."""
    own = scopes[-1].node.fields()
    if meant := find_meant(key, scopes[-1]):
        return f'did you mean "{meant}"?'
    if place := _elsewhere(key, scopes):
        return f"this field belongs under {place}"
    if not own:
        return "remove it"
    return f"remove it, or take one of its fields: {_few(sorted(own))}"


def find_meant(key: str, scope: Scope) -> str | None:
    """The field of an object that an unknown one is a misspelling of."""
    known = list(scope.node.fields())
    folded = key.lower().replace("_", "").replace("-", "")
    for name in known:
        if name.lower() in {folded, f"{folded}s"} or folded == f"{name.lower()}s":
            return name
    return next(iter(get_close_matches(key[:80], known, n=1, cutoff=_ALIKE)), None)


def _elsewhere(key: str, scopes: Sequence[Scope]) -> str | None:
    """The nearest place that has a field of this name: up, and from there down; a like-named object goes first."""
    last = next((step for step in reversed(scopes[-1].at) if isinstance(step, str)), "")
    for scope in reversed(scopes):
        found = sorted(
            (steps[-1:] != (last,), len(steps), steps)
            for steps in _below(scope.node, key)
            if steps or scope != scopes[-1]
        )
        if found:
            return _written(scope.at, found[0][2])
    return None


def _below(node: Node, key: str) -> Iterator[tuple[str, ...]]:
    """Where objects with a field of this name stand below a node, nearest first; `[]` ends a list's step."""
    waiting: list[tuple[Node, tuple[str, ...]]] = [(node, ())]
    seen = {id(node)}
    for _ in range(_DEEPEST + 1):
        deeper: list[tuple[Node, tuple[str, ...]]] = []
        for one, steps in waiting:
            fields = one.fields()
            if key in fields:
                yield steps
            for name, child in fields.items():
                target = child.item if child.kind == "list" and child.item is not None else child
                if target.kind == "object" and id(target) not in seen and name != "status":
                    seen.add(id(target))
                    deeper.append((target, (*steps, f"{name}[]" if target is not child else name)))
        waiting = deeper


def _written(at: Raw, steps: tuple[str, ...]) -> str:
    path = "$"
    for step in at:
        path += "[]" if isinstance(step, int) else f".{step}"
    return ".".join((path, *steps))


def _few(names: list[str]) -> str:
    return ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
