"""What a rule is: an id, what it says and why, an example of each kind, and the function that finds it.

A rule is one `Check` value in a file of its own (`checks/<group>_<name>.py`) and one line in `checks/registry.py`.
Its function takes the `Context` and yields a `Hit` per place; severity, category, location and fingerprint are added
once, by `checks/report.py`, so that no rule repeats them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from kixbot.checks.context import Context
from kixbot.model.finding import Confidence, Related, Severity
from kixbot.model.resource import Location, Resource

GROUPS = ("schema", "api", "ref", "sel", "sec", "rel", "gov")
"""First part of a rule id: would not parse, API server refuses, missing, selectors; the last three are categories."""

Category = Literal["correctness", "security", "reliability", "governance"]

_CATEGORIES: dict[str, Category] = {"sec": "security", "rel": "reliability", "gov": "governance"}


def category_of(rule: str) -> Category:
    """The category a rule id belongs to; what is neither security, reliability nor governance is correctness."""
    return _CATEGORIES.get(rule.partition("/")[0], "correctness")


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """One place where a rule applies. The first line of `message` is the sentence; `hint` says what to change.

    `severity` and `confidence` stand only where this place differs from its rule. `resource` is None for what
    belongs to no object (an external, a suppression); then `location` and `package` may say where it stands.
    """

    message: str
    hint: str
    resource: Resource | None = None
    path: str = ""
    related: tuple[Related, ...] = ()
    severity: Severity | None = None
    confidence: Confidence | None = None
    location: Location | None = None
    package: str | None = None
    cause: str = ""
    """What is missing, in the same words wherever one thing missing makes several hits; empty for a hit of its own."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Example:
    """Manifests (or a Nix fragment) where the rule stays silent, and the least change that makes it speak."""

    good: str
    bad: str
    language: Literal["yaml", "nix"] = "yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """A rule.

    `stage` tells what its hits are: findings of the scorecard; faults that fail evaluation (exit 3); or, judged when
    all others are done, remarks about suppressions.
    """

    id: str
    severity: Severity
    title: str
    rationale: str
    example: Example
    find: Callable[[Context], Iterator[Hit]]
    confidence: Confidence = Confidence.PROVEN
    stage: Literal["scorecard", "eval", "suppressions"] = "scorecard"
    on: tuple[str, ...] = ("pods",)
    """What a rule of the scorecard applies to: `pods` for whatever makes some, or kinds; nothing: it is not scored."""

    @property
    def category(self) -> Category:
        """Correctness, security, reliability or governance."""
        return category_of(self.id)
