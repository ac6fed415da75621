"""Many requests at a time, results by index."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

READERS = 8
WRITERS = 16


def each(work: Callable[[Item], Result], items: Iterable[Item], *, threads: int = READERS) -> tuple[Result, ...]:
    """`work` of every item, in the items' order. The first exception ends it, after what is running."""
    everything = tuple(items)
    if len(everything) <= 1:
        return tuple(work(item) for item in everything)
    with ThreadPoolExecutor(max_workers=min(threads, len(everything))) as pool:
        return tuple(pool.map(work, everything))
