"""What a deploy by the bot came to, as values for its comment and its summary."""

from dataclasses import dataclass
from typing import Literal

from kixbot.errors import ExitCode
from kixbot.model.plan import Wave
from kixbot.model.receipt import Receipt

State = Literal["deployed", "unchanged", "failed", "refused", "waits", "superseded"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WaveResult:
    """A wave that was begun: how far it came."""

    number: int
    applied: int
    ready: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """One cluster in one run. `sentence` says it in a line; `lines` are a failure's report, `hint` what to do.

    `waves` are the plan's.

    `reviews` holds, by pull request number, one line on whether it was deployed as reviewed; `paths` where not.
    """

    cluster: str
    state: State
    sentence: str
    commit: str
    activation: str | None = None
    receipt: Receipt | None = None
    waves: tuple[Wave, ...] = ()
    results: tuple[WaveResult, ...] = ()
    lines: tuple[str, ...] = ()
    hint: str | None = None
    notes: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    pull_requests: tuple[int, ...] = ()
    failure: ExitCode = ExitCode.NO
    """What the process ends with when this is a failure: 4 where the outside world is to blame."""

    @property
    def is_failure(self) -> bool:
        """Whether the run's answer is no because of it."""
        return self.state in {"failed", "refused"}
