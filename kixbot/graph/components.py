"""Cycles, judged by strongly connected components, so that no order of traversal can change the answer."""

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from kixbot.model.build import Edge, EdgeKind
from kixbot.model.resource import Ref

Links = Mapping[Ref, Iterable[Ref]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """The edges of a build after its hard cycles were judged.

    `softened`: hard edges of plain sources that closed a cycle, as they were; in `edges` they are soft. `cycles`: one
    ring of a marked build's every component, smallest first, its first member not repeated at the end.
    """

    edges: tuple[Edge, ...]
    softened: tuple[Edge, ...] = ()
    cycles: tuple[tuple[Ref, ...], ...] = ()


def settle(edges: tuple[Edge, ...], *, marked: bool) -> Settled:
    """Judges cycles of hard edges: in a marked build they are named, in plain sources they become soft."""
    hard = [edge for edge in edges if edge.kind is EdgeKind.HARD]
    component = component_of(links(hard))
    inside = frozenset(edge for edge in hard if component[edge.source] == component[edge.target])
    if not inside:
        return Settled(edges=edges)
    if marked:
        return Settled(edges=edges, cycles=tuple(_rings(links(inside), component)))
    soft = tuple(replace(edge, kind=EdgeKind.SOFT) if edge in inside else edge for edge in edges)
    return Settled(edges=soft, softened=tuple(edge for edge in edges if edge in inside))


def hash_references(edges: Iterable[Edge]) -> dict[Ref, tuple[Ref, ...]]:
    """What counts in the hash of each resource: the targets of its hard edges, each once, sorted."""
    return {
        ref: tuple(targets) for ref, targets in links(e for e in edges if e.kind is EdgeKind.HARD).items() if targets
    }


def links(edges: Iterable[Edge]) -> dict[Ref, list[Ref]]:
    """Every end of the edges with what it points at, sorted, each once."""
    found: dict[Ref, set[Ref]] = {}
    for edge in edges:
        found.setdefault(edge.source, set()).add(edge.target)
        found.setdefault(edge.target, set())
    return {ref: sorted(found[ref]) for ref in sorted(found)}


def component_of(graph: Links) -> dict[Ref, int]:
    """The number of each node's strongly connected component; `graph` has every node as a key.

    Tarjan's algorithm without recursion: a chain of 5,000 would overflow the stack.
    """
    found: dict[Ref, int] = {}
    order: dict[Ref, int] = {}
    low: dict[Ref, int] = {}
    open_nodes: list[Ref] = []
    waiting: set[Ref] = set()
    for root in graph:
        if root in order:
            continue
        path: list[tuple[Ref, Iterator[Ref]]] = []
        upcoming: Ref | None = root
        while upcoming is not None or path:
            if upcoming is not None:
                order[upcoming] = low[upcoming] = len(order)
                open_nodes.append(upcoming)
                waiting.add(upcoming)
                path.append((upcoming, iter(graph[upcoming])))
            node, rest = path[-1]
            upcoming = None
            for target in rest:
                if target not in order:
                    upcoming = target
                    break
                if target in waiting:
                    low[node] = min(low[node], order[target])
            if upcoming is not None:
                continue
            path.pop()
            if path:
                above = path[-1][0]
                low[above] = min(low[above], low[node])
            if low[node] == order[node]:
                _close(node, open_nodes, waiting, found)
    return found


def _close(root: Ref, open_nodes: list[Ref], waiting: set[Ref], found: dict[Ref, int]) -> None:
    number = len(found)
    while True:
        node = open_nodes.pop()
        waiting.discard(node)
        found[node] = number
        if node == root:
            return


def _rings(graph: Mapping[Ref, list[Ref]], component: Mapping[Ref, int]) -> Iterator[tuple[Ref, ...]]:
    seen: set[int] = set()
    for start in graph:
        if component[start] not in seen:
            seen.add(component[start])
            yield _ring(start, graph)


def _ring(start: Ref, graph: Mapping[Ref, list[Ref]]) -> tuple[Ref, ...]:
    """The shortest way from `start` back to itself; `graph` holds edges inside components only, so there is one."""
    came: dict[Ref, Ref] = {}
    queue = deque([start])
    while queue:
        node = queue.popleft()
        for target in graph[node]:
            if target == start:
                ring = [node]
                while ring[-1] != start:
                    ring.append(came[ring[-1]])
                return tuple(reversed(ring))
            if target not in came:
                came[target] = node
                queue.append(target)
    raise AssertionError(f"{start.id} is in no cycle")
