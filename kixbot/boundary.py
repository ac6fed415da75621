"""The one error boundary of both faces: every exception ends as an exit code and a few clear lines.

Expected errors print `error:` and `hint:`; anything else is our bug: one line and the path of a log with versions
and traceback. A traceback never reaches the terminal, since it could carry values of the cluster.
"""

import os
import sys
import tempfile
import traceback
from collections.abc import Callable, Sequence

import click

from kixbot import __version__
from kixbot.errors import ExitCode, KixError, SourceError, UsageError
from kixbot.output.terminal import escape, escape_block


def guard(run: Callable[[], int], say: Callable[[str], None]) -> int:
    """Run `run` and return the exit code; `say` gets the lines people read (they go to stderr)."""
    try:
        return run()
    except KixError as error:
        for line in describe(error):
            say(line)
        return int(error.exit_code)
    except KeyboardInterrupt:
        say("interrupted")
        return int(ExitCode.INTERRUPTED)
    except BrokenPipeError:
        # The reader of our output left (`kix … | head`): nothing is wrong, and the interpreter must not flush again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.DONE)
    except Exception as error:  # noqa: BLE001  the boundary is the place for it
        path = _write_log(error)
        say(f"error: kix met a bug of its own: {type(error).__name__}")
        say(f"  hint: please report it with the log {path}")
        return int(ExitCode.BUG)


def invoke(command: click.Command, arguments: Sequence[str], *, name: str) -> int:
    """Run one command line of the face called `name`; gives its exit code. click's own errors become UsageError.

    Without a command the help goes to stderr, as it is: it is our own text, of several lines.
    """
    try:
        result = command.main(list(arguments), prog_name=name, standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return int(ExitCode.USAGE)
    except click.ClickException as error:
        context = getattr(error, "ctx", None)
        hint = f"{context.command_path} --help" if context else f"{name} --help"
        # click lists choices over several lines, with tabs.
        raise UsageError(" ".join(error.format_message().split()), hint=hint) from error
    except click.Abort as error:
        raise KeyboardInterrupt from error
    return result if isinstance(result, int) else int(ExitCode.DONE)


def describe(error: KixError) -> list[str]:
    """The lines of an expected error: message, place, hint. Control characters are escaped."""
    lines = f"error: {escape_block(error.message)}".split("\n")
    if isinstance(error, SourceError) and error.file:
        place = error.file if error.line is None else f"{error.file}:{error.line}"
        lines.append(f"    --> {escape(place)}")
    if error.hint:
        lines.append(f"  hint: {escape(error.hint)}")
    return lines


def _write_log(error: Exception) -> str:
    # Frames only, no values: a message of a foreign library can hold a secret.
    frames = "".join(traceback.format_tb(error.__traceback__))
    handle, path = tempfile.mkstemp(prefix="kix-bug-", suffix=".log")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(f"kix {__version__}, python {sys.version}, {sys.platform}\n{type(error).__qualname__}\n{frames}")
    return path
