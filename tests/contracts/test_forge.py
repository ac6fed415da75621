"""What every forge does. One suite, run on each implementation in WORLDS."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kixbot.errors import ForgeError
from kixbot.forges.interface import (
    InvalidNameError,
    NotFoundError,
    PermissionDeniedError,
    ProtectedBranchError,
    StaleHeadError,
)
from kixbot.forges.values import DeploymentState, FileChange, Permission, PullRequestState, Status, StatusState
from tests.contracts.forge_world import VIEWER, WORLDS, World

PINS = "pins.json"


@pytest.fixture(params=WORLDS, ids=list(WORLDS))
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    with WORLDS[request.param](tmp_path) as opened:
        yield opened


def opened(world: World, *, fork: bool = False) -> int:
    world.commit("bump", {PINS: b"{}\n"})
    return world.open("bump", fork=fork)


def test_it_knows_its_own_login_and_its_default_branch(world: World) -> None:
    assert world.forge.get_viewer() == VIEWER
    assert world.forge.get_default_branch() == "main"
    assert world.forge.find_branch("main") == world.first
    assert world.forge.find_branch("nowhere") is None


def test_a_pull_request_is_read_with_its_head_and_base(world: World) -> None:
    head = world.commit("bump", {PINS: b"{}\n"})
    number = world.open("bump", author="alice")
    pull = world.forge.get_pull_request(number)
    assert (pull.number, pull.author, pull.state) == (number, "alice", PullRequestState.OPEN)
    assert (pull.head_sha, pull.head_ref, pull.base_ref, pull.base_sha) == (head, "bump", "main", world.first)
    assert not pull.from_fork
    assert world.commit("bump", {PINS: b"{} \n"}) == world.forge.get_pull_request(number).head_sha


def test_a_fork_is_told_from_a_branch(world: World) -> None:
    pull = world.forge.get_pull_request(opened(world, fork=True))
    assert pull.from_fork
    assert world.forge.find_open_pull_request(head_ref="bump", base_ref="main") is None


def test_a_pull_request_that_is_not_there_is_not_found(world: World) -> None:
    with pytest.raises(NotFoundError):
        world.forge.get_pull_request(4711)


def test_comments_come_back_whole_and_in_order_also_many(world: World) -> None:
    number = opened(world)
    bodies = [f"comment {index}\n<b>@alice</b> \u202e 🎉" for index in range(35)]
    for index, body in enumerate(bodies):
        world.comment(number, "alice" if index % 2 else "bob", body)
    assert [comment.body for comment in world.forge.list_comments(number)] == bodies
    assert {comment.author for comment in world.forge.list_comments(number)} == {"alice", "bob"}


def test_a_comment_is_written_and_replaced_in_place(world: World) -> None:
    number = opened(world)
    made = world.forge.create_comment(number, "one")
    assert (made.author, made.body) == (VIEWER, "one")
    assert world.forge.update_comment(number, made.id, "two").id == made.id
    assert [(comment.id, comment.body) for comment in world.forge.list_comments(number)] == [(made.id, "two")]


def test_a_folded_comment_keeps_its_body(world: World) -> None:
    number = opened(world)
    made = world.forge.create_comment(number, "one")
    world.forge.minimise_comment(number, made.id)
    assert [comment.body for comment in world.forge.list_comments(number)] == ["one"]


def test_a_comment_past_the_limit_is_refused_and_one_at_the_limit_is_not(world: World) -> None:
    number = opened(world)
    limit = world.forge.limits.comment
    world.forge.create_comment(number, "x" * limit)
    with pytest.raises(ForgeError):
        world.forge.create_comment(number, "x" * (limit + 1))
    assert len(world.forge.list_comments(number)) == 1


def test_a_status_moves_from_pending_to_its_end(world: World) -> None:
    pending = Status(context="kix/check", state=StatusState.PENDING, description="checking")
    world.forge.set_status(world.first, pending)
    assert world.statuses(world.first) == {"kix/check": ("pending", "checking")}
    done = Status(context="kix/check", state=StatusState.SUCCESS, description="0 errors", target_url="https://ci/1")
    world.forge.set_status(world.first, done)
    world.forge.set_status(world.first, done)
    assert world.statuses(world.first) == {"kix/check": ("success", "0 errors")}


def test_statuses_of_several_contexts_stand_beside_each_other(world: World) -> None:
    for name, state in (("kix/diff/shop", StatusState.FAILURE), ("kix/diff/edge", StatusState.ERROR)):
        world.forge.set_status(world.first, Status(context=name, state=state, description="no"))
    assert set(world.statuses(world.first)) == {"kix/diff/shop", "kix/diff/edge"}


def test_a_deployment_moves_and_a_newer_success_replaces_an_older_one(world: World) -> None:
    for _ in range(2):
        made = world.forge.create_deployment(
            sha=world.first, environment="production", task="kix:shop", description="shop"
        )
        moved = world.forge.set_deployment_state(made, DeploymentState.IN_PROGRESS, description="wave 1")
        world.forge.set_deployment_state(moved, DeploymentState.SUCCESS, description="deployed")
    assert [(sha, environment) for sha, environment, _, _ in world.deployments()] == [(world.first, "production")] * 2
    assert [state for *_, state in world.deployments()] == ["inactive", "success"]


def test_what_the_token_may_not_do_names_the_permission(world: World) -> None:
    number = opened(world)
    lacking = world.deny("statuses: write")
    with pytest.raises(PermissionDeniedError) as error:
        world.forge.set_status(world.first, Status(context="kix/check", state=StatusState.PENDING, description=""))
    assert error.value.permission == lacking
    lacking = world.deny("pull-requests: write")
    with pytest.raises(PermissionDeniedError) as error:
        world.forge.create_comment(number, "hello")
    assert error.value.permission == lacking
    assert world.forge.list_comments(number) == ()


def test_files_are_read_at_a_branch_or_a_commit(world: World) -> None:
    second = world.commit("main", {"a/b.txt": b"\x00\xff two\n"})
    assert world.forge.find_file("a/b.txt", ref="main") == b"\x00\xff two\n"
    assert world.forge.find_file("a/b.txt", ref=second) == b"\x00\xff two\n"
    assert world.forge.find_file("a/b.txt", ref=world.first) is None
    assert world.forge.find_file("a", ref="main") is None


def test_a_commit_lands_on_the_expected_head_with_all_its_files(world: World) -> None:
    files = (FileChange(path=PINS, content=b"{}\n"), FileChange(path="README", content=None))
    made = world.forge.commit_files(branch="main", expected_head=world.first, message="Update pins", files=files)
    assert world.forge.find_branch("main") == made.sha
    assert world.forge.find_file(PINS, ref="main") == b"{}\n"
    assert world.forge.find_file("README", ref="main") is None
    compared = world.forge.compare(world.first, made.sha)
    assert [commit.sha for commit in compared.commits] == [made.sha]
    assert compared.commits[0].parents == (world.first,)
    assert compared.commits[0].message == "Update pins"


def test_a_commit_on_a_moved_head_is_stale_and_writes_nothing(world: World) -> None:
    second = world.commit("main", {"other": b"1\n"})
    with pytest.raises(StaleHeadError):
        world.forge.commit_files(
            branch="main", expected_head=world.first, message="m", files=(FileChange(path=PINS, content=b"{}"),)
        )
    assert world.forge.find_branch("main") == second
    assert world.forge.find_file(PINS, ref="main") is None


def test_a_protected_branch_refuses_a_direct_commit(world: World) -> None:
    assert not world.forge.is_protected("main")
    world.protect("main")
    assert world.forge.is_protected("main")
    with pytest.raises(ProtectedBranchError):
        world.forge.commit_files(
            branch="main", expected_head=world.first, message="m", files=(FileChange(path=PINS, content=b"{}"),)
        )
    assert world.forge.find_branch("main") == world.first


def test_a_branch_of_the_bots_own_is_made_and_made_again_on_a_newer_base(world: World) -> None:
    forge = world.forge
    one = forge.replace_branch(
        branch="kix/pins", expected_head=None, base=world.first, message="one",
        files=(FileChange(path=PINS, content=b"1"),),
    )  # fmt: skip
    number = forge.open_pull_request(head_ref="kix/pins", base_ref="main", title="pins", body="").number
    base = world.commit("main", {"other": b"1\n"})
    two = forge.replace_branch(
        branch="kix/pins", expected_head=one.sha, base=base, message="two",
        files=(FileChange(path=PINS, content=b"2"),),
    )  # fmt: skip
    assert forge.find_branch("kix/pins") == two.sha
    compared = forge.compare("main", "kix/pins")
    assert [commit.message for commit in compared.commits] == ["two"]
    assert compared.files == (PINS,)
    assert forge.get_pull_request(number).state is PullRequestState.OPEN
    assert forge.get_pull_request(number).head_sha == two.sha


def test_a_branch_that_is_not_where_it_was_expected_is_not_replaced(world: World) -> None:
    files = (FileChange(path=PINS, content=b"1"),)
    head = world.commit("kix/pins", {"somebody": b"else\n"})
    for expected in (None, world.first):
        with pytest.raises(StaleHeadError):
            world.forge.replace_branch(
                branch="kix/pins", expected_head=expected, base=world.first, message="m", files=files
            )
    assert world.forge.find_branch("kix/pins") == head


def test_the_default_branch_is_never_replaced(world: World) -> None:
    with pytest.raises(InvalidNameError):
        world.forge.replace_branch(
            branch="main", expected_head=world.first, base=world.first, message="m",
            files=(FileChange(path=PINS, content=b"1"),),
        )  # fmt: skip
    assert world.forge.find_branch("main") == world.first


def test_a_pull_request_is_opened_found_and_renewed(world: World) -> None:
    world.commit("kix/pins", {PINS: b"{}\n"})
    made = world.forge.open_pull_request(head_ref="kix/pins", base_ref="main", title="Update pins", body="one")
    assert (made.title, made.body, made.author) == ("Update pins", "one", VIEWER)
    assert world.forge.find_open_pull_request(head_ref="kix/pins", base_ref="main") == made
    assert world.forge.update_pull_request(made.number, title="Update 2 pins", body="two").body == "two"
    assert world.forge.get_pull_request(made.number).title == "Update 2 pins"


def test_merged_pull_requests_of_a_range_come_oldest_first(world: World) -> None:
    merges = []
    for name in ("one", "two", "three"):
        world.commit(name, {name: b"x\n"})
        number = world.open(name)
        before = world.forge.find_branch("main")
        merges.append((number, before, world.merge(number)))
    last = world.commit("main", {"direct": b"push\n"})
    found = world.forge.list_merged(branch="main", after=merges[0][2], until=last)
    assert [(merged.pull_request.number, merged.before, merged.last) for merged in found] == merges[1:]
    assert all(merged.pull_request.state is PullRequestState.MERGED for merged in found)


def test_a_range_that_does_not_hang_together_is_not_found(world: World) -> None:
    aside = world.commit("aside", {"aside": b"x\n"})
    with pytest.raises(NotFoundError):
        world.forge.list_merged(branch="main", after=aside, until=world.first)


def test_compare_tells_the_merge_base_and_the_files(world: World) -> None:
    head = world.commit("bump", {PINS: b"{}\n", "a/b": b"1\n"})
    world.commit("main", {"other": b"1\n"})
    compared = world.forge.compare("main", "bump")
    assert compared.merge_base == world.first
    assert sorted(compared.files) == ["a/b", PINS]
    assert [commit.sha for commit in compared.commits] == [head]
    assert compared.complete


def test_permissions_are_those_of_the_repository(world: World) -> None:
    world.let("alice", "write")
    assert world.forge.get_permission("alice") is Permission.WRITE
    assert world.forge.get_permission("stranger") is Permission.NONE


@pytest.mark.parametrize(
    "path", ["../out", "/etc/passwd", "a//b", ".git/config", "a/.GIT/hooks/x", "a/./b", "", "a\nb"]
)
def test_a_path_that_leaves_the_tree_is_refused_before_anything_is_written(world: World, path: str) -> None:
    with pytest.raises(InvalidNameError):
        world.forge.commit_files(
            branch="main", expected_head=world.first, message="m", files=(FileChange(path=path, content=b"x"),)
        )
    assert world.forge.find_branch("main") == world.first


@pytest.mark.parametrize("branch", ["", "-d", "a..b", "a b", "x.lock", "/x", "x\ny", "a~1", "@{-1}"])
def test_a_name_that_no_branch_can_have_is_refused(world: World, branch: str) -> None:
    with pytest.raises(InvalidNameError):
        world.forge.replace_branch(
            branch=branch, expected_head=None, base=world.first, message="m",
            files=(FileChange(path="x", content=b"x"),),
        )  # fmt: skip
