"""What a check found, and the scorecard it adds up to."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

from kixbot.model.resource import Location, Ref


class Severity(Enum):
    """ERROR always fails; WARNING fails where asked; INFO never fails."""

    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


class Confidence(Enum):
    """Only PROVEN findings are errors by default."""

    PROVEN = "proven"
    LIKELY = "likely"
    HINT = "hint"


class State(Enum):
    """Against a baseline: NEW, UNCHANGED, FIXED (in the baseline only)."""

    NEW = "new"
    UNCHANGED = "unchanged"
    FIXED = "fixed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Related:
    """Another resource or place that a finding speaks of."""

    ref: Ref | None
    note: str
    location: Location | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing a check says. `message` may have several lines; the first is the sentence."""

    rule: str
    severity: Severity
    message: str
    confidence: Confidence = Confidence.PROVEN
    ref: Ref | None = None
    package: str | None = None
    path: str = ""
    hint: str | None = None
    location: Location | None = None
    related: tuple[Related, ...] = ()
    causes: tuple[str, ...] = ()
    fix: tuple[Mapping[str, object], ...] = ()
    state: State | None = None
    fingerprint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppressed:
    """A finding that `scorecard.ignore` silences, with the reason given there."""

    finding: Finding
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Of `total` pairs of a rule and an object that it applies to, how many keep it."""

    kept: int
    total: int

    @property
    def percent(self) -> int | None:
        """Rounded down, so that 100 means all; None where nothing applies."""
        return 100 * self.kept // self.total if self.total else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Scores:
    """Scores by category, and by package (its id) and category; `not_applicable` are rules that no object meets."""

    categories: Mapping[str, Score] = field(default_factory=dict)
    packages: Mapping[str, Mapping[str, Score]] = field(default_factory=dict)
    not_applicable: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The result of `kix check`: eval row and scorecard row, findings sorted and stable.

    `eval_messages` hold what failed eval (exit 3); `failing` are the rules whose warnings fail here;
    `scorecard_ran` is False when eval could not finish.
    """

    cluster: str | None
    activation: str | None
    manifests: int
    findings: tuple[Finding, ...] = ()
    eval_messages: tuple[Finding, ...] = ()
    suppressed: tuple[Suppressed, ...] = ()
    fixed: tuple[Finding, ...] = ()
    """Findings of the baseline that are gone; they count nowhere."""
    failing: tuple[str, ...] = ()
    scorecard_ran: bool = True
    followers: tuple[Finding, ...] = ()
    """Findings that vanish with another one, which their `causes` name; they count nowhere."""
    scores: Scores = field(default_factory=Scores)
