"""`kixbot`: what a CI job runs. Wiring only: options → settings → job → handler, and one error boundary."""

import ctypes
import json
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, TypeVar

import click

from kixbot import __version__
from kixbot.boundary import guard, invoke
from kixbot.errors import ExitCode, KixError, UsageError

Function = TypeVar("Function", bound=Callable[..., Any])

_MAX_PAYLOAD = 32 * 1024 * 1024
_DUMPABLE = 4  # PR_SET_DUMPABLE of prctl(2)

_EPILOG = """\b
Examples:
  kixbot run                 do what fits the CI event
  kixbot review --label prod  review the pull request of this event
  kixbot demo                see the whole job on a sample repository, without a network

Inputs come from options, KIX_* variables and kix.toml, in this order.
Exit codes: 0 done, 1 the answer is no, 2 usage or settings, 3 the source does not build,
4 the outside world, 70 a bug of kix, 130 interrupted."""

_OPTIONS = (
    ("--clusters", "NAMES", "Only these clusters, separated by commas."),
    ("--path", "DIR", "The folder of kix.toml within the repository."),
    ("--label", "NAME", "Keeps several jobs on one commit apart: comment and statuses carry it."),
    ("--comment", "MODE", "true, changes-only or false."),
    ("--fail-on", "RULES", "Warnings that fail: rules, groups such as sec/*, or warning."),
    ("--baseline", "base|none", "Whether warnings that the base has too are excused."),
    ("--pins-mode", "MODE", "pull-request, commit or off."),
    ("--policy", "warn|stop", "What a deploy does that differs from what was reviewed."),
    ("--shrink-threshold", "PERCENT", "How much of a cluster one pull request may remove."),
    ("--kubeconfig", "FILE", "The kubeconfig to deploy with."),
    ("--output-dir", "DIR", "Where comment, result and diff are written as files."),
)


def _inputs(function: Function) -> Function:
    for flag, metavar, text in reversed(_OPTIONS):
        function = click.option(flag, metavar=metavar, help=text)(function)
    return click.option("--prune", is_flag=True, default=None, help="Delete what left the definition.")(function)


@click.group(epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="kixbot")
def kixbot() -> None:
    """Review pull requests, deploy merges, keep image pins: kix as a CI job."""


@kixbot.command()
@_inputs
def run(**arguments: Any) -> int:
    """Read the CI event and do what fits it."""
    return _run("run", arguments)


@kixbot.command()
@_inputs
def review(**arguments: Any) -> int:
    """Review the pull request of this event: check, diff, one comment, statuses."""
    return _run("review", arguments)


@kixbot.command()
@_inputs
def deploy(**arguments: Any) -> int:
    """Deploy the default branch's commit, cluster after cluster."""
    return _run("deploy", arguments)


@kixbot.command()
@_inputs
def pins(**arguments: Any) -> int:
    """Ask the registries which pins moved; commit them or propose them."""
    return _run("pins", arguments)


@kixbot.command()
@click.argument("folder", required=False, type=click.Path(path_type=Path))
def demo(folder: Path | None) -> int:
    """See the whole job on a sample repository: review, merge, deploy, pins. Needs no network and no cluster."""
    from kixbot.bot.demo import run_demo  # noqa: PLC0415

    return run_demo(folder, say=click.echo)


def _run(what: str, arguments: Mapping[str, Any]) -> int:
    """One run in this process' environment."""
    from kixbot.bot.outputs import Outputs  # noqa: PLC0415  `kixbot --help` needs none of this
    from kixbot.bot.settings import in_workspace, load  # noqa: PLC0415

    environment = dict(os.environ)
    settings = in_workspace(load(arguments, environment), environment)
    outputs = Outputs(environment, settings.output_dir)
    for token in (settings.github_token, settings.gitlab_token):
        if token is not None:
            outputs.mask(token.get_secret_value())
    command = settings.command if what == "run" else what
    return int(run_event(command, settings, environment, outputs))


def run_event(what: str, settings: Any, environment: Mapping[str, str], outputs: Any) -> ExitCode:
    """Read the event, open the job, hand it to its handler. An ignored event opens nothing."""
    from kixbot.bot.dispatch import dispatch  # noqa: PLC0415
    from kixbot.bot.event_values import Ignored  # noqa: PLC0415
    from kixbot.bot.events import read_event  # noqa: PLC0415
    from kixbot.bot.job import open_job  # noqa: PLC0415

    event = read_event(environment, read_payload(environment))
    if isinstance(event, Ignored):
        outputs.say(event.sentence)
        return ExitCode.DONE
    with TemporaryDirectory(prefix="kixbot-") as scratch:
        job = open_job(settings, environment, Path(scratch), outputs)
        try:
            return dispatch(job, event, what)  # type: ignore[arg-type]
        except KixError as error:
            outputs.annotate("error", error.message)
            outputs.set("failure-reason", "error")
            raise


def read_payload(environment: Mapping[str, str]) -> dict[str, Any]:
    """What the CI tells of its event. Raises UsageError for a file that is none, too large or no JSON object."""
    folder = environment.get("KIX_LOCAL_FORGE")
    if folder:
        return _local_payload(Path(folder), environment.get("KIX_LOCAL_EVENT", ""))
    path = environment.get("GITHUB_EVENT_PATH")
    if not path or not environment.get("GITHUB_EVENT_NAME"):
        return {}
    file = Path(path)
    hint = "the file GITHUB_EVENT_PATH names is written by the runner; leave it as it is"
    try:
        if not file.is_file() or file.stat().st_size > _MAX_PAYLOAD:
            raise UsageError(f"{path}: no event payload, or one over 32 MiB", hint=hint)
        payload = json.loads(file.read_bytes())
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{path}: the event payload is no JSON", hint=hint) from error
    if not isinstance(payload, dict):
        raise UsageError(f"{path}: the event payload is no JSON object", hint=hint)
    return payload


def _local_payload(folder: Path, event: str) -> dict[str, Any]:
    from kixbot.forges.local import LocalForge  # noqa: PLC0415

    forge = LocalForge(folder)
    name, _, argument = event.partition(":")
    if name == "pull-request" and argument.isdecimal():
        pull = forge.get_pull_request(int(argument))
        return {"head_sha": pull.head_sha, "base_ref": pull.base_ref, "from_fork": pull.from_fork}
    return {"branch": forge.get_default_branch()}


def _close_memory() -> None:
    """No other process of this user may read this one's memory or environment (prctl(2)); Linux alone has it."""
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_DUMPABLE, 0, 0, 0, 0)


def execute(arguments: Sequence[str]) -> int:
    """Run one invocation and return its exit code."""
    return invoke(kixbot, arguments, name="kixbot")


def main() -> None:
    """The console script `kixbot`."""
    _close_memory()
    sys.exit(guard(lambda: execute(sys.argv[1:]), _complain))


def _complain(line: str) -> None:
    """A line of an error. It may quote a pull request, and a CI reads commands out of what is printed here too."""
    from kixbot.bot.outputs import log_line  # noqa: PLC0415  `kixbot --help` needs none of this

    click.echo(log_line(line), err=True)
