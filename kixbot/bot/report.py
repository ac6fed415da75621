"""A review put where people and programs read it: files, job summary, annotations, outputs, statuses, comment."""

import json

from kixbot.bot.job import Job
from kixbot.forges.values import StatusState
from kixbot.model.finding import Finding, Severity, State
from kixbot.output.budget import measure_of
from kixbot.output.comment import render_comment, render_summary, review_marker
from kixbot.output.comment_details import field_lines
from kixbot.output.markup import count
from kixbot.output.review_values import ClusterReview, Review
from kixbot.output.terminal import escape

COMMENT_FILE = "kix-comment.md"
RESULT_FILE = "kix-review.json"
DIFF_FILE = "kix-diff.txt"


def publish_review(job: Job, review: Review, number: int | None) -> None:
    """Everything that follows from a review. What needs no token comes first, so that a refusal loses nothing."""
    limits = job.forge.limits
    body = render_comment(review, limit=limits.comment, measure=measure_of(limits.unit), mermaid=limits.mermaid)
    _say(job, review)
    comment_file = job.outputs.write(COMMENT_FILE, body)
    _outputs(job, review)
    job.outputs.summary(lambda left: render_summary(review, limit=left, mermaid=limits.mermaid))
    for cluster in review.clusters:
        for finding in cluster.shown:
            _annotate(job, finding)
    _statuses(job, review)
    if number is None or job.settings.comment == "false":
        return
    only_update = job.settings.comment == "changes-only" and review.passed and not _changes(review)
    written = job.publisher.comment(number, body, review_marker(review), only_update=only_update)
    if written is not None:
        job.outputs.set("comment-url", written.url or "")
        job.say(f"comment {written.id} on pull request {number}; the same text: {comment_file}")


def _changes(review: Review) -> bool:
    return any(cluster.plan is None or cluster.plan.packages or cluster.plan.same_name_secrets
               for cluster in review.clusters)  # fmt: skip


def _say(job: Job, review: Review) -> None:
    for cluster in review.clusters:
        job.say(f"{cluster.name}: {'passes' if cluster.passed else 'does not pass'}: {_figures(cluster)}")
        for finding in cluster.shown:
            job.say(f"  {finding.severity.value} {finding.rule}: {finding.message}")


def _figures(cluster: ClusterReview) -> str:
    if not cluster.report.scorecard_ran:
        return "does not build"
    if cluster.report.eval_messages:
        return count(len(cluster.report.eval_messages), "problem")
    return f"{count(cluster.count(Severity.ERROR), 'error')}, {count(cluster.count(Severity.WARNING), 'warning')}"


def _annotate(job: Job, finding: Finding) -> None:
    if finding.state is State.UNCHANGED:
        return
    place = finding.location
    job.outputs.annotate(
        "error" if finding.severity is Severity.ERROR else "warning",
        f"{finding.message} ({finding.rule})",
        file=place.file if place else None,
        line=place.line if place else None,
    )


def _statuses(job: Job, review: Review) -> None:
    failing = [cluster for cluster in review.clusters if not cluster.passed]
    shown = failing or review.clusters
    words = "; ".join(f"{cluster.name}: {_figures(cluster)}" for cluster in shown)
    state = StatusState.FAILURE if failing else StatusState.SUCCESS
    job.publisher.status(review.head_sha, "check", state, words)
    unbuilt = [cluster.name for cluster in review.clusters if cluster.plan is None]
    state = StatusState.FAILURE if unbuilt else StatusState.SUCCESS
    words = "; ".join(f"{cluster.name}: {_diff_figures(cluster)}" for cluster in review.clusters)
    job.publisher.status(review.head_sha, "diff", state, words)
    for cluster in review.clusters:
        state = StatusState.SUCCESS if cluster.plan else StatusState.FAILURE
        job.publisher.status(review.head_sha, f"diff/{cluster.name}", state, _diff_figures(cluster))


def _diff_figures(cluster: ClusterReview) -> str:
    if cluster.plan is None:
        return "does not build"
    if not cluster.plan.packages:
        return "only Secret values change" if cluster.plan.same_name_secrets else "nothing changes"
    added, changed, removed = package_counts(cluster)
    return f"{changed} updated, {added} added, {removed} removed"


def package_counts(cluster: ClusterReview) -> tuple[int, int, int]:
    """Packages added, changed, removed."""
    actions = [package.action for package in cluster.plan.packages] if cluster.plan else []
    return actions.count("added"), actions.count("changed"), actions.count("removed")


def _outputs(job: Job, review: Review) -> None:
    counts = [package_counts(cluster) for cluster in review.clusters]
    added, changed, removed = (sum(column) for column in zip(*counts, strict=True))
    result = job.outputs.write(RESULT_FILE, json.dumps(_result(review), indent=2, sort_keys=True) + "\n")
    diff = job.outputs.write(
        DIFF_FILE, "".join(f"{escape(line)}\n" for cluster in review.clusters for line in _lines(cluster))
    )
    values = {
        "changes": str(_changes(review)).lower(),
        "to-add": added,
        "to-change": changed,
        "to-remove": removed,
        "clusters": ",".join(cluster.name for cluster in review.clusters),
        "check": "pass" if review.passed else "fail",
        "diff-path": diff,
        "json-path": result,
        "failure-reason": _reason(review),
    }
    for name, value in values.items():
        job.outputs.set(name, value)


def _reason(review: Review) -> str:
    """One word a next step can branch on; empty when the answer is yes."""
    reasons = [_reason_of(cluster) for cluster in review.clusters if not cluster.passed]
    return next((word for word in ("does-not-build", "findings", "shrinks") if word in reasons), "")


def _reason_of(cluster: ClusterReview) -> str:
    if cluster.plan is None:
        return "does-not-build"
    return "findings" if cluster.count(Severity.ERROR) or cluster.report.failing else "shrinks"


def _result(review: Review) -> dict[str, object]:
    """The result as data, without a word of Markdown: what a trusted job may publish for a fork."""
    return {
        "schema": 1,
        "label": review.label,
        "head": review.head_sha,
        "base": review.base_sha,
        "passed": review.passed,
        "clusters": [
            {
                "name": cluster.name,
                "passed": cluster.passed,
                "activation": cluster.report.activation,
                "errors": cluster.count(Severity.ERROR),
                "warnings": cluster.count(Severity.WARNING),
                "packages": dict(zip(("added", "changed", "removed"), package_counts(cluster), strict=True)),
                "hash": cluster.plan.hash if cluster.plan else None,
            }
            for cluster in review.clusters
        ],
    }


def _lines(cluster: ClusterReview) -> list[str]:
    """A cluster's diff as plain lines; no fence, no markup: for programs and for a reader of the file."""
    lines = [cluster.name]
    for package in cluster.plan.packages if cluster.plan else ():
        lines.append(f"  {package.action} {package.id}")
        for change in package.resources:
            lines.append(f"    {change.action} {change.ref.id}" + (" (via dependency)" * (change.reason != "content")))
            lines += [f"      {line}" for field in change.changes for line in field_lines(field)]
    return lines
