"""`kix completion SHELL`: the script a shell sources."""

import click
from click.shell_completion import get_completion_class

from kixbot.cli.session import Session
from kixbot.errors import ExitCode, UsageError

_EPILOG = """\b
Examples:
  kix completion bash > ~/.local/share/bash-completion/completions/kix
  kix completion fish > ~/.config/fish/completions/kix.fish"""


@click.command(epilog=_EPILOG)
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def command(ctx: click.Context, shell: str) -> int:
    """Print the completion script for SHELL."""
    session = ctx.find_object(Session)
    completion = get_completion_class(shell)
    if session is None or completion is None:
        raise UsageError(f"{shell}: no completion for this shell", hint="bash, zsh or fish")
    session.console.result(completion(ctx.find_root().command, {}, "kix", "_KIX_COMPLETE").source())
    return int(ExitCode.DONE)
