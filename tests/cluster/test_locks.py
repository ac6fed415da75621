"""The Lease: one holder at a time, taken over when it ran out, and the pointer that outlives both."""

import threading
import time
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from kixbot.cluster.locks import LEASE, Lock, read_lease
from kixbot.cluster.memory import MemoryCluster
from kixbot.errors import RefusedError

START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def cluster() -> MemoryCluster:
    return MemoryCluster()


def lock(cluster: MemoryCluster, holder: str, *, now: datetime = START, wait: float = 0.0) -> Lock:
    return Lock(cluster, name="shop", namespace="default", holder=holder, wait=wait, now=lambda: now)


def test_a_second_holder_is_refused_with_the_first_ones_name_and_its_rest(cluster: MemoryCluster) -> None:
    with lock(cluster, "ann"), pytest.raises(RefusedError) as caught:
        lock(cluster, "bob", now=START + timedelta(seconds=10)).acquire()
    assert caught.value.message == 'cluster shop: locked by "ann"'
    assert caught.value.hint == "wait for it to end; if it was killed, the lock expires by itself in 20 s"


def test_a_lease_that_ran_out_is_taken_over(cluster: MemoryCluster) -> None:
    killed = lock(cluster, "killed")
    killed.acquire()
    later = lock(cluster, "next", now=START + timedelta(seconds=31))
    later.acquire()
    assert read_lease(cluster, name="shop", namespace="default").holder == "next"
    later.release()
    killed._ended.set()


def test_a_released_lease_is_free_at_once_and_keeps_the_current_record(cluster: MemoryCluster) -> None:
    with lock(cluster, "ann") as held:
        held.set_current("shop-1")
    state = read_lease(cluster, name="shop", namespace="default")
    assert (state.holder, state.current) == ("", "shop-1")
    with lock(cluster, "bob") as held:
        assert held.current == "shop-1"


def test_of_many_that_try_at_once_exactly_one_wins(cluster: MemoryCluster) -> None:
    locks = [lock(cluster, f"job-{number}") for number in range(8)]
    won: list[Lock] = []

    def race(one: Lock) -> None:
        try:
            one.acquire()
        except RefusedError:
            return
        won.append(one)

    threads = [threading.Thread(target=race, args=(one,)) for one in locks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    won[0].release()


def test_the_next_one_waits_as_long_as_it_may(cluster: MemoryCluster) -> None:
    first = Lock(cluster, name="shop", namespace="default", holder="first")
    first.acquire()
    timer = threading.Timer(0.3, first.release)
    timer.start()
    second = Lock(cluster, name="shop", namespace="default", holder="second", wait=20)
    second.acquire()
    assert read_lease(cluster, name="shop", namespace="default").holder == "second"
    second.release()


def test_a_held_lease_is_renewed_and_its_loss_is_noticed(cluster: MemoryCluster) -> None:
    moments = iter(START + timedelta(seconds=number) for number in range(100_000))
    held = Lock(cluster, name="shop", namespace="default", holder="ann", renew=0.05, now=lambda: next(moments))
    held.acquire()
    first = read_lease(cluster, name="shop", namespace="default").expires
    eventually(lambda: read_lease(cluster, name="shop", namespace="default").expires != first)
    assert not held.is_lost
    patch = {"spec": {"holderIdentity": "bob"}}
    cluster.merge_patch(LEASE, "shop", patch, namespace="default", manager="bob")
    eventually(lambda: held.is_lost)
    held.release()
    assert read_lease(cluster, name="shop", namespace="default").holder == "bob"


def eventually(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.02)
