"""The summary of a deploy is cut between clusters, never within one."""

from hypothesis import given, strategies as st

from kixbot.bot.deploy_report import _whole
from kixbot.output.budget import utf8_bytes


@given(texts=st.lists(st.text(max_size=200), max_size=20), left=st.integers(64, 3000))
def test_whole_texts_fit_and_the_rest_is_counted(texts: list[str], left: int) -> None:
    text = _whole(texts, left)
    assert utf8_bytes(text) <= left
    kept = 0
    while kept < len(texts) and text.startswith("\n".join(texts[: kept + 1])):
        kept += 1
    missing = len(texts) - kept
    assert not missing or "more cluster" in text


def test_what_is_left_out_is_said() -> None:
    assert _whole(["a" * 50, "b" * 50], 130) == "a" * 50 + "\n1 more cluster: see the log."
    assert _whole(["a" * 50, "b" * 50], 200) == "a" * 50 + "\n" + "b" * 50
