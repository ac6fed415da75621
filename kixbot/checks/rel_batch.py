"""Rules about Jobs and CronJobs: what happens to those that are late, overlap, or are done."""

from collections.abc import Iterator

from kixbot.checks.base import Check, Example, Hit
from kixbot.checks.context import Context
from kixbot.checks.shape import at
from kixbot.model.finding import Severity


def _find_cron(context: Context) -> Iterator[Hit]:
    for cron in context.of_kind("CronJob", "batch"):
        spec = at(cron.manifest, "spec")
        lacking = [field for field in ("concurrencyPolicy", "startingDeadlineSeconds") if field not in spec]
        if lacking:
            yield Hit(
                resource=cron,
                path="$.spec",
                message=f"{cron.ref.plain} does not set {' and '.join(lacking)}",
                hint="set concurrencyPolicy: Forbid or Replace where runs may not overlap, and how late one may start",
            )


def _find_done(context: Context) -> Iterator[Hit]:
    for job in context.of_kind("Job", "batch"):
        if "ttlSecondsAfterFinished" not in at(job.manifest, "spec"):
            yield Hit(
                resource=job,
                path="$.spec.ttlSecondsAfterFinished",
                message=f"{job.ref.plain} is kept when it is done, and so are its pods",
                hint="set ttlSecondsAfterFinished",
            )


_TEMPLATE = '{spec: {restartPolicy: Never, containers: [{name: report, image: "ghcr.io/acme/report:1.0"}]}}'
_CRON = """\
apiVersion: batch/v1
kind: CronJob
metadata: {name: report, namespace: shop}
spec:
  schedule: "0 3 * * *"
%s  jobTemplate: {spec: {template: TEMPLATE}}
""".replace("TEMPLATE", _TEMPLATE)
_JOB = """\
apiVersion: batch/v1
kind: Job
metadata: {name: report, namespace: shop}
spec:
%s  template: TEMPLATE
""".replace("TEMPLATE", _TEMPLATE)

CHECKS: tuple[Check, ...] = (
    Check(
        id="rel/cron-job",
        severity=Severity.INFO,
        title="a CronJob leaves open what happens to late and overlapping runs",
        rationale=(
            "By default runs overlap, however long one takes. Without a deadline a controller that missed more than "
            "100 runs starts none any more."
        ),
        example=Example(good=_CRON % "  concurrencyPolicy: Forbid\n  startingDeadlineSeconds: 600\n", bad=_CRON % ""),
        find=_find_cron,
        on=("CronJob",),
    ),
    Check(
        id="gov/finished-job",
        severity=Severity.INFO,
        title="a Job is kept when it is done",
        rationale="Finished Jobs and their pods stay until somebody removes them; each is listed, watched and stored.",
        example=Example(good=_JOB % "  ttlSecondsAfterFinished: 86400\n", bad=_JOB % ""),
        find=_find_done,
        on=("Job",),
    ),
)
