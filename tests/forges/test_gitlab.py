"""What is GitLab's own: job tokens, statuses that cannot move, the status lock, commits without compare-and-swap."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kixbot.errors import ForgeError
from kixbot.forges.gitlab import GitLabForge
from kixbot.forges.interface import PermissionDeniedError, StaleHeadError
from kixbot.forges.values import DeploymentState, FileChange, Status, StatusState
from kixbot.retry import Clock
from tests.forges.git_store import GitStore
from tests.forges.gitlab_server import GitLabServer, Token
from tests.forges.loopback import Answer, Fault

CANARY = "glpat-canary0123456789"
PENDING = Status(context="kix/check", state=StatusState.PENDING, description="checking")


@dataclass
class World:
    server: GitLabServer
    store: GitStore
    slept: list[float] = field(default_factory=list)

    def open(self, token: str = CANARY, *, job: bool = False) -> GitLabForge:
        clock = Clock(now=lambda: 0.0, sleep=self.slept.append)
        return GitLabForge(token=token, project="acme/shop", api_url=self.server.api_url, job_token=job, clock=clock)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    store = GitStore(tmp_path / "shop.git")
    first = store.commit(None, "first", [("pins.json", b"{}\n")])
    store.move("main", first, None)
    store.move("topic", store.commit(first, "second", [("b.txt", b"2\n")]), None)
    server = GitLabServer(store)
    server.tokens[CANARY] = Token(login="kix")
    server.tokens["job"] = Token(login="alice", job=True)
    server.open_request(source="topic", target="main", title="Add b", author="alice")
    yield World(server=server, store=store)
    server.close()
    assert server.violations == []


def test_posting_a_state_it_already_has_is_no_error(world: World) -> None:
    head = str(world.store.find("topic"))
    world.open().set_status(head, PENDING)
    world.open().set_status(head, PENDING)
    assert [(kept["name"], kept["state"]) for kept in world.server.state.statuses] == [("kix/check", "pending")]


def test_the_status_lock_is_waited_for(world: World) -> None:
    locked = Answer(status=409, body={"message": "409 Conflict: Resource lock"})
    world.server.faults.append(Fault(method="POST", contains="/statuses/", answer=locked, times=2))
    world.open().set_status(str(world.store.find("topic")), PENDING)
    assert world.slept == [2.0, 3.0]
    assert len(world.server.state.statuses) == 1


def test_another_conflict_is_not_tried_again(world: World) -> None:
    taken = Answer(status=409, body={"message": "Another open merge request already exists"})
    world.server.faults.append(Fault(method="POST", contains="/merge_requests", answer=taken))
    with pytest.raises(ForgeError, match="refused with 409: Another open merge request already exists"):
        world.open().open_pull_request(head_ref="topic", base_ref="main", title="", body="")
    assert world.slept == []


def test_a_plain_text_429_waits_as_it_says(world: World) -> None:
    limited = Answer(status=429, body="Retry later", headers={"Retry-After": "11"})
    world.server.faults.append(Fault(method="GET", contains="/merge_requests/1", answer=limited))
    assert world.open().get_pull_request(1).title == "Add b"
    assert world.slept == [11.0]


def test_a_note_whose_answer_got_lost_is_found_again(world: World) -> None:
    world.server.faults.append(Fault(method="POST", contains="/notes", answer=None, after=True))
    assert world.open().create_comment(1, "hello").body == "hello"
    assert [kept["body"] for kept in world.server.state.notes.values()] == ["hello"]


def test_a_note_of_quick_actions_only_is_said_to_be_gone(world: World) -> None:
    with pytest.raises(ForgeError, match="quick actions only"):
        world.open().create_comment(1, "/merge")


def test_system_notes_are_no_comments(world: World) -> None:
    world.server.add_note(1, "alice", "changed the description", system=True)
    world.server.add_note(1, "alice", "looks good")
    assert [comment.body for comment in world.open().list_comments(1)] == ["looks good"]


def test_a_job_token_reads_and_deploys_and_may_not_comment(world: World) -> None:
    forge = world.open("job", job=True)
    assert forge.get_pull_request(1).title == "Add b"
    with pytest.raises(PermissionDeniedError) as caught:
        forge.create_comment(1, "hello")
    assert caught.value.permission == "api"


def test_the_error_of_a_deployment_shows_as_failed(world: World) -> None:
    forge, head = world.open(), str(world.store.find("main"))
    made = forge.create_deployment(sha=head, environment="prod", task="kix:shop", description="shop")
    forge.set_deployment_state(made, DeploymentState.ERROR, description="cluster unreachable")
    assert world.server.deployments() == [(head, "prod", "", "failure")]


def test_a_commit_that_raced_onto_another_is_said_so_and_not_forced_away(world: World) -> None:
    forge, head = world.open(), str(world.store.find("main"))
    other = world.store.commit(head, "other", [("other", b"x\n")])
    world.server.interfere = lambda request: request.method == "POST" and world.store.move("main", other, head)
    change = (FileChange(path="pins.json", content=b'{"version": 1}\n'),)
    with pytest.raises(StaleHeadError, match="moved while the commit was made"):
        forge.commit_files(branch="main", expected_head=head, message="Move pins", files=change)
    assert world.store.parents(str(world.store.find("main"))) == [other]


def test_a_file_that_changed_since_is_not_written_over(world: World) -> None:
    forge, head = world.open(), str(world.store.find("main"))
    other = world.store.commit(head, "other", [("pins.json", b"theirs\n")])
    world.server.interfere = lambda request: request.method == "POST" and world.store.move("main", other, head)
    with pytest.raises(StaleHeadError):
        forge.commit_files(
            branch="main", expected_head=head, message="m", files=(FileChange(path="pins.json", content=b"ours\n"),)
        )
    assert world.store.find("main") == other


def test_a_wrong_token_says_so_and_is_never_shown(world: World) -> None:
    with pytest.raises(ForgeError, match="the token is not valid here") as caught:
        world.open("glpat-other-canary").get_pull_request(1)
    assert "canary" not in f"{caught.value}{caught.value.hint}{caught.value.__cause__}{caught.value.__context__}"


def test_an_address_that_is_no_api_is_refused() -> None:
    with pytest.raises(ForgeError, match="not a GitLab API address"):
        GitLabForge(token=CANARY, project="acme/shop", api_url="https://gitlab.acme.invalid")
