"""What every test may use: golden files, and the real parts."""

from collections.abc import Callable
from pathlib import Path

import pytest

pytest_plugins = ["tests.parts.fixtures"]


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="rewrite golden files; review them with git diff")


@pytest.fixture
def golden(request: pytest.FixtureRequest) -> Callable[[str, str], None]:
    """`golden(name, text)` compares text with `golden/<name>` beside the test's file."""
    folder = Path(request.path).parent / "golden"
    rewrite = request.config.getoption("--golden")

    def compare(name: str, text: str) -> None:
        file = folder / name
        if rewrite:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8")
        assert file.is_file(), f"{file.name}: no golden file; run `make golden` and review it"
        assert text == file.read_text(encoding="utf-8")

    return compare
