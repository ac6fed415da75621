"""Lists of tags, page by page."""

import json
from pathlib import Path

import pytest

from kixbot.registry.interface import RegistryAnswerError, TagList
from kixbot.registry.loopback import Access, LoopbackRegistry, Received, Reply
from kixbot.registry.memory import ImageStore
from tests.registry.odd import CONTENT, bench, fault, on

LIST = "GET /v2/acme/web/tags/list"


def page(tags: list[str], link: str | None = None) -> Reply:
    headers = {"Link": link} if link else {}
    return Reply(headers=headers, body=json.dumps({"name": "acme/web", "tags": tags}).encode())


def test_2500_tags_over_three_pages_are_all_seen(tmp_path: Path) -> None:
    with bench(tmp_path) as b:
        for number in range(2500):
            b.server._store.put("acme/web", f"t{number:04}", CONTENT)
        found = b.registry.get_tags(b.image)
        assert (len(found.tags), found.is_complete) == (2501, True)
        assert len(b.asked(LIST)) == 3


def test_a_registry_that_takes_no_thousand_is_asked_without_a_number(tmp_path: Path) -> None:
    def intercept(received: Received) -> Reply | None:
        if int(received.query.get("n", ["100"])[0]) > 100:
            return fault(400, "TOO_MANY_TAGS")
        last = received.query.get("last", ["-1"])[0]
        start = int(last) + 1
        tags = [f"{number:04}" for number in range(start, min(start + 100, 2500))]
        link = f'</v2/acme/web/tags/list?n=100&last={tags[-1]}>; rel="next"' if start + 100 < 2500 else None
        return page(tags, link)

    with bench(tmp_path, intercept) as b:
        found = b.registry.get_tags(b.image)
        assert (len(found.tags), found.is_complete, b.notes) == (2500, True, [])
        assert b.server.lines[:2] == [f"{LIST}?n=1000", LIST]


@pytest.mark.parametrize(
    "link",
    [
        '</v2/acme/web/tags/list?n=1000&last=a>; rel="next"',
        "<list?n=1000&last=a>;rel=next",
        '</v2/web/tags/list?n=1000&last=x&last=a>; rel="next"',
        '<http://127.0.0.1/first>; rel="first", </x?n=1000&last=a>; title="t, u"; rel=next',
    ],
)
def test_a_link_of_any_form_leads_to_the_next_page(tmp_path: Path, link: str) -> None:
    def intercept(received: Received) -> Reply | None:
        return page(["b"]) if received.query.get("last") == ["a"] else page(["a"], link)

    with bench(tmp_path, intercept) as b:
        assert b.registry.get_tags(b.image) == TagList(tags=("a", "b"))
        assert b.server.lines[1] == f"{LIST}?n=1000&last=a"


def test_a_page_on_another_host_is_asked_without_authorization(tmp_path: Path) -> None:
    with LoopbackRegistry(ImageStore(), access=Access.OPEN, intercept=on("", page(["b"]))) as other:

        def intercept(received: Received) -> Reply | None:
            known = "authorization" in received.headers and received.path.endswith("/tags/list")
            return page(["a"], f'<{other.url}/elsewhere?p=2>; rel="next"') if known else None

        with bench(
            tmp_path, intercept, access=Access.BASIC, users={"ann": "pw"},
            docker=lambda host: {"auths": {host: {"username": "ann", "password": "pw"}}},
        ) as b:  # fmt: skip
            assert b.registry.get_tags(b.image) == TagList(tags=("a", "b"))
        assert ["authorization" in received.headers for received in other.requests] == [False]


def test_pages_that_go_in_a_circle_are_an_error(tmp_path: Path) -> None:
    link = '</v2/acme/web/tags/list?n=1000&last=a>; rel="next"'
    with bench(tmp_path, on("", page(["a"], link))) as b:
        with pytest.raises(RegistryAnswerError, match="list of tags goes in a circle"):
            b.registry.get_tags(b.image)
        assert len(b.server.lines) == 2


def test_pages_without_an_end_are_cut_and_said(tmp_path: Path) -> None:
    def intercept(received: Received) -> Reply:
        number = int(received.query.get("last", ["0"])[0])
        return page([f"t{number}"], f'<?last={number + 1}>; rel="next"')

    with bench(tmp_path, intercept) as b:
        found = b.registry.get_tags(b.image)
        assert (len(found.tags), found.is_complete) == (300, False)
        assert b.notes == [f"{b.image}: its list of tags may be cut; newer tags may be missing"]


def test_exactly_a_full_page_without_a_link_may_be_cut(tmp_path: Path) -> None:
    with bench(tmp_path, on("", page([f"t{number:04}" for number in range(1000)]))) as b:
        assert not b.registry.get_tags(b.image).is_complete
        assert b.notes == [f"{b.image}: its list of tags may be cut; newer tags may be missing"]


def test_signatures_attestations_and_what_is_no_tag_are_left_out(tmp_path: Path) -> None:
    attached = [f"sha256-{'a' * 64}{end}" for end in ("", ".sig", ".att", ".sbom")]
    with bench(tmp_path, on("", page([*attached, "1.0", "a b", "\x1b[2J", "", "x" * 129, "1.0"]))) as b:
        assert b.registry.get_tags(b.image) == TagList(tags=("1.0",))


@pytest.mark.parametrize("body", [b"{}", b'{"tags":null}'])
def test_a_repository_without_tags_has_none(tmp_path: Path, body: bytes) -> None:
    with bench(tmp_path, on("", Reply(body=body))) as b:
        assert b.registry.get_tags(b.image) == TagList(tags=())


@pytest.mark.parametrize("body", [b"", b"<html>", b"1", b'{"tags":{}}', b'{"tags":[1]}', b"[" * 100_000])
def test_an_answer_that_is_no_list_is_refused(tmp_path: Path, body: bytes) -> None:
    with bench(tmp_path, on("", Reply(body=body))) as b, pytest.raises(RegistryAnswerError, match="list of tags is n"):
        b.registry.get_tags(b.image)
