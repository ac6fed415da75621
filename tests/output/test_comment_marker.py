from hypothesis import given, strategies as st

from kixbot.output.marker import Marker, find_marker, write_marker

MARKERS = st.builds(
    Marker,
    kind=st.text(max_size=10),
    label=st.text(max_size=10),
    clusters=st.lists(st.text(max_size=10), max_size=3).map(tuple),
    head=st.text(max_size=10),
    run=st.text(max_size=6),
    attempt=st.integers(1, 9),
    hashes=st.dictionaries(st.text(max_size=10), st.text(max_size=10), max_size=3),
)


@given(MARKERS)
def test_what_was_written_is_read_back_and_stays_one_line_without_markup(marker: Marker) -> None:
    line = write_marker(marker)
    assert find_marker(f"{line}\nrest") == marker
    assert "\n" not in line
    assert line.isascii()
    inner = line.removeprefix("<!-- kix ").removesuffix(" -->")
    assert not set("<>-") & set(inner)


@given(st.text())
def test_any_comment_is_read_without_an_error(body: str) -> None:
    find_marker(body)
    find_marker("<!-- kix {" + body.replace("\n", "") + "} -->")


def test_a_marker_counts_only_alone_in_the_first_line() -> None:
    line = write_marker(Marker(kind="review"))
    assert find_marker(line) == Marker(kind="review")
    assert find_marker(f"{line}\r\nrest") == Marker(kind="review")
    for body in (f"> {line}", f"\n{line}", f"text {line}", f"{line} text", f"{line}{line}", ""):
        assert find_marker(body) is None


def test_other_versions_and_strange_documents_are_no_markers() -> None:
    for inner in ('{"v":2,"kind":"review","label":""}', '{"v":1}', "{}", '{"v":1,"kind":"a","label":"","attempt":"x"}'):
        assert find_marker(f"<!-- kix {inner} -->") is None


def test_a_later_run_or_attempt_on_the_same_head_is_newer() -> None:
    def at(run: str, attempt: int = 1, head: str = "h") -> Marker:
        return Marker(kind="review", head=head, run=run, attempt=attempt)

    assert at("9").is_older_than(at("10"))
    assert at("10", 1).is_older_than(at("10", 2))
    assert not at("10", 2).is_older_than(at("10", 2))
    assert not at("9").is_older_than(at("10", head="other"))
    assert not at("").is_older_than(at("10"))


def test_the_label_keeps_two_comments_apart() -> None:
    assert Marker(kind="review", label="a", run="1").is_same_comment(Marker(kind="review", label="a", run="2"))
    assert not Marker(kind="review", label="a").is_same_comment(Marker(kind="review", label="b"))
