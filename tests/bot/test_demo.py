"""`kixbot demo`: the main job from end to end, on the embedded parts."""

import json
from pathlib import Path

import click
import pytest

from kixbot.bot.demo import run_demo
from kixbot.errors import UsageError
from kixbot.output.marker import find_marker


def test_the_demo_reviews_merges_deploys_and_moves_a_pin(tmp_path: Path) -> None:
    lines: list[str] = []
    folder = tmp_path / "demo"
    assert run_demo(folder, say=lines.append) == 0
    text = "\n".join(click.unstyle(line) for line in lines)
    for sentence in (
        "✅ kix says yes: 3 packages change in `shop`",
        "- moves image `ghcr.io/acme/web`: `1.4.2@sha256:",
        "- `shop/valkey` 8.0.2 (4 resources)",
        "- `shop/web` 1.4.2 → 1.5.0 (1 changed, ",
        "wave 2 Deployment/grafana StatefulSet/valkey",
        "pins: web: 1.5.0 to 1.5.1",
        "pins: committed ",
        "ghcr.io/acme/web:1.5.1",
    ):
        assert sentence in text
    marker = find_marker((folder / "comment.md").read_text())
    assert marker is not None
    assert marker.clusters == ("shop",)
    pull = json.loads((folder / "shop.git" / "prs" / "1.json").read_text())
    assert pull["state"] == "merged"
    statuses = {path.name: json.loads(path.read_text())["state"] for path in folder.rglob("statuses/*/*.json")}
    assert set(statuses.values()) == {"success"}
    assert {"kix%2Fcheck.json", "kix%2Fdiff%2Fshop.json", "kix%2Fdeploy%2Fshop.json"} <= set(statuses)
    # Again in the same folder: it clears what is its own.
    (folder / "mine.txt").write_text("kept")
    assert run_demo(folder, say=lambda _: None) == 0
    assert (folder / "mine.txt").read_text() == "kept"


def test_a_folder_with_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("kept")
    with pytest.raises(UsageError, match="holds files that are no demo's"):
        run_demo(tmp_path, say=lambda _: None)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
