"""`kix check [CLUSTER or PATH…]`: the table, then the findings."""

from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import click

from kixbot.cli.session import Session
from kixbot.errors import SourceError, UsageError
from kixbot.model.finding import Finding, Report
from kixbot.ops import baseline as baselines, check as ops
from kixbot.ops.build import BuildRequest, build
from kixbot.output import (
    check_github,
    check_gitlab,
    check_json,
    check_junit,
    check_markdown,
    check_sarif,
    check_text,
)

_FORMATS = {
    "text": check_text.text,
    "json": check_json.text,
    "markdown": check_markdown.markdown,
    "sarif": check_sarif.text,
    "junit": check_junit.text,
    "gitlab": check_gitlab.text,
    "github": check_github.text,
}
_LARGEST = 32 * 2**20  # bytes of a baseline file

_EPILOG = """\b
Examples:
  kix check                           the only cluster there is
  kix check shop                      the cluster "shop"
  kix check manifests/ more.yaml      plain YAML or JSON, as one closed world
  helm template shop ./chart | kix check -
  kix check shop --fail-on sec/* --fail-on gov/image-no-tag
  kix check shop --baseline main      what is new against the branch main
  kix check shop --also 1.37          and what an upgrade to Kubernetes 1.37 changes
  kix check shop --score              and how many of the rules each package keeps
  kix check shop -o json > old.json   and later: kix check shop --baseline old.json
  kix check shop -o sarif > kix.sarif for code scanning; likewise junit, gitlab (Code Quality)
  kix check shop -o github            annotations beside the lines of a change

Errors end it with 1, and so do the warnings that --fail-on or scorecard.fail name; what does not
build ends it with 3."""


@click.command(epilog=_EPILOG)
@click.argument("targets", nargs=-1, metavar="[CLUSTER or PATH…]")
@click.option(
    "-o", "--output", type=click.Choice(list(_FORMATS)), default="text", show_default=True, help="The format."
)
@click.option(
    "--fail-on", multiple=True, metavar="NAME", help="Let warnings fail: a rule, group/*, a category, or warning."
)
@click.option("--baseline", metavar="REF or FILE", help="Compare with a git ref, or with a file of -o json.")
@click.option("--kubernetes-version", "version", metavar="V", help="Judge for this version, such as 1.36.")
@click.option("--also", multiple=True, metavar="W", help="Say what changes with this later version.")
@click.option("--score", is_flag=True, help="End the text with the scores of each package.")
@click.pass_obj
def command(
    session: Session,
    *,
    targets: tuple[str, ...],
    output: str,
    fail_on: tuple[str, ...],
    baseline: str | None,
    version: str | None,
    also: tuple[str, ...],
    score: bool,
) -> int:
    """Check a cluster, or plain manifests, as one closed world."""
    request = BuildRequest(directory=session.directory, targets=targets, config=session.config)
    asked = _Asked(tuple(name for names in fail_on for name in names.split(",")), baseline, version, also)
    report = _report(request, asked)
    session.console.result(_FORMATS[output](report))
    if score and output == "text" and report.scorecard_ran:
        session.console.result(check_text.scores(report.scores))
    return int(ops.exit_code(report))


class _Asked(NamedTuple):
    fail_on: tuple[str, ...]
    baseline: str | None
    version: str | None
    also: tuple[str, ...]


def _report(request: BuildRequest, asked: _Asked) -> Report:
    older = _baseline(request, asked.baseline) if asked.baseline is not None else None
    try:
        built = build(request)
    except SourceError as error:
        return ops.unbuilt(error, cluster=_cluster_of(request))
    return ops.check(
        built.build,
        fail_on=asked.fail_on,
        baseline=older,
        pins=built.pins,
        version=asked.version,
        also=asked.also,
    )


def _cluster_of(request: BuildRequest) -> str | None:
    """The cluster that the request names; None for paths and for the only cluster there is."""
    match request.targets:
        case (name,) if name != "-" and not (request.directory / name).exists():
            return name
        case _:
            return None


def _baseline(request: BuildRequest, named: str) -> dict[str, Finding]:
    """The findings at a ref, or those that a file holds; a file that exists goes before a ref of that name."""
    file = request.directory / named
    if not file.is_file():
        try:
            built = build(replace(request, ref=named))
        except SourceError as error:
            message = f"baseline {named}: {error.message}"
            raise SourceError(message, hint=error.hint, file=error.file, line=error.line) from error
        return ops.findings_of(built.build, pins=built.pins)
    with file.open("rb") as opened:
        data = opened.read(_LARGEST + 1)
    if len(data) > _LARGEST:
        raise UsageError(f"{named}: larger than {_LARGEST >> 20} MiB")
    return baselines.decode(data.decode("utf-8", errors="replace"), file=Path(named).name)
