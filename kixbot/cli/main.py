"""`kix`: the table of commands and the error boundary. Wiring only.

A command's module is imported when it is invoked, since clients cost hundreds of milliseconds and `kix --help`,
`kix build` and `kix check` need none of them.
"""

import importlib
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import click

from kixbot import __version__
from kixbot.boundary import guard, invoke
from kixbot.cli.console import Console
from kixbot.cli.session import Session
from kixbot.errors import UsageError


class Row(NamedTuple):
    """One command: its name, the module in `kixbot.cli` that holds it, one line for the list."""

    name: str
    module: str
    summary: str


COMMANDS = (
    Row("build", "build", "Evaluate and check a cluster; print its activation and store path."),
    Row("check", "check", "Check a cluster, or plain manifests, as one closed world."),
    Row("explain", "explain", "Explain a rule: what it is, why, a bad and a good example."),
    Row("diff", "diff", "Show what changes, grouped by package."),
    Row("plan", "plan", "Show the diff and what a deploy would do, in waves."),
    Row("deploy", "deploy", "Deploy in dependency-ordered waves and leave a receipt."),
    Row("rollback", "rollback", "Go back to an earlier activation, and hold the cluster there."),
    Row("release", "release", "Take the hold off a cluster, so that deploys go on."),
    Row("drift", "drift", "Show what changed in the cluster outside kix."),
    Row("status", "status", "Show the current activation, its resources, its receipt."),
    Row("pin", "pin", "Keep image pins in pins.json: set, add, remove, list, check, update."),
    Row("crds", "crds", "Print or apply the custom resource definitions of kix."),
    Row("snapshot", "snapshot", "Write what stands in the cluster to a file, to compare builds with."),
    Row("gc", "gc", "Retire old records and delete what only they list."),
    Row("destroy", "destroy", "Take away all that kix deployed to a cluster."),
    Row("export", "export", "Write a cluster's manifests as plain YAML or JSON files."),
    Row("rbac", "rbac", "Print the exact roles that observing, planning or deploying needs."),
    Row("completion", "completion", "Print the shell completion script for bash, zsh or fish."),
)

_EPILOG = """\b
Examples:
  kix check manifests/          check plain YAML, no settings needed
  kix build shop                evaluate and check the cluster "shop"
  kix diff shop --from git:main what this branch changes
  kix deploy shop --yes         deploy in waves

Exit codes: 0 done, 1 the answer is no, 2 usage or settings, 3 the source does not build,
4 the outside world, 70 a bug of kix, 130 interrupted."""


class CommandTable(click.Group):
    """A group that reads the table and imports a command's module only when it is asked for."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002  click's signature
        """Names in the order of the table."""
        return [row.name for row in COMMANDS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        """The command of that name, imported now."""
        for row in COMMANDS:
            if row.name == cmd_name:
                command: click.Command = importlib.import_module(f"kixbot.cli.{row.module}").command
                return command
        return None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        """The list of commands, from the table, so that help imports nothing."""
        with formatter.section("Commands"):
            formatter.write_dl([(row.name, row.summary) for row in COMMANDS])


@click.group(cls=CommandTable, epilog=_EPILOG, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("-C", "directory", default=".", metavar="DIR", help="Work in this folder.")
@click.option("--config", metavar="FILE", help="Use this kix.toml.")
@click.option("--context", metavar="NAME", help="Use this kubeconfig context.")
@click.option("--quiet", is_flag=True, help="Print results and errors only.")
@click.option("--verbose", is_flag=True, help="Print what is done on the way.")
@click.version_option(__version__, prog_name="kix")
@click.pass_context
def kix(
    ctx: click.Context,
    *,
    directory: str,
    config: str | None,
    context: str | None,
    quiet: bool,
    verbose: bool,
) -> None:
    """Kix is a Kubernetes compiler: one definition, checked together, planned, deployed in waves."""
    folder = Path(directory)
    if not folder.is_dir():
        raise UsageError(f"{directory}: no such folder", hint="name an existing folder after -C")
    ctx.obj = Session(
        directory=folder,
        console=Console(quiet=quiet, verbose=verbose),
        config=Path(config) if config else None,
        context=context,
    )


def run(arguments: Sequence[str]) -> int:
    """Run one invocation and return its exit code."""
    return invoke(kix, arguments, name="kix")


def main() -> None:
    """The console script `kix`."""
    sys.exit(guard(lambda: run(sys.argv[1:]), Console().say_error))
