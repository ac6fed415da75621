"""A review as one comment: what matters first, and within the budget whatever the values hold.

Verdict, blast radius, checks, findings and package lists always stand, each with a cap that shrinks until they fit.
What room is left goes to details, gravest first, then smallest, whole resources only; what is left out is counted.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from kixbot.output.budget import Measure, utf8_bytes
from kixbot.output.comment_details import Detail, list_details
from kixbot.output.comment_graph import find_graph
from kixbot.output.comment_parts import Caps, cluster_parts, finding_blocks, fold, footer, risk_lines, rows, verdict
from kixbot.output.markdown import render
from kixbot.output.marker import Marker, write_marker
from kixbot.output.markup import Text, count
from kixbot.output.review_values import ClusterReview, Review

# Tried in turn until the parts that always stand fit. The last one holds counts alone.
_LEVELS = (
    Caps(risks=30, findings=20, packages=50, clusters=200),
    Caps(risks=12, findings=8, packages=15, clusters=50),
    Caps(risks=5, findings=3, packages=5, clusters=20),
    Caps(risks=2, findings=1, packages=2, clusters=5),
    Caps(risks=1, findings=0, packages=0, clusters=0),
)
_MARKER_SHARE = 4
"""Hashes leave the marker when it would take more than a quarter of the budget."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Page:
    """One try: what is left out of this review, and what stands folded in it."""

    review: Review
    marker: str | None
    caps: Caps
    details: tuple[Detail, ...] = ()
    graphs: tuple[str, ...] = ()
    left_out: int = 0
    mermaid: int = 0


def render_comment(review: Review, *, limit: int, measure: Measure, mermaid: int = 2000) -> str:
    """The comment with its marker in the first line, at most `limit` by `measure`."""
    marker = review_marker(review)
    line = write_marker(marker)
    if measure(line) > limit // _MARKER_SHARE:
        line = write_marker(replace(marker, hashes={}))
    if measure(line) > limit // _MARKER_SHARE:
        line = write_marker(replace(marker, hashes={}, clusters=()))
    return _fit(review, line, limit=limit, measure=measure, mermaid=mermaid)


def render_summary(review: Review, *, limit: int, mermaid: int = 2000) -> str:
    """The same for a job summary, at most `limit` bytes, without a marker."""
    return _fit(review, None, limit=limit, measure=utf8_bytes, mermaid=mermaid)


def review_marker(review: Review) -> Marker:
    """The marker of this review's comment."""
    return Marker(
        kind="review",
        label=review.label,
        clusters=tuple(cluster.name for cluster in review.clusters),
        head=review.head_sha,
        run=review.run.id,
        attempt=review.run.attempt,
        hashes={cluster.name: cluster.plan.hash for cluster in review.clusters if cluster.plan and cluster.plan.hash},
    )


def _fit(review: Review, marker: str | None, *, limit: int, measure: Measure, mermaid: int) -> str:
    details = [detail for cluster in review.clusters for detail in list_details(cluster)]
    for caps in _LEVELS:
        shown = {cluster.name for cluster in caps.of_clusters(review)}
        wanted = [detail for detail in details if detail.cluster in shown]
        # The sentence on what is left out is counted from the start, so that it always fits.
        page = _Page(review=review, marker=marker, caps=caps, left_out=len(details), mermaid=mermaid)
        room = limit - measure(_text(page))
        if room >= 0:
            chosen = _choose(wanted, room, measure)
            return _with_graphs(
                replace(page, details=chosen, left_out=len(details) - len(chosen)), limit=limit, measure=measure
            )
    return _text(_Page(review=replace(review, clusters=(), risks=()), marker=marker, caps=_LEVELS[-1]))


def _choose(details: list[Detail], room: int, measure: Measure) -> tuple[Detail, ...]:
    """The details that fit, in reading order; each package's fold is paid for by its first detail."""
    chosen: set[int] = set()
    opened: set[tuple[str, str]] = set()
    order = sorted(range(len(details)), key=lambda index: (details[index].rank, measure(details[index].text), index))
    for index in order:
        detail = details[index]
        place = (detail.cluster, detail.package.id)
        price = measure(detail.text) + 2
        if place not in opened:
            price += measure(fold(detail.package, ())) + 2
        if price <= room:
            room -= price
            chosen.add(index)
            opened.add(place)
    return tuple(detail for index, detail in enumerate(details) if index in chosen)


def _with_graphs(page: _Page, *, limit: int, measure: Measure) -> str:
    text = _text(page)
    for cluster in page.caps.of_clusters(page.review):
        tried = replace(page, graphs=(*page.graphs, cluster.name))
        longer = _text(tried)
        if measure(longer) <= limit:
            page, text = tried, longer
    return text


def _text(page: _Page) -> str:
    review, caps = page.review, page.caps
    risks, more_risks = risk_lines(review, caps)
    shown = caps.of_clusters(review)
    return render(
        "comment",
        marker=page.marker,
        verdict=verdict(review),
        several=len(review.clusters) > 1,
        risks=risks,
        more_risks=more_risks,
        rows=[row for cluster in shown for row in rows(cluster)],
        more_clusters=len(review.clusters) - len(shown),
        findings=[block for cluster in shown for block in finding_blocks(cluster, caps)],
        clusters=[_cluster(page, cluster) for cluster in shown if cluster.plan is not None],
        left_out=_left_out(page),
        footer=footer(review),
    )


def _cluster(page: _Page, cluster: ClusterReview) -> dict[str, object]:
    own = [detail for detail in page.details if detail.cluster == cluster.name]
    packages = {detail.package.id: detail.package for detail in own}
    texts: Callable[[str], tuple[str, ...]] = lambda package: tuple(  # noqa: E731
        detail.text for detail in own if detail.package.id == package
    )
    return {
        **cluster_parts(cluster, page.caps),
        "folds": [fold(package, texts(name)) for name, package in packages.items()],
        "graph": find_graph(cluster, page.mermaid) if cluster.name in page.graphs else None,
    }


def _left_out(page: _Page) -> Text | None:
    if not page.left_out:
        return None
    return Text(f"{count(page.left_out, 'change')} left out for want of room: the run's summary and report hold them.")
