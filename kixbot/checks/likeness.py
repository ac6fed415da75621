"""Which name was meant: names compared by difflib, within bounds that a hostile build cannot pass."""

from collections.abc import Iterable
from difflib import SequenceMatcher

ALIKE = 0.6
"""How alike two names must be for one to be a likely slip of the other."""
_LONGEST = 253  # characters of a DNS subdomain; longer values are not compared
# One comparison takes some 10 µs, one look some 2. A build with more dangling names than these allow has one cause,
# which the first findings show with their near misses.
_BUDGET = 100_000
_LOOKS = 500_000


class Likeness:
    """Compares names; when the budget is spent, nothing is like anything any more."""

    def __init__(self, budget: int = _BUDGET) -> None:
        self._left = budget
        self._looks = _LOOKS

    def may_look(self) -> bool:
        """Whether one more candidate may be looked at; each call counts one."""
        self._looks -= 1
        return self._looks >= 0

    def is_alike(self, one: str, other: str) -> bool:
        """Whether one name is likely a slip of the other."""
        return self._ratio(one, other) >= ALIKE

    def nearest(self, name: str, names: Iterable[str]) -> str | None:
        """The name most like `name`, the first in order where several are; None where none is like it."""
        best, found = ALIKE, None
        for other in sorted(set(names)):
            ratio = self._ratio(name, other)
            if ratio > best or (ratio == best and found is None):
                best, found = ratio, other
        return found

    def _ratio(self, one: str, other: str) -> float:
        if one == other:
            return 1.0
        if self._left <= 0 or max(len(one), len(other)) > _LONGEST:
            return 0.0
        self._left -= 1
        matcher = SequenceMatcher(None, one, other)
        if matcher.real_quick_ratio() < ALIKE or matcher.quick_ratio() < ALIKE:
            return 0.0
        return matcher.ratio()


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """As `Likeness.nearest`, for one question."""
    return Likeness().nearest(name, names)
