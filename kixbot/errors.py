"""Every error people can meet, each with its exit code and, where there is one, a hint.

Messages name the object, then the fact, then the cause. Raised low with the fact, caught once in `cli/main` and
`bot/main`. An error never carries a secret value. The exit codes are the product's: 0 done, 1 the answer is no,
2 usage or settings, 3 the source does not build, 4 the outside world, 70 our bug, 130 interrupted.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """What a process of kix or kixbot ends with; one meaning each."""

    DONE = 0
    NO = 1
    USAGE = 2
    SOURCE = 3
    OUTSIDE = 4
    BUG = 70
    INTERRUPTED = 130


class KixError(Exception):
    """Base of all expected errors: a message (object, fact, cause) and a hint (what to type or change)."""

    exit_code: ExitCode = ExitCode.BUG

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class RefusedError(KixError):
    """The answer is no: a refusal of kix itself (hold, another current activation, not confirmed)."""

    exit_code = ExitCode.NO


class DeployFailedError(KixError):
    """A deploy that ended failed or degraded."""

    exit_code = ExitCode.NO


class UsageError(KixError):
    """A command line or an input that cannot be used."""

    exit_code = ExitCode.USAGE


class SettingsError(KixError):
    """kix.toml or the environment holds a value that cannot be used."""

    exit_code = ExitCode.USAGE


class SourceError(KixError):
    """The source does not build: definition, manifest, pins file or tree. `file` and `line` say where, if known."""

    exit_code = ExitCode.SOURCE

    def __init__(
        self, message: str, *, hint: str | None = None, file: str | None = None, line: int | None = None
    ) -> None:
        super().__init__(message, hint=hint)
        self.file = file
        self.line = line


class OutsideError(KixError):
    """The outside world is missing, unreachable or refuses: cluster, registry, forge, nix, git."""

    exit_code = ExitCode.OUTSIDE


class NixError(OutsideError):
    """Nix is missing, was killed, or ran out of time or memory."""


class GitError(OutsideError):
    """git is missing or an object it needs is not there."""


class ClusterError(OutsideError):
    """A cluster that cannot be reached or refuses."""


class RegistryError(OutsideError):
    """An image registry that cannot be reached or refuses."""


class ForgeError(OutsideError):
    """A forge (GitHub, GitLab, local folder) that cannot be reached or refuses."""
