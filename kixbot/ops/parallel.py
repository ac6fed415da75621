"""Many requests at a time, results by index."""

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")

READERS = 8
WRITERS = 16


def each(work: Callable[[Item], Result], items: Iterable[Item], *, threads: int = READERS) -> tuple[Result, ...]:
    """`work` of every item, in the items' order. After an exception, or Ctrl-C, what runs ends and no more is begun."""
    everything = tuple(items)
    if len(everything) <= 1:
        return tuple(work(item) for item in everything)
    pool = ThreadPoolExecutor(max_workers=min(threads, len(everything)))
    try:
        futures = [pool.submit(work, item) for item in everything]
        return tuple(future.result() for future in futures)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
