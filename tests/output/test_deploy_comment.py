"""The result of a deploy and a pins pull request, also where every value is hostile."""

import pytest

from kixbot.forges.local import LIMITS
from kixbot.forges.values import Limits, Unit
from kixbot.model.pin import Pin, PinChange
from kixbot.model.plan import Wave
from kixbot.model.receipt import Image, Receipt
from kixbot.model.resource import Ref
from kixbot.output.budget import utf16_units
from kixbot.output.deploy_comment import render_outcome
from kixbot.output.deploy_values import Outcome, State, WaveResult
from kixbot.output.marker import Marker, find_marker
from kixbot.output.pins_pr import PinsReport, commit_message, render_body, title
from kixbot.output.review_values import RunInfo
from tests.output.rendered import ALLOWED, Page, outside_fences
from tests.output.test_comment_text import HOSTILE

RUN = RunInfo(id="1", url="https://github.com/acme/shop/actions/runs/1")
COMMIT = "c" * 40
SMALL = Limits(comment=2500, unit=Unit.UTF16, status_description=140, status_context=255)


def outcome(text: str, state: State) -> Outcome:
    receipt = Receipt(
        id=text, cluster=text, activation=text, activation_path=text, time="2026-09-09T10:47:00Z", commit=text,
        images=(Image(reference=text, digest=text),), warnings=(text,),
    )  # fmt: skip
    return Outcome(
        cluster=text, state=state, sentence=text, commit=COMMIT, activation=text, receipt=receipt,
        waves=(Wave(number=1, refs=(Ref(kind=text, group="", namespace=text, name=text),)),),
        results=(WaveResult(number=1, applied=1, ready=1, failed=0),),
        lines=(text,) * 60, notes=(text,) * 50, paths=(text,) * 50,
    )  # fmt: skip


def check(text: str) -> None:
    page = Page(text)
    assert page.balanced
    assert page.tags <= ALLOWED
    for sign in ("@", "$", "evil", "javascript", "{{", "::", "##[", "/merge", "/close", "#12"):
        assert sign not in page.outside
    assert not [line for line in outside_fences(text) if line.lstrip().startswith("/")]
    assert "kix 0." in page.outside


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("state", ["deployed", "refused"])
def test_a_hostile_value_stays_text_in_a_result(text: str, state: State) -> None:
    marker = Marker(kind="deploy", label=text)
    body = render_outcome(outcome(text, state), run=RUN, limits=LIMITS, marker=marker)
    check(body)
    assert find_marker(body) == marker


def test_a_result_leaves_out_what_does_not_fit() -> None:
    body = render_outcome(outcome("x" * 40, "failed"), run=RUN, limits=LIMITS, marker=None)
    short = render_outcome(outcome("x" * 10, "deployed"), run=RUN, limits=SMALL, marker=None)
    assert "<summary>Receipt</summary>" in body
    assert utf16_units(short) <= 2500 or "<summary>Receipt</summary>" not in short


def change(text: str, tag: str = "1.5.0") -> PinChange:
    old = Pin(key=text, image=text, tag="1.4.2", digest="sha256:" + "a" * 64)
    new = Pin(key=text, image=text, tag=tag, digest="sha256:" + "b" * 64)
    return PinChange(key=text, old=old, new=new, created=text, platforms=(text,), revision=text)


@pytest.mark.parametrize("text", HOSTILE)
def test_a_hostile_value_stays_text_in_a_pins_pull_request(text: str) -> None:
    report = PinsReport(changes=(change(text, text),), clusters=(text,), problems=(text,))
    check(render_body(report, reason=text))
    assert "\n" not in title(report)
    assert len(title(report)) <= 60


def test_the_words_of_a_moved_pin() -> None:
    report = PinsReport(changes=(change("web"),), clusters=("shop",))
    assert title(report) == "Move pin web to 1.5.0"
    assert commit_message(report) == (
        "Move pin web to 1.5.0\n\nweb: 1.4.2 to 1.5.0 (sha256:aaaaaaaaaaaa to sha256:bbbbbbbbbbbb)\n"
    )
    two = PinsReport(changes=(change("web"), change("db")), clusters=("shop",))
    assert title(two) == "Move 2 pins"
    same = PinsReport(changes=(change("web", "1.4.2"),), clusters=("shop",))
    assert same.lines() == ["web: 1.4.2, another digest (sha256:aaaaaaaaaaaa to sha256:bbbbbbbbbbbb)"]
