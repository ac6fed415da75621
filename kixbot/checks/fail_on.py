"""Which warnings fail: rule ids, whole groups, categories, or all warnings."""

from collections.abc import Iterable

from kixbot.checks.base import GROUPS, category_of
from kixbot.checks.likeness import nearest_name
from kixbot.errors import SettingsError

CATEGORIES = ("correctness", "security", "reliability", "governance")
ALL = "warning"


def fails(rule: str, patterns: Iterable[str]) -> bool:
    """Whether a warning of this rule fails: its id, `group/*`, its category or `warning` is named."""
    named = {rule, f"{rule.partition('/')[0]}/*", category_of(rule), ALL}
    return any(pattern in named for pattern in patterns)


def validate(patterns: Iterable[str], known: Iterable[str], *, where: str) -> None:
    """Refuse a name that means nothing, so that a slip does not pass for "nothing failed".

    `where` is the setting or option that holds it. Raises SettingsError with the nearest name as hint.
    """
    names = sorted({*known, *(f"{group}/*" for group in GROUPS), *CATEGORIES, ALL})
    for pattern in patterns:
        if pattern not in names:
            near = nearest_name(pattern, names)
            hint = f'did you mean "{near}"?' if near else "name a rule, a group such as sec/*, a category, or warning"
            raise SettingsError(f'{where}: no rule, group or category "{pattern}"', hint=hint)
