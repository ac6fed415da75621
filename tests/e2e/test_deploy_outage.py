"""An API server that goes away in the middle of a deploy, for a moment or for good."""

import queue
import threading
from collections.abc import Iterator

import pytest

from kixbot.errors import ClusterError
from kixbot.ops.deploy import DeployOptions, deploy
from kixbot.ops.events import Applied, Event, Finished, Waiting
from kixbot.ops.receipt import Provenance
from tests.e2e.test_deploy_real import EVERYTHING, Real, open_as
from tests.parts.control_plane import ControlPlane


class Restarter:
    """Restarts the API server from a thread that lives on: its children die with the thread that started them."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._orders: queue.Queue[float | None] = queue.Queue()
        self._paused = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def after(self, seconds: float) -> None:
        self._orders.put(seconds)

    def stop(self) -> None:
        self._orders.put(None)
        self._thread.join(timeout=30)

    def _run(self) -> None:
        while (seconds := self._orders.get()) is not None:
            self._paused.wait(seconds)
            self._plane.restart("kube-apiserver")


@pytest.fixture
def plane(private_control_plane: ControlPlane) -> ControlPlane:
    return private_control_plane


@pytest.fixture
def real(plane: ControlPlane) -> Iterator[Real]:
    cluster = open_as(plane.access)
    yield Real(cluster, "outage")
    cluster.close()


def stream(real: Real, *, timeout: float) -> Iterator[Event]:
    options = DeployOptions(record_namespace=real.records, timeout=timeout)
    return deploy(real.build(EVERYTHING), real.cluster, options=options, who=Provenance(), confirm=lambda _: True)


@pytest.mark.soak
def test_a_deploy_goes_on_after_the_api_server_was_restarted(real: Real, plane: ControlPlane) -> None:
    restarter = Restarter(plane)
    events: list[Event] = []
    for event in stream(real, timeout=180):
        events.append(event)
        if isinstance(event, Applied) and event.ref.kind == "ConfigMap":
            plane.kill("kube-apiserver")
            restarter.after(2)
    assert isinstance(events[-1], Finished)
    restarter.stop()


@pytest.mark.soak
def test_an_api_server_that_does_not_come_back_is_the_reason_people_read(real: Real, plane: ControlPlane) -> None:
    def run() -> None:
        for event in stream(real, timeout=8):
            if isinstance(event, Waiting) and event.ref.kind == "Job":
                plane.kill("kube-apiserver")

    with pytest.raises(
        ClusterError, match=r"cluster test: no answer from https://127\.0\.0\.1:\d+: connection refused"
    ):
        run()
