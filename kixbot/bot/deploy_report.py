"""What became of a deploy, told: on the merged pull requests that change the cluster, in the summary, as outputs."""

from kixbot.bot.job import Job
from kixbot.output.deploy_comment import render_outcome
from kixbot.output.deploy_values import Outcome
from kixbot.output.marker import Marker


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
    job.outputs.summary(lambda left: "\n".join(texts).encode()[: max(left - 1, 0)].decode(errors="ignore"))
    failed = [outcome for outcome in outcomes if outcome.is_failure]
    job.outputs.set("clusters", ",".join(outcome.cluster for outcome in outcomes))
    job.outputs.set("changes", str(any(outcome.state == "deployed" for outcome in outcomes)).lower())
    job.outputs.set("activation", ",".join(outcome.activation for outcome in outcomes if outcome.activation))
    job.outputs.set("failure-reason", f"deploy-{failed[0].state}" if failed else "")
