"""Which workload talks to which Service: by names that stand in its variables, arguments and mounted ConfigMaps."""

from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from kixbot.checks.context import Context
from kixbot.checks.pods import Pods
from kixbot.checks.services import ports_of, selector_of
from kixbot.model.build import EdgeKind
from kixbot.model.resource import Ref


class Dependency(NamedTuple):
    """Pods that talk to others: `service` is how they are named, `path` where the name stands (in `holder`).

    `ports` are the numbers the server's containers listen on, none where they are not known.
    """

    client: Pods
    server: Pods
    service: Ref
    holder: Ref
    path: str
    ports: frozenset[int]


def dependencies(context: Context) -> Iterator[Dependency]:
    """Every dependency of pods on pods of the build, each pair once."""
    named: defaultdict[Ref, dict[Ref, str]] = defaultdict(dict)
    for edge in context.build.edges:
        if edge.kind is not EdgeKind.SOFT and (edge.target.kind == "Service" or context.pods_of(edge.target)):
            named[edge.source].setdefault(edge.target, edge.path)
    held: defaultdict[Ref, list[Ref]] = defaultdict(list)
    for edge in context.build.edges:
        if edge.target.kind == "ConfigMap" and edge.target in named:
            held[edge.source].append(edge.target)
    for client in context.pods:
        seen: set[Ref] = set()
        for holder in (client.resource.ref, *held.get(client.resource.ref, ())):
            for target, path in named.get(holder, {}).items():
                if _is_talk(client, holder, path):
                    for server, ports in _servers(context, target):
                        if server.resource.ref not in seen and server.resource.ref != client.resource.ref:
                            seen.add(server.resource.ref)
                            yield Dependency(client, server, target, holder, path, ports)


def _is_talk(client: Pods, holder: Ref, path: str) -> bool:
    """Whether the name stands where a program reads it; a governing Service or an owner is no conversation."""
    return holder != client.resource.ref or path.startswith(
        (f"{client.spec_path}.containers", f"{client.spec_path}.init")
    )


def _servers(context: Context, target: Ref) -> Iterator[tuple[Pods, frozenset[int]]]:
    if pods := context.pods_of(target):
        yield pods, frozenset()
        return
    service = context.by_ref.get(target)
    wanted = selector_of(service) if service else {}
    if service is None or not wanted:
        return
    for pods in context.selected(target.namespace, {"matchLabels": wanted}):
        numbers = set[int]()
        for _, port in ports_of(service):
            to = port.get("targetPort", port.get("port"))
            if isinstance(to, int):
                numbers.add(to)
            else:
                numbers |= {
                    number
                    for container in pods.containers
                    for number in (container.number_of(str(to)),)
                    if number is not None
                }
        yield pods, frozenset(numbers)
