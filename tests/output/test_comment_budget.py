"""The comment fits, whatever its size, and says what it left out."""

import re

from hypothesis import given, settings, strategies as st

from kixbot.forges.values import Unit
from kixbot.output.budget import clip_context, clip_units, measure_of, utf8_bytes, utf16_units
from kixbot.output.comment import render_comment, render_summary
from kixbot.output.comment_details import list_details
from kixbot.output.marker import find_marker
from kixbot.output.review_values import ClusterReview, Risk, RiskKind
from tests.output.rendered import Page
from tests.output.reviews import ERROR, WARNING, review, shop, shop_plan, shop_report, sized

GITHUB = 65_536


def check_whole(text: str, limit: int) -> None:
    assert utf16_units(text) <= limit
    page = Page(text)
    assert page.balanced
    assert "kix 0." in page.outside
    assert text.rstrip().endswith("</sub>")
    assert find_marker(text) is not None


def test_at_every_size_around_the_limit_the_footer_and_all_folds_stand() -> None:
    empty = len(render_comment(review(sized([""])), limit=GITHUB, measure=utf16_units))
    limit = 6000
    for extra in range(limit - empty - 200, limit - empty + 200):
        text = render_comment(review(sized(["x\n" * (extra // 4)])), limit=limit, measure=utf16_units)
        check_whole(text, limit)


def test_the_largest_comment_fills_its_limit_but_for_the_sentence_on_what_is_left_out() -> None:
    lengths = set()
    for size in range(700, 1100):
        body = render_comment(review(sized(["y" * 100 + "\n" + "x" * size])), limit=2000, measure=utf16_units)
        check_whole(body, 2000)
        lengths.add(len(body))
    assert 1900 < max(lengths) <= 2000


@settings(max_examples=50, deadline=None)
@given(
    texts=st.lists(st.text(alphabet="ab\n`🎉é", max_size=2000), max_size=12),
    limit=st.integers(2500, 20_000),
)
def test_any_details_fit_any_limit_and_no_resource_is_cut(texts: list[str], limit: int) -> None:
    shown = review(sized(texts))
    text = render_comment(shown, limit=limit, measure=utf16_units)
    check_whole(text, limit)
    details = list_details(shown.clusters[0])
    missing = [detail for detail in details if detail.text not in text]
    told = re.search(r"(\d+) changes? left out", text)
    assert (int(told.group(1)) if told else 0) >= len(missing)
    assert bool(told) == bool(missing) or not texts


def test_many_small_packages_each_pay_for_their_fold() -> None:
    shown = review(sized(["x"] * 200))
    for limit in range(4000, 30_000, 1300):
        check_whole(render_comment(shown, limit=limit, measure=utf16_units), limit)


def test_a_grave_change_keeps_its_place_when_harmless_ones_fill_the_room() -> None:
    cluster = sized(["x\n" * 200] * 40)
    assert cluster.plan is not None
    grave = cluster.plan.packages[37].resources[0].ref
    risks = (Risk(kind=RiskKind.DELETE_DATA, verb="removes", subject=grave.short, ref=grave),)
    ranked = ClusterReview(name="shop", passed=True, report=cluster.report, plan=cluster.plan, risks=risks)
    text = render_comment(review(ranked), limit=6000, measure=utf16_units)
    assert "`ConfigMap/c37@shop` changed" in text
    assert re.search(r"3\d changes left out for want of room", text)


def test_three_hundred_clusters_still_fit_and_failing_ones_are_named_first() -> None:
    clusters = [
        ClusterReview(
            name=f"cluster-{index:03}", passed=index != 299, report=shop_report(*([ERROR] * 30)), plan=shop_plan(),
            risks=tuple(Risk(kind=RiskKind.DELETE, verb="removes", subject=f"ConfigMap/{i}@shop") for i in range(50)),
        )
        for index in range(300)
    ]  # fmt: skip
    text = render_comment(review(*clusters), limit=GITHUB, measure=utf16_units)
    check_whole(text, GITHUB)
    assert "says no: `cluster-299` has 30 errors" in text
    assert "| `cluster-299` | eval |" in text
    assert "more clusters in the run's summary." in text
    marker = find_marker(text)
    assert marker is not None
    assert len(marker.clusters) == 300
    assert marker.hashes == {}


def test_gitlab_counts_characters_and_github_utf16_units() -> None:
    assert measure_of(Unit.CHARACTERS)("🎉é") == 2
    assert measure_of(Unit.UTF16)("🎉é") == 3


def test_the_summary_counts_bytes() -> None:
    shown = review(sized(["é" * 100_000 + "\n" + "🎉" * 200_000] * 3))
    for limit in (1024 * 1024, 900_000, 5000):
        assert utf8_bytes(render_summary(shown, limit=limit)) <= limit


def test_a_description_is_cut_between_characters() -> None:
    assert clip_units("a" * 140, 140) == "a" * 140
    cut = clip_units("a" * 138 + "🎉🎉", 140)
    assert cut == "a" * 138 + "…"
    assert utf16_units(clip_units("🎉" * 200, 140)) <= 140


def test_two_long_contexts_that_begin_alike_stay_apart() -> None:
    one, two = (clip_context(f"kix/deploy/{'x' * 290}{end}", 255) for end in "ab")
    assert one != two
    assert len(one) == len(two) == 255
    assert clip_context("kix/check", 255) == "kix/check"


def test_warnings_that_stand_in_the_base_too_are_counted_but_not_repeated() -> None:
    text = render_comment(review(shop(ERROR, WARNING)), limit=GITHUB, measure=utf16_units)
    assert "[web].env[0]  ref/secret-key  (in the baseline too)" in text
    assert "**1 error, 1 new warning**" in text
