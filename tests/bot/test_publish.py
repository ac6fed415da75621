from pathlib import Path

import pytest

from kixbot.bot.publish import Publisher
from kixbot.forges.local import LocalForge
from kixbot.forges.values import StatusState
from kixbot.output.marker import Marker, write_marker
from tests.contracts.forge_world import VIEWER, LocalWorld


class Scene:
    """A pull request on the local forge, and what the publisher said."""

    def __init__(self, folder: Path) -> None:
        self.world = LocalWorld(folder / "forge.git")
        self.head = self.world.commit("bump", {"a": b"1"})
        self.number = self.world.open("bump")
        self.said: list[str] = []

    def publisher(self, label: str = "", viewer: str = VIEWER) -> Publisher:
        forge = LocalForge(self.world.folder, viewer=viewer)
        return Publisher(forge, label=label, run_url="https://ci.example/1", say=self.said.append)

    def marker(self, run: str = "1", label: str = "") -> Marker:
        return Marker(kind="review", label=label, head=self.head, run=run)

    def write(self, text: str, *, run: str = "1", label: str = "", only_update: bool = False) -> None:
        marker = self.marker(run, label)
        self.publisher(label).comment(self.number, f"{write_marker(marker)}\n{text}", marker, only_update=only_update)

    @property
    def texts(self) -> list[str]:
        return [comment.body.split("\n", 1)[-1] for comment in self.world.forge.list_comments(self.number)]


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


def test_the_comment_is_brought_up_to_date_in_place(scene: Scene) -> None:
    scene.write("one")
    scene.world.comment(scene.number, "alice", "looks good")
    scene.write("two", run="2")
    assert scene.texts == ["two", "looks good"]


def test_a_person_who_quotes_the_whole_comment_is_not_written_over(scene: Scene) -> None:
    body = f"{write_marker(scene.marker())}\nquoted"
    scene.world.comment(scene.number, "alice", body)
    scene.write("one")
    assert scene.texts == ["quoted", "one"]
    assert not scene.world.forge.list_comments(scene.number)[0].minimised


def test_another_tool_with_the_same_login_is_not_written_over(scene: Scene) -> None:
    scene.world.comment(scene.number, VIEWER, "coverage: 90 %")
    scene.write("one")
    scene.write("two", run="2")
    assert scene.texts == ["coverage: 90 %", "two"]


def test_it_is_found_among_many_comments(scene: Scene) -> None:
    for index in range(120):
        scene.world.comment(scene.number, "alice", f"comment {index}")
    scene.write("one")
    scene.write("two", run="2")
    assert scene.texts[120:] == ["two"]


def test_two_labels_have_two_comments(scene: Scene) -> None:
    scene.write("staging", label="staging")
    scene.write("prod", label="prod")
    scene.write("staging again", label="staging", run="2")
    assert scene.texts == ["staging again", "prod"]


def test_an_older_run_does_not_write_over_a_newer_one(scene: Scene) -> None:
    scene.write("new", run="10")
    scene.write("old", run="9")
    assert scene.texts == ["new"]
    assert scene.said == ["pull request 1: a later run has written the comment already"]


def test_nothing_is_written_for_a_commit_that_is_no_longer_the_head(scene: Scene) -> None:
    scene.world.commit("bump", {"a": b"2"})
    scene.write("late")
    assert scene.texts == []
    assert "has newer commits" in scene.said[0]


def test_the_comment_of_another_tokens_bot_is_folded_and_a_new_one_written(scene: Scene) -> None:
    scene.world.comment(scene.number, "github-actions[bot]", f"{write_marker(scene.marker())}\nold bot")
    scene.write("one")
    old, new = scene.world.forge.list_comments(scene.number)
    assert old.minimised
    assert not new.minimised
    assert scene.texts == ["old bot", "one"]


def test_only_changes_means_no_first_comment_but_an_old_one_is_renewed(scene: Scene) -> None:
    scene.write("clean", only_update=True)
    assert scene.texts == []
    scene.write("changes")
    scene.write("clean", only_update=True, run="2")
    assert scene.texts == ["clean"]


def test_a_status_carries_its_label_and_is_cut_to_what_the_forge_takes(scene: Scene) -> None:
    scene.publisher().status(scene.head, "check", StatusState.SUCCESS, "x" * 200 + "\u202e")
    scene.publisher("prod").status(scene.head, f"diff/{'y' * 300}", StatusState.FAILURE, "no")
    (context, status), (long, _) = sorted(scene.world.statuses(scene.head).items())
    assert (context, status) == ("kix/check", ("success", "x" * 139 + "…"))
    assert long.startswith("kix/prod/diff/yyy")
    assert len(long) == 255


def test_a_token_that_may_not_write_is_told_once_per_permission(scene: Scene) -> None:
    scene.world.deny("statuses: write")
    scene.world.deny("pull-requests: write")
    publisher = scene.publisher()
    publisher.status(scene.head, "check", StatusState.PENDING, "")
    publisher.status(scene.head, "check", StatusState.SUCCESS, "")
    assert publisher.comment(scene.number, write_marker(scene.marker()), scene.marker()) is None
    assert publisher.denied == ["statuses: write", "pull-requests: write"]
    assert scene.said == [
        f"warning: local forge: this token may not write; give the job the permission `{name}`. "
        "The job's summary holds what was to be written"
        for name in ("statuses: write", "pull-requests: write")
    ]
