"""A newcomer on a fresh Debian types the README's first command."""

import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent


@pytest.mark.soak
@pytest.mark.timeout(900)
def test_make_demo_runs_the_whole_main_job_on_a_fresh_machine() -> None:
    script = Path(__file__).with_name("newcomer.sh")
    done = subprocess.run(["bash", str(script), str(ROOT)], capture_output=True, text=True, check=False)
    print(done.stdout[-20_000:], done.stderr[-5_000:])
    assert done.returncode == 0
    for seen in (
        "kix says yes: 3 packages change in `shop`",
        "wave 4 HTTPRoute/web",
        "pins: web: 1.5.0 to 1.5.1",
        "working tree  clean",
        "ghcr.io/acme/web:1.5.1",
    ):
        assert seen in done.stdout
