"""What is GitHub's own: limits, retries, lost answers, forks, Enterprise addresses. The common promises are the contract's."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from kixbot.errors import ForgeError
from kixbot.forges.github import GitHubForge
from kixbot.forges.interface import InvalidNameError, NotFoundError, PermissionDeniedError, StaleHeadError
from kixbot.forges.values import FileChange, Status, StatusState
from kixbot.retry import Clock
from tests.forges.git_store import GitStore
from tests.forges.github_server import GitHubServer, Token
from tests.forges.loopback import Answer, Fault

CANARY = "ghs_canary0123456789"


@dataclass
class World:
    server: GitHubServer
    store: GitStore
    slept: list[float] = field(default_factory=list)

    def open(self, token: str = CANARY) -> GitHubForge:
        clock = Clock(now=lambda: 1_000_000.0, sleep=self.slept.append)
        return GitHubForge(
            token=token,
            repository="acme/shop",
            api_url=self.server.api_url,
            graphql_url=self.server.graphql_url,
            clock=clock,
        )

    def sent(self, method: str, tail: str) -> int:
        return sum(1 for seen in self.server.journal if seen.method == method and seen.path.endswith(tail))


def _world(folder: Path, prefix: str) -> Iterator[World]:
    store = GitStore(folder / "shop.git")
    first = store.commit(None, "first", [("a.txt", b"1\n")])
    store.move("main", first, None)
    store.move("topic", store.commit(first, "second", [("b.txt", b"2\n")]), None)
    server = GitHubServer(store, prefix=prefix)
    server.tokens[CANARY] = Token(login="kix[bot]")
    server.open_pull(head="topic", base="main", title="Add b", author="alice")
    yield World(server=server, store=store)
    server.close()
    assert server.violations == []


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    yield from _world(tmp_path, "")


@pytest.fixture
def enterprise(tmp_path: Path) -> Iterator[World]:
    yield from _world(tmp_path, "/api/v3")


def test_an_answer_lost_after_the_comment_was_made_leaves_one_comment(world: World) -> None:
    world.server.faults.append(Fault(method="POST", contains="/comments", answer=Answer(status=502), after=True))
    assert world.open().create_comment(1, "hello").body == "hello"
    assert [kept["body"] for kept in world.server.state.comments.values()] == ["hello"]
    assert world.sent("POST", "/comments") == 1


def test_a_connection_dropped_before_the_comment_was_made_sends_it_once_more(world: World) -> None:
    world.server.faults.append(Fault(method="POST", contains="/comments", answer=None))
    world.open().create_comment(1, "hello")
    assert [kept["body"] for kept in world.server.state.comments.values()] == ["hello"]


def test_a_deployment_whose_answer_got_lost_is_found_again(world: World) -> None:
    head = str(world.store.find("main"))
    world.server.faults.append(Fault(method="POST", contains="/deployments", answer=None, after=True))
    made = world.open().create_deployment(sha=head, environment="prod", task="deploy:shop", description="shop")
    assert (made.sha, made.environment, made.task) == (head, "prod", "deploy:shop")
    assert len(world.server.state.deployments) == 1


def test_a_commit_whose_answer_got_lost_is_not_made_twice(world: World) -> None:
    head = str(world.store.find("main"))
    world.server.faults.append(Fault(method="POST", contains="/graphql", answer=Answer(status=502), after=True))
    change = (FileChange(path="pins.json", content=b"{}\n"),)
    made = world.open().commit_files(branch="main", expected_head=head, message="Move pins", files=change)
    assert made.sha == world.store.find("main")
    assert world.store.parents(made.sha) == [head]


def test_reads_are_tried_again_after_a_server_error_with_growing_waits(world: World) -> None:
    world.server.faults.append(Fault(method="GET", contains="/pulls/1", answer=Answer(status=503), times=2))
    assert world.open().get_pull_request(1).title == "Add b"
    assert world.slept == [1.0, 2.0]


def test_a_read_that_keeps_failing_ends_in_one_clear_error(world: World) -> None:
    world.server.faults.append(Fault(method="GET", contains="/pulls/1", answer=Answer(status=503), times=99))
    with pytest.raises(ForgeError, match=r"^GET /repos/acme/shop/pulls/1: GitHub answered 503$"):
        world.open().get_pull_request(1)
    assert world.sent("GET", "/pulls/1") == 5


def test_a_secondary_limit_without_a_time_waits_a_minute_and_then_longer(world: World) -> None:
    limited = Answer(status=403, body={"message": "You have exceeded a secondary rate limit."})
    world.server.faults.append(Fault(method="POST", contains="/comments", answer=limited, times=2))
    world.open().create_comment(1, "hello")
    assert world.slept == [60.0, 90.0]
    assert len(world.server.state.comments) == 1


@pytest.mark.parametrize(
    ("headers", "waited"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "Mon, 12 Jan 1970 13:47:10 GMT"}, 30.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1000020"}, 21.0),
        ({"x-ratelimit-remaining": "0", "x-ratelimit-reset": "999000"}, 1.0),
    ],
)
def test_a_limit_waits_as_long_as_the_answer_says(world: World, headers: dict[str, str], waited: float) -> None:
    limited = Answer(status=429, body={"message": "API rate limit exceeded"}, headers=headers)
    world.server.faults.append(Fault(method="GET", contains="/pulls/1", answer=limited))
    world.open().get_pull_request(1)
    assert world.slept == [waited]


def test_a_limit_of_an_hour_is_not_waited_for(world: World) -> None:
    limited = Answer(status=429, body={"message": "API rate limit exceeded"}, headers={"retry-after": "3600"})
    world.server.faults.append(Fault(method="GET", contains="/pulls/1", answer=limited, times=9))
    with pytest.raises(ForgeError, match="rate limited: API rate limit exceeded"):
        world.open().get_pull_request(1)
    assert world.slept == []


def test_pages_are_followed_to_the_end(world: World) -> None:
    for number in range(230):
        world.server.add_comment(1, "alice", f"comment {number}")
    assert [comment.body for comment in world.open().list_comments(1)] == [f"comment {number}" for number in range(230)]
    assert world.sent("GET", "/comments") == 3


def test_a_page_link_to_another_host_is_refused_and_gets_no_token(world: World) -> None:
    body = [{"id": 1, "user": None, "body": "x", "html_url": "https://forge.invalid/1"}]
    link = {"link": '<http://127.0.0.2:1/repos/acme/shop/issues/1/comments?page=2>; rel="next"'}
    world.server.faults.append(Fault(method="GET", contains="/comments", answer=Answer(body=body, headers=link)))
    with pytest.raises(ForgeError, match="the next page is on another host"):
        world.open().list_comments(1)


def test_a_missing_permission_is_named(world: World) -> None:
    world.server.tokens["read-only"] = Token(login="kix[bot]", writes=frozenset())
    status = Status(context="kix/check", state=StatusState.SUCCESS, description="fine")
    with pytest.raises(PermissionDeniedError) as caught:
        world.open("read-only").set_status(str(world.store.find("topic")), status)
    assert caught.value.permission == "statuses: write"
    assert caught.value.hint == "give the job the permission `statuses: write`"


def test_a_wrong_token_says_so_and_is_never_shown(world: World) -> None:
    with pytest.raises(ForgeError, match="the token is not valid") as caught:
        world.open("ghs_other_canary").get_pull_request(1)
    assert "canary" not in f"{caught.value}{caught.value.hint}{caught.value.__cause__}{caught.value.__context__}"


def test_a_pull_request_of_a_deleted_fork_has_no_head_repository(world: World) -> None:
    number = world.server.open_pull(head="topic", base="main", title="From a fork", author="mallory", fork="")
    found = world.open().get_pull_request(number)
    assert (found.head_repository, found.from_fork, found.head_fetch_ref) == (None, True, f"refs/pull/{number}/head")


def test_the_branch_of_a_fork_is_not_taken_for_our_own(world: World) -> None:
    world.server.state.pulls.clear()
    world.server.open_pull(head="topic", base="main", title="Theirs", author="mallory", fork="mallory/shop")
    assert world.open().find_open_pull_request(head_ref="topic", base_ref="main") is None


def test_replacing_a_branch_keeps_its_pull_request_open(world: World) -> None:
    forge, base = world.open(), str(world.store.find("main"))
    change = (FileChange(path="pins.json", content=b"1\n"),)
    first = forge.replace_branch(branch="kix/pins", expected_head=None, base=base, message="Pins", files=change)
    opened = forge.open_pull_request(head_ref="kix/pins", base_ref="main", title="Pins", body="")
    change = (FileChange(path="pins.json", content=b"2\n"),)
    second = forge.replace_branch(branch="kix/pins", expected_head=first.sha, base=base, message="Pins", files=change)
    now = forge.get_pull_request(opened.number)
    assert (now.state.value, now.head_sha) == ("open", second.sha)
    assert world.store.find("kix/pins-next") is None
    with pytest.raises(StaleHeadError):
        forge.replace_branch(branch="kix/pins", expected_head=first.sha, base=base, message="Pins", files=change)


def test_the_default_branch_is_never_replaced(world: World) -> None:
    with pytest.raises(InvalidNameError):
        world.open().replace_branch(branch="main", expected_head=None, base="0" * 40, message="", files=())


def test_commits_made_by_the_api_are_signed_and_attributed(world: World) -> None:
    forge, head = world.open(), str(world.store.find("main"))
    change = (FileChange(path="pins.json", content=b"{}\n"),)
    made = forge.commit_files(branch="main", expected_head=head, message="Move pins", files=change)
    (commit,) = forge.compare(head, made.sha).commits
    assert (commit.author, commit.verified) == ("kix[bot]", True)


def test_a_file_over_one_megabyte_is_read_whole(world: World) -> None:
    head = str(world.store.find("main"))
    world.store.move("main", world.store.commit(head, "big", [("big.json", b"x" * 1_500_000)]), head)
    assert world.open().find_file("big.json", ref="main") == b"x" * 1_500_000


def test_a_fast_forwarded_pull_request_of_two_commits_is_one_merge(world: World) -> None:
    base, topic = str(world.store.find("main")), str(world.store.find("topic"))
    world.store.move("topic", world.store.commit(topic, "third", [("c.txt", b"3\n")]), topic)
    last = world.server.merge_pull(1, method="fast-forward")
    (merged,) = world.open().list_merged(branch="main", after=base, until=last)
    assert (merged.before, merged.last) == (base, last)


def test_a_base_that_is_no_ancestor_is_said_so(world: World) -> None:
    stranger = world.store.commit(None, "other root", [("z", b"")])
    with pytest.raises(NotFoundError):
        world.open().list_merged(branch="main", after=stranger, until=str(world.store.find("main")))


def test_enterprise_addresses_are_used_for_rest_and_graphql(enterprise: World) -> None:
    forge = enterprise.open()
    assert forge.get_viewer() == "kix[bot]"
    assert forge.get_pull_request(1).title == "Add b"
    assert {seen.path for seen in enterprise.server.journal} == {"/api/graphql", "/repos/acme/shop/pulls/1"}


def test_a_graphql_address_on_another_host_is_refused() -> None:
    with pytest.raises(ForgeError, match="the GraphQL address is on another host"):
        GitHubForge(
            token=CANARY,
            repository="acme/shop",
            api_url="https://github.acme.invalid/api/v3",
            graphql_url="https://api.github.com/graphql",
        )
