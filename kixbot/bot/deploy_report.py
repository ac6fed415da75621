"""What became of a deploy, told: on the merged pull requests that change the cluster, in the summary, as outputs."""

from kixbot.bot.job import Job
from kixbot.output.budget import utf8_bytes
from kixbot.output.deploy_comment import render_outcome
from kixbot.output.deploy_values import Outcome
from kixbot.output.marker import Marker
from kixbot.output.markup import count

_SENTENCE = 64
"""Bytes kept for the sentence on what is left out."""


def publish_outcome(job: Job, outcome: Outcome) -> None:
    """A result comment on every merged pull request that changes this cluster."""
    label = f"{job.settings.label}/{outcome.cluster}" if job.settings.label else outcome.cluster
    marker = Marker(
        kind="deploy",
        label=label,
        clusters=(outcome.cluster,),
        head=outcome.commit,
        run=job.run.id,
        attempt=job.run.attempt,
    )
    if job.settings.comment == "false":
        return
    body = render_outcome(outcome, run=job.run, limits=job.forge.limits, marker=marker)
    for number in outcome.pull_requests:
        job.publisher.result_comment(number, body, marker)


def publish_summary(job: Job, outcomes: list[Outcome]) -> None:
    """The job summary and the outputs."""
    texts = [render_outcome(outcome, run=job.run, limits=job.forge.limits, marker=None) for outcome in outcomes]
    job.outputs.summary(lambda left: _whole(texts, left))
    failed = [outcome for outcome in outcomes if outcome.is_failure]
    job.outputs.set("clusters", ",".join(outcome.cluster for outcome in outcomes))
    job.outputs.set("changes", str(any(outcome.state == "deployed" for outcome in outcomes)).lower())
    job.outputs.set("activation", ",".join(outcome.activation for outcome in outcomes if outcome.activation))
    job.outputs.set("failure-reason", f"deploy-{failed[0].state}" if failed else "")


def _whole(texts: list[str], left: int) -> str:
    """As many whole texts as fit into `left` bytes, and a sentence on the rest."""
    kept: list[str] = []
    room = left - _SENTENCE
    for text in texts:
        room -= utf8_bytes(text) + 1
        if room < 0:
            break
        kept.append(text)
    missing = len(texts) - len(kept)
    return "\n".join([*kept, f"{count(missing, 'more cluster')}: see the log."] if missing else kept)
