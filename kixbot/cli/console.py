"""Where text goes: results to stdout, everything else to stderr; colour and live lines only on a terminal."""

import os
import sys

import click

from kixbot.output.terminal import escape


class Console:
    """Writes for one process. `quiet` drops notes, `verbose` shows details."""

    def __init__(self, *, quiet: bool = False, verbose: bool = False) -> None:
        self.quiet = quiet
        self.verbose = verbose

    def result(self, text: str) -> None:
        """Write a result: the text as it is, with one newline at its end."""
        click.echo(text.rstrip("\n"), file=sys.stdout)

    def note(self, text: str) -> None:
        """Say what is going on; control characters are escaped."""
        if not self.quiet:
            click.echo(escape(text), file=sys.stderr)

    def detail(self, text: str) -> None:
        """Say what only `--verbose` shows."""
        if self.verbose:
            self.note(text)

    def warn(self, text: str) -> None:
        """Say what people must act on, also when quiet."""
        click.echo(f"warning: {escape(text)}", file=sys.stderr)

    def say_error(self, line: str) -> None:
        """A line of an error, already escaped; red on a terminal."""
        styled = click.style(line, fg="red") if self.has_colour and line.startswith("error:") else line
        click.echo(styled, file=sys.stderr)

    def confirm(self, question: str) -> bool:
        """Ask on the terminal; False at once where there is none."""
        if not self.is_interactive:
            return False
        return click.confirm(escape(question), default=False, err=True)

    def ask(self, question: str) -> str:
        """The answer typed on the terminal; "" at once where there is none."""
        if not self.is_interactive:
            return ""
        return str(click.prompt(escape(question), default="", show_default=False, err=True))

    @property
    def is_interactive(self) -> bool:
        """Can we ask a person?"""
        return sys.stdin.isatty() and sys.stderr.isatty()

    @property
    def has_colour(self) -> bool:
        """NO_COLOR (no-color.org) and a dumb terminal turn colour off."""
        return sys.stderr.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
