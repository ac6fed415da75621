"""Which tag comes next."""

import contextlib

import pytest
from hypothesis import given, strategies as st

from kixbot.model.tag_rule import RuleError, find_newest, parse_rule, parse_version


@pytest.mark.parametrize(
    ("rule", "current", "tags", "newest"),
    [
        # a range moves up inside its bounds and not out of them
        ("^1.4", "1.4.2", ["1.4.1", "1.4.3", "1.5.0", "2.0.0"], "1.5.0"),
        ("^0.4.1", "0.4.1", ["0.4.9", "0.5.0", "1.0.0"], "0.4.9"),
        ("^0.0.3", "0.0.3", ["0.0.4"], None),
        ("~1.4.2", "1.4.2", ["1.4.10", "1.5.0"], "1.4.10"),
        ("~1", "1.0.0", ["1.9.9", "2.0.0"], "1.9.9"),
        ("1.x", "1.0.0", ["1.9.9", "2.0.0"], "1.9.9"),
        ("1.28", "1.28.0", ["1.28.4", "1.29.0"], "1.28.4"),
        (">=1.2 <2", "1.2.0", ["1.9.0", "2.0.0"], "1.9.0"),
        (">= 1.2, < 2", "1.2.0", ["1.9.0", "2.0.0"], "1.9.0"),
        (">1.4", "1.4.9", ["1.4.10", "1.5.0"], "1.5.0"),
        ("<=1.4", "1.0.0", ["1.4.9", "1.5.0"], "1.4.9"),
        ("^v1.4", "v1.4.2", ["v1.5.0", "1.6.0"], "v1.5.0"),
        # numbers are compared, not texts
        ("^1", "1.9.0", ["1.10.0", "1.9.1"], "1.10.0"),
        # never down, never sideways
        ("^1.4", "1.6.0", ["1.5.0"], None),
        ("^1.4", "2.0.0", ["1.9.0"], None),
        ("^1.4", "1.5.0", ["1.5.0"], None),
        # suffix, precision and prefix are kept
        (">=3.12", "3.12.4-slim", ["3.12.5", "3.12.5-slim", "3.12.6-alpine", "3.13.0rc1-slim"], "3.12.5-slim"),
        ("^1", "1.28-alpine", ["1.28.1-alpine", "1.29-alpine", "1.30", "1.30-alpine-perl"], "1.29-alpine"),
        ("^8", "8.7", ["8.7-1085", "8.8", "8.8.1"], "8.8"),
        # pre-releases are left out, and left
        ("^1.17", "1.17.0", ["1.18rc1", "1.18.0-rc.1", "1.18.0-beta", "1.18.0.dev3", "1.18.0a1"], None),
        ("^1.17", "1.18.0-rc.1", ["1.18.0-rc.2", "1.18.0"], "1.18.0"),
        # `latest` is nobody's version
        ("^1", "1.0", ["latest", "stable", "nightly", "sha-abc"], None),
        # patterns
        ("17.*-bookworm", "17.2-bookworm", ["17.10-bookworm", "17.3-bullseye", "18.1-bookworm", "17.4-1-bookworm"], "17.10-bookworm"),
        ("17.*-*-bookworm", "17.2-1-bookworm", ["17.2-2-bookworm", "17.2-bookworm"], "17.2-2-bookworm"),
        ("2025.*.*", "2025.9.1", ["2025.10.0", "2026.1.0", "2025.10.0-rc1"], "2025.10.0"),
        ("v*", "v9", ["v10", "vNext"], "v10"),
        # the tag alone
        ("tag", "1.0", ["2.0"], None),
    ],
)  # fmt: skip
def test_the_newest_tag_a_rule_lets_through(rule: str, current: str, tags: list[str], newest: str | None) -> None:
    assert find_newest(parse_rule(rule), current, tags) == newest


@pytest.mark.parametrize(
    ("rule", "message"),
    [
        ("", "an update rule is `tag`, a range such as ^1.4, or a pattern such as 17.*-bookworm"),
        ("latest", "latest is no update rule"),
        ("^1.x", "^1.x is no update rule: x stands last and without an operator"),
        ("1.x.3", "1.x.3 is no update rule: x stands last and without an operator"),
        (">=2 <2", "no version lies in the range >=2 <2"),
        ("^^1", "^^1 is no update rule"),
        ("1.**", "1.** is no pattern"),
        ("(a+)*$", "(a+)*$ is no pattern"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(rule: str, message: str) -> None:
    with pytest.raises(RuleError) as caught:
        parse_rule(rule)
    assert str(caught.value).startswith(message)


@pytest.mark.parametrize(
    ("rule", "current", "message"),
    [
        ("^1", "latest", 'tag "latest" is not a version, which a range needs'),
        ("17.*", "16.1", 'tag "16.1" does not match its own pattern'),
    ],
)
def test_a_tag_that_cannot_be_compared_is_refused(rule: str, current: str, message: str) -> None:
    with pytest.raises(RuleError, match=message):
        find_newest(parse_rule(rule), current, ["1.0"])


@pytest.mark.parametrize(
    ("tag", "suffix", "is_prerelease"),
    [
        ("1.2.3", "", False),
        ("1.28-alpine", "-alpine", False),
        ("1.28-alpine3.20", "-alpine3.20", False),
        ("1.0-bookworm", "-bookworm", False),
        ("1.0-betamax", "-betamax", False),
        ("1.0-beta.2-slim", "-slim", True),
        ("3.13.0rc1-slim", "-slim", True),
        ("1.0-SNAPSHOT", "", True),
    ],
)
def test_a_suffix_is_told_from_a_prerelease(tag: str, suffix: str, *, is_prerelease: bool) -> None:
    version = parse_version(tag)
    assert version is not None
    assert (version.suffix, version.is_prerelease) == (suffix, is_prerelease)


TAGS = st.lists(st.from_regex(r"\Av?[0-9]{1,3}(\.[0-9]{1,3}){0,3}(-(rc1|alpine|slim))?\Z"), max_size=20)


@given(TAGS, st.permutations(range(20)))
def test_the_order_of_the_list_does_not_matter(tags: list[str], order: list[int]) -> None:
    shuffled = [tags[index] for index in order if index < len(tags)]
    rule = parse_rule(">=1")
    first, second = find_newest(rule, "1.0.0", tags), find_newest(rule, "1.0.0", shuffled)
    # Two ways to write the same numbers (1.2.0 and 1.02.0) are the same version.
    assert (first and parse_version(first).numbers) == (second and parse_version(second).numbers)  # type: ignore[union-attr]


@given(st.text(max_size=40), st.text(max_size=40))
def test_no_rule_and_no_tag_breaks_the_reader(rule: str, tag: str) -> None:
    with contextlib.suppress(RuleError):
        assert find_newest(parse_rule(rule), "1.0.0", [tag]) in (None, tag)
