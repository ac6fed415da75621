"""Which handler answers which event, for `kixbot run` and for a command that is named."""

from typing import Literal, assert_never

from kixbot.bot.event_values import Command, Event, Ignored, Manual, MergeGroup, Push, Review, Schedule
from kixbot.bot.handlers import deploy, pins, review
from kixbot.bot.job import Job
from kixbot.errors import ExitCode, UsageError
from kixbot.settings.model import PinSettings

What = Literal["run", "review", "deploy", "pins"]


def dispatch(job: Job, event: Event, what: What) -> ExitCode:
    """Do what fits the event, or the named part of it; anything else is said and is no failure."""
    match event:
        case Ignored(sentence=sentence):
            job.say(sentence)
            return ExitCode.DONE
        case Review() | MergeGroup():
            if what in {"run", "review"}:
                return review.handle(job, event)
        case Push(sha=sha, branch=branch, before=before) if what != "review":
            if _is_default(job, branch, event.default_branch):
                return _merged(job, sha=sha, branch=branch, before=before, what=what)
            return ExitCode.DONE
        case Schedule() if what != "review":
            return _scheduled(job, event, what)
        case Manual(sha=sha, branch=branch) if what != "review":
            if _is_default(job, branch, event.default_branch):
                return _started(job, sha=sha, branch=branch, what=what)
            return ExitCode.DONE
        case Command(words=words):
            job.say(f"{' '.join(words[:2])}: ignored, this version answers no commands in comments")
            return ExitCode.DONE
        case Push() | Schedule() | Manual():
            pass
        case _:
            assert_never(event)
    job.say(f"{type(event).__name__.lower()}: ignored, kixbot {what} does nothing on this event")
    return ExitCode.DONE


def _merged(job: Job, *, sha: str, branch: str, before: str | None, what: What) -> ExitCode:
    """A push to the default branch: deploy, then pins where they are set to follow merges."""
    code = ExitCode.DONE
    if what in {"run", "deploy"}:
        code = deploy.handle(job, sha=sha, branch=branch, trigger="merge", before=before)
    if what == "pins" or (what == "run" and _follows(job, sha, "merge")):
        return max(code, _pins(job, head=sha, branch=branch, deploys=what == "run", is_sound=code is ExitCode.DONE))
    return code


def _scheduled(job: Job, event: Schedule, what: What) -> ExitCode:
    """The clock: clusters that had to wait, then pins."""
    branch = event.default_branch or job.forge.get_default_branch()
    if event.branch is not None and event.branch != branch:
        job.say(f"schedule on {event.branch}: ignored, only {branch} is deployed")
        return ExitCode.DONE
    # The branch may have moved since the clock struck; what a schedule does, it does to the newest commit.
    sha = job.forge.find_branch(branch)
    if sha is None:
        raise UsageError(f"{branch}: the default branch has no commit yet", hint="push one")
    code = ExitCode.DONE
    if what in {"run", "deploy"}:
        code = deploy.handle(job, sha=sha, branch=branch, trigger="schedule")
    if what == "pins" or (what == "run" and _follows(job, sha, "schedule")):
        return max(code, _pins(job, head=sha, branch=branch, deploys=what == "run", is_sound=code is ExitCode.DONE))
    return code


def _started(job: Job, *, sha: str, branch: str, what: What) -> ExitCode:
    """A person started it: the named clusters, those with `deploy = "manual"` too; pins when named."""
    if what == "pins":
        return _pins(job, head=sha, branch=branch, deploys=False)
    return deploy.handle(job, sha=sha, branch=branch, trigger="manual")


def _pins(job: Job, *, head: str, branch: str, deploys: bool, is_sound: bool = True) -> ExitCode:
    """Pins; a direct commit is deployed by this same run, since a job's own token starts no other."""
    if not is_sound:
        job.say("pins: left as they are, since a deploy failed")
        return ExitCode.DONE
    now = job.forge.find_branch(branch)
    if now is not None and now != head:
        job.say(f"pins: {branch} has moved on to {now[:12]}; its own run looks at the pins")
        return ExitCode.DONE
    result = pins.handle(job, branch=branch, head=head)
    if result.commit is None or not deploys:
        return result.exit_code
    return max(result.exit_code, deploy.handle(job, sha=result.commit, branch=branch, trigger="merge"))


def _follows(job: Job, sha: str, what: Literal["merge", "schedule"]) -> bool:
    settings: PinSettings = job.builds.settings(sha).pins
    return what in settings.on


def _is_default(job: Job, branch: str, known: str | None) -> bool:
    default = known or job.forge.get_default_branch()
    if branch != default:
        job.say(f"push to {branch}: ignored, only {default} is deployed")
    return branch == default
