"""Turns rows, selectors and order-only references into edges: what a resource names, resolved against the world."""

from collections.abc import Iterable, Iterator, Mapping

from kixbot.graph.order import ordered
from kixbot.graph.pods import find_pods
from kixbot.graph.rows import POD, Named, Row, read
from kixbot.graph.selectors import selected
from kixbot.graph.walk import Raw, written
from kixbot.graph.world import World
from kixbot.model.build import DanglingReference, Edge, EdgeKind
from kixbot.model.resource import Ref, Resource

# Of two edges in the same place the stronger stays.
_STRENGTH = {EdgeKind.HARD: 2, EdgeKind.ORDER: 1, EdgeKind.SOFT: 0}


class Finder:
    """Collects the edges of one build; `rows` is the table by source."""

    def __init__(self, world: World, rows: Mapping[str, tuple[Row, ...]], *, marked: bool) -> None:
        self.world = world
        self.rows = rows
        self.marked = marked
        self.edges: dict[tuple[Ref, Ref, str], Edge] = {}
        self.dangling: set[DanglingReference] = set()

    def visit(self, resource: Resource) -> None:
        """Adds what one resource refers to."""
        declared = dict.fromkeys(resource.soft, EdgeKind.SOFT)
        declared |= dict.fromkeys((*resource.hard, *resource.after), EdgeKind.HARD)
        placed: set[Ref] = set()
        for target, path, kind in self._found(resource):
            placed.add(target)
            self._add(resource.ref, target, declared.get(target, kind), path)
        for target, kind in declared.items():
            if target not in placed and self.world.find(target) is not None:
                self._add(resource.ref, target, kind, "")

    def _found(self, resource: Resource) -> Iterator[tuple[Ref, str, EdgeKind]]:
        for named in self._named(resource):
            path = written(resource.manifest, named.raw)
            required = not named.row.lenient and named.row.edge is not EdgeKind.SOFT
            target = self._resolve(resource, named.target, path, required=required, optional=named.optional)
            if target is not None:
                order_only = self.marked and named.row.edge is EdgeKind.HARD
                yield target, path, EdgeKind.ORDER if order_only else named.row.edge
        for one in ordered(resource, self.world):
            target = self._resolve(resource, one.target, one.path, required=one.required, optional=False)
            if target is not None:
                yield target, one.path, EdgeKind.ORDER
        for ref, path in selected(resource, self.world):
            yield ref, path, EdgeKind.SOFT

    def _resolve(self, source: Resource, named: Ref, path: str, *, required: bool, optional: bool) -> Ref | None:
        target = self.world.scoped(named)
        if self.world.find(target) is not None:
            return target
        if (maker := self.world.find_creator(target)) is not None:
            return maker[0].ref
        if required and not self.world.is_outside(target):
            self.dangling.add(DanglingReference(source.ref, target, path, optional))
        return None

    def _add(self, source: Ref, target: Ref, kind: EdgeKind, path: str) -> None:
        if source == target:
            return
        before = self.edges.get((source, target, path))
        if before is None or _STRENGTH[before.kind] < _STRENGTH[kind]:
            self.edges[source, target, path] = Edge(source, target, kind, path)

    def _named(self, resource: Resource) -> Iterator[Named]:
        if pods := find_pods(resource):
            yield from _read(self.rows[POD], resource, pods.spec, pods.spec_at)
        for named in _read(self.rows.get(resource.ref.kind_group, ()), resource, resource.manifest, ()):
            # The ALB controller reads such a backend from an annotation, not from a Service.
            if f"alb.ingress.kubernetes.io/actions.{named.target.name}" not in resource.annotations:
                yield named


def _read(rows: Iterable[Row], resource: Resource, body: object, raw: Raw) -> Iterator[Named]:
    for row in rows:
        yield from read(row, resource, body, raw)
