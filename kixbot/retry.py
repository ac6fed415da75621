"""The named retry policies: what is tried again, how often, how long it waits. tenacity lives here only.

A policy is iterated (`for attempt in policy(clock): with attempt: …`). What may be tried again is decided where the
fact is known, by raising RetryLaterError around the error that people see when the policy gives up.
"""

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from kixbot.errors import KixError


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Time, so that tests need not wait: `now` in seconds since the epoch, `sleep` for seconds."""

    now: Callable[[], float] = field(default=time.time)
    sleep: Callable[[float], None] = field(default=time.sleep)


class RetryLaterError(Exception):
    """`error` may go away by itself; `after` seconds where the other side named them."""

    def __init__(self, error: KixError, *, after: float | None = None) -> None:
        super().__init__(error.message)
        self.error = error
        self.after = after


def forge_policy(clock: Clock) -> Iterator[Any]:
    """Five tries with 1, 2, 4, 8 s between, or what the forge asks for, at most 240 s waited in all.

    240 s covers GitHub's secondary limits: a block of 72 s was seen, and the guide says to wait longer each time.
    """
    return _attempts(clock, tries=5, longest=240.0)


def cluster_policy(clock: Clock) -> Iterator[Any]:
    """Eight tries with 0.5, 1, 2, 4, 8, 8, 8 s between, or what the API server asks for, at most 60 s waited in all.

    Webhooks and conversion webhooks come back within half a minute of their pod's restart; a leader election of etcd
    takes a few seconds.
    """
    return _attempts(clock, tries=8, longest=60.0, first=0.5, each=8.0)


def registry_policy(clock: Clock) -> Iterator[Any]:
    """Three tries with 1 and 2 s between, or what the registry asks for, at most 30 s waited in all.

    Docker Hub's window is six hours: what is longer than half a minute is the caller's to say, not to wait for.
    """
    return _attempts(clock, tries=3, longest=30.0)


def _attempts(clock: Clock, *, tries: int, longest: float, first: float = 1.0, each: float = 240.0) -> Iterator[Any]:
    from tenacity import RetryCallState, Retrying, retry_if_exception_type  # noqa: PLC0415

    waited = 0.0

    def wait(state: RetryCallState) -> float:
        error = state.outcome.exception() if state.outcome else None
        after = error.after if isinstance(error, RetryLaterError) else None
        if after is not None:
            return after * (1 + 0.5 * (state.attempt_number - 1))
        return min(first * 2.0 ** (state.attempt_number - 1), each)

    def sleep(seconds: float) -> None:
        nonlocal waited
        waited += seconds
        clock.sleep(seconds)

    def is_spent(state: RetryCallState) -> bool:
        return state.attempt_number >= tries or waited + wait(state) > longest

    def give_up(state: RetryCallState) -> None:
        error = state.outcome.exception() if state.outcome else None
        if isinstance(error, RetryLaterError):
            raise error.error from None

    return iter(
        Retrying(
            retry=retry_if_exception_type(RetryLaterError),
            stop=is_spent,
            wait=wait,
            sleep=sleep,
            retry_error_callback=give_up,
        )
    )
