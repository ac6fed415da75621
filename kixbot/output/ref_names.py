"""How a text names resources: `Kind/name@namespace`, the group only where two groups of that kind occur."""

from collections import defaultdict
from collections.abc import Callable, Iterable

from kixbot.model.resource import Ref


def short_names(refs: Iterable[Ref]) -> Callable[[Ref], str]:
    """The naming for one text, which speaks of `refs`."""
    groups: defaultdict[str, set[str]] = defaultdict(set)
    for ref in refs:
        groups[ref.kind].add(ref.group)
    return lambda ref: ref.id if len(groups[ref.kind]) > 1 else ref.short
