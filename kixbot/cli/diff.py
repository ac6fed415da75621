"""`kix diff`: what changes, grouped by package, between two builds or against the live cluster."""

import re
from contextlib import closing
from dataclasses import replace

import click

from kixbot.cli.session import Session
from kixbot.errors import ExitCode, SourceError, UsageError
from kixbot.model.build import Build
from kixbot.model.plan import Plan
from kixbot.ops.build import BuildRequest, build
from kixbot.ops.diff import diff_builds
from kixbot.ops.snapshot import Snapshot, decode, diff_snapshot, is_snapshot

_GIT = "git:"
_STDIN = "-"
_ACTIVATION = re.compile(r"[a-z0-9][a-z0-9.-]*-[0-9a-z]{12}")
_SNAPSHOT_BYTES = 256 * 2**20
_EPILOG = """\b
Examples:
  kix diff shop                          against the live cluster
  kix diff shop --from git:main          what this working tree changes
  kix diff shop --from git:v1 --to git:v2
  kix diff manifests/ --from old.yaml    two sets of plain manifests
  kix diff shop --from git:main -o markdown
  kix diff shop --from before.json       against a snapshot
  kix diff shop --from shop-6w9czkc51502 against an earlier activation

With --exit-code it ends with 1 when anything changes."""


@click.command(epilog=_EPILOG)
@click.argument("targets", nargs=-1, metavar="[CLUSTER or PATH…]")
@click.option(
    "--from",
    "old",
    metavar="FILE, NAME or git:REF",
    help="What was before: manifests, a snapshot, an activation, a ref.",
)
@click.option("--to", "new", metavar="FILE or git:REF", help="What is after, instead of the working tree.")
@click.option(
    "-o",
    "--output",
    "form",
    type=click.Choice(["text", "markdown", "json"]),
    default="text",
    show_default=True,
    help="The format.",
)
@click.option("--exit-code", is_flag=True, help="Exit 1 when there are changes.")
@click.pass_obj
def command(
    session: Session, /, *, targets: tuple[str, ...], old: str | None, new: str | None, form: str, exit_code: bool
) -> int:
    """Show what changes, grouped by package.

    Without --from the old side is the live cluster; the cluster is read, never written.
    """
    if old is None:
        if new is not None:
            raise UsageError("--to needs --from", hint="kix diff --from git:main --to git:HEAD")
        plan = _live(session, targets)
    else:
        plan = _between(session, targets, old, new)
    session.console.result(_text(plan, form))
    return int(ExitCode.NO if exit_code and plan.packages else ExitCode.DONE)


def _between(session: Session, targets: tuple[str, ...], old: str, new: str | None) -> Plan:
    """The plan from one side to the other; the old one may be a snapshot or an activation of the cluster."""
    request = BuildRequest(directory=session.directory, targets=targets, config=session.config)
    taken = _find_snapshot(session, old)
    if taken is not None:
        return diff_snapshot(taken, _side(request, new, "--to"))
    if _ACTIVATION.fullmatch(old) and not (session.directory / old).exists():
        from kixbot.cli.recorded import activation_commit  # noqa: PLC0415  it asks the cluster

        return diff_builds(
            build(replace(request, ref=activation_commit(session, targets, old))).build, _side(request, new, "--to")
        )
    return diff_builds(_side(request, old, "--from"), _side(request, new, "--to"))


def _find_snapshot(session: Session, named: str) -> Snapshot | None:
    file = session.directory / named
    if named == _STDIN or not file.is_file():
        return None
    text = file.read_bytes()[:_SNAPSHOT_BYTES].decode("utf-8", "replace")
    return decode(text, file=named) if is_snapshot(text) else None


def _side(request: BuildRequest, named: str | None, option: str) -> Build:
    """One side of the diff: the target at a ref, manifests of their own, or the target as it stands."""
    if named is None:
        return build(request).build
    ref = named.removeprefix(_GIT)
    if ref != named:
        if not ref:
            raise UsageError(f"{option} git: names no ref", hint=f"{option} git:main")
        side = replace(request, ref=ref)
    elif named == _STDIN or (request.directory / named).exists():
        side = replace(request, targets=(named,))
    else:
        raise UsageError(f"{option} {named}: no such file", hint=f"a branch, tag or commit is {option} git:{named}")
    try:
        return build(side).build
    except SourceError as error:
        message = f"{option} {named}: {error.message}"
        raise SourceError(message, hint=error.hint, file=error.file, line=error.line) from error


def _live(session: Session, targets: tuple[str, ...]) -> Plan:
    """The plan against the live cluster. The cluster's client is imported here alone."""
    from kixbot.cli.recorded import with_applied_values  # noqa: PLC0415
    from kixbot.cli.target import checked_build, open_target  # noqa: PLC0415
    from kixbot.ops.plan import live_plan  # noqa: PLC0415

    if len(targets) > 1 or any("/" in one or one.startswith(("-", ".")) for one in targets):
        raise UsageError("a path has no live cluster", hint="add --from FILE or --from git:REF, or name a cluster")
    target, built = checked_build(session, targets[0] if targets else None)
    with closing(open_target(session, target)) as edge:
        found = live_plan(
            built,
            edge,
            record_namespace=target.settings.record_namespace,
            allow_plain_secrets=target.settings.allow_plain_secrets,
        )
    return replace(found.plan, drift=with_applied_values(session, target.name, found.seen, known=(built,)))


def _text(plan: Plan, form: str) -> str:
    """The plan in one of its forms; what renders it is imported for that form only."""
    if form == "json":
        from kixbot.output import plan_json  # noqa: PLC0415

        return plan_json.text(plan)
    if form == "markdown":
        from kixbot.output import plan_markdown  # noqa: PLC0415

        return plan_markdown.markdown(plan)
    from kixbot.output import plan_text  # noqa: PLC0415

    return plan_text.text(plan)
