"""The clusters that tests of verbs run on."""

from collections.abc import Iterator

import pytest

from tests.ops.worlds import World, embedded, real


@pytest.fixture(params=["embedded", "real"])
def world(request: pytest.FixtureRequest) -> Iterator[World]:
    """Nothing is deployed yet; once on the embedded cluster and once on a real one."""
    if request.param == "embedded":
        yield embedded()
        return
    prefix = request.getfixturevalue("kube_prefix")
    with real(request.getfixturevalue("control_plane"), prefix) as found:
        yield found
