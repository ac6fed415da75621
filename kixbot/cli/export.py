"""`kix export`: a build as plain YAML or JSON files."""

import json
from pathlib import Path
from typing import Any

import click

from kixbot.cli.session import Session
from kixbot.cli.target import checked_build
from kixbot.errors import ExitCode
from kixbot.model.build import Build
from kixbot.ops.export import ambiguous_kinds, compare, exported, file_of, resources_of, write
from kixbot.output.yaml_text import yaml_text

_EPILOG = """\b
Examples:
  kix export shop -o rendered/
  kix export shop -o rendered/ --check    exit 1 when the committed files are not what the build says

Equal builds give equal bytes. Files that kix export did not make are left alone."""


@click.command(epilog=_EPILOG)
@click.argument("cluster", required=False)
@click.option("-o", "--output", "folder", metavar="DIR", required=True, help="The folder to write into.")
@click.option("--format", "form", type=click.Choice(["yaml", "json"]), default="yaml", help="How to write them.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 when files differ.")
@click.pass_obj
def command(session: Session, cluster: str | None, *, folder: str, form: Any, check: bool) -> int:
    """Write the manifests of CLUSTER, a file each."""
    target, build = checked_build(session, cluster)
    wanted = exported(_texts(build, form, allow=target.settings.allow_plain_secrets))
    place = session.directory / folder
    if check:
        differences = compare(place, wanted)
        for one in differences:
            session.console.result(f"{one.path}: {one.what}")
        return int(ExitCode.NO if differences else ExitCode.DONE)
    done = write(Path(place), wanted)
    session.console.note(f"{len(wanted) - 1} manifests in {folder}, {len(done)} files changed")
    return int(ExitCode.DONE)


def _texts(build: Build, form: Any, *, allow: bool) -> dict[str, str]:
    twice = ambiguous_kinds(build)
    return {
        file_of(ref, form, ambiguous=ref.kind in twice): _text(dict(body), form)
        for ref, body in resources_of(build, allow_plain_secrets=allow)
    }


def _text(body: dict[str, Any], form: str) -> str:
    if form == "yaml":
        return yaml_text(body)
    return json.dumps(body, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
